"""What is surely there of an effect on the width of intervals."""

SURE = 2.0  # standard errors


def sure(effect: float, error: float) -> float:
    """The effect, or 0 where it is below 0 or may be chance."""
    return effect if effect > SURE * error else 0.0
