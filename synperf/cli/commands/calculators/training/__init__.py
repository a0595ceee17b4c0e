"""Steps over many GPUs, and what they send."""
