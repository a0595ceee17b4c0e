"""The networks of baselines, which need torch, and what makes recipes of them, which does not."""
