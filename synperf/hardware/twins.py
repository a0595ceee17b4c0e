"""GPUs that are one chip with another memory or host: what one says of the other is no test of a new GPU."""

TWINS = (("h100_sxm", "h200_sxm", "h800"), ("b200_sxm", "gb200"), ("b300_sxm", "gb300"))
