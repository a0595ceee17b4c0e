"""Calculators: one question each, answered from formulas that other rooms hold."""
