"""The networks of baselines, which need torch."""
