"""Calls of torch on tensors of their own, a module for each of `families`. These alone know torch's functions."""
