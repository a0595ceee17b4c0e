"""Factors of a stack, from measured serving points: a robust fit, from what is shared by many to one recipe."""
