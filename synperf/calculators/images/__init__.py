"""Batches of images in memory, and which layout serves what runs on them."""
