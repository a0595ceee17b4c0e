"""Operators, their operands and their layouts."""
