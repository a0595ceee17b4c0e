"""Tiles of matrix products: what they move between memory and an SM, and what they take of it."""
