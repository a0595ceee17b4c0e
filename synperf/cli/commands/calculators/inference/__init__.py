"""Memory, batches and formats of models that answer."""
