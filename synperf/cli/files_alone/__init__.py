"""Commands that are given files and no option: one is here if it is called so often that no parser is to be imported."""
