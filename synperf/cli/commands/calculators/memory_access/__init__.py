"""What lanes move."""
