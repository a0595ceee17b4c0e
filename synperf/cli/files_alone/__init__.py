"""Commands that are given files and no option: those that are called so often that no parser is to be imported."""
