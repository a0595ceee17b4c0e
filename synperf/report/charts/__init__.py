"""Drawings that know nothing of what they show: bars, lines, lanes in time, cells. SVG text from plain numbers."""
