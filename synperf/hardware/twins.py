"""Which GPUs are alike: twins say nothing of a new GPU, and kin run the same kernels."""

from __future__ import annotations

# One chip with another memory or host.
TWINS = (("h100_sxm", "h200_sxm", "h800"), ("b200_sxm", "gb200"), ("b300_sxm", "gb300"))


def kin(compute_capability: str) -> str:
    """What GPUs that run the same tensor-core kernels share: the major version since 9, the whole one before.

    8.0, 8.6 and 8.9 are three architectures with tiles, clocks and memories of their own.
    """
    major = compute_capability.partition(".")[0]
    return major if int(major) >= 9 else compute_capability
