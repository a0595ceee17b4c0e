"""Measured rows -> the networks of the learned estimator."""
