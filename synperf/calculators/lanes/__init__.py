"""Which bytes the lanes of a warp access, and what memory makes of that: sectors, lines, banks."""
