"""Answers of `synperf/calculators/` as text, JSON and drawings, one file each."""
