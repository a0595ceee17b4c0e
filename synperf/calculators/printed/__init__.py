"""Exact numbers for claims in print, each computed by the calculator or the engine that answers such a question."""
