"""What is described or printed, held against exact numbers."""
