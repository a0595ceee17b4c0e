"""One module per command, with a function of the same name; the module's docstring is the help text."""
