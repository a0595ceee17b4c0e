"""Measured rows -> what ships: calibration records and weights."""
