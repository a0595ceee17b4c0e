"""Which GPUs are alike: twins say nothing of a new GPU, and kin run the same kernels."""

from __future__ import annotations

from .capability import major_minor

# One chip with another memory or host.
TWINS = (("h100_sxm", "h200_sxm", "h800"), ("b200_sxm", "gb200"), ("b300_sxm", "gb300"))


def twins_of(key: str) -> tuple[str, ...]:
    """A GPU and its twins."""
    return next((group for group in TWINS if key in group), (key,))


def kin(compute_capability: str) -> str:
    """What GPUs that run the same tensor-core kernels share: the major version since 9, the whole one before.

    8.0, 8.6 and 8.9 are three architectures with tiles, clocks and memories of their own, and so is each target of
    another maker.
    """
    major, _ = major_minor(compute_capability)
    return str(major) if major >= 9 else compute_capability
