"""A model, a plan and a load: iterations of an engine, their times, and what requests see of them."""
