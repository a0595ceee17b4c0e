"""Errors of what requests see of whole models, on measured serving points."""
