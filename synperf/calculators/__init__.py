"""Questions that formulas answer, one file each."""
