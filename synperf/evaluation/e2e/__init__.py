"""Errors of estimates of whole models: on measured static batches."""
