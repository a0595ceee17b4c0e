"""Times kernels where it runs, with torch: a plan of calls that fits some minutes -> measured rows in a file."""
