"""Results shown: one module per kind of result, each with its text and its JSON, and drawings as SVG."""
