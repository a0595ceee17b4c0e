"""Options that mean something beside certain others alone, or not beside them, as the module of a command says.

`GOES_WITH = {"layers layer_costs": ("split",)}`: `--split` needs one of the two before the colon.
`NOT_WITH = {"arrivals": ("busy",)}`: `--busy` is of no use where `--arrivals` is given.
Names are those of the function's parameters.
"""

from __future__ import annotations

from typing import Any

from ..errors import FieldError


def check(called: Any, context: Any, home: Any) -> None:
    """Checks the options that were given to a command, which would be ignored in silence otherwise.

    Raises:
        FieldError: one lacks another, or does not go with it.
    """
    shown = {one.name: one.opts[0].lstrip("-") for one in called.params}
    given = {name for name in shown if context.get_parameter_source(name).name == "COMMANDLINE"}
    for needed, names in getattr(home, "GOES_WITH", {}).items():
        others = needed.split()
        for name in given.intersection(names) if given.isdisjoint(others) else ():
            right = " or ".join(shown[other] for other in others)
            raise FieldError(f"{shown[name]} goes with {right}, which is not given; right would be both, or neither")
    for other, names in getattr(home, "NOT_WITH", {}).items():
        for name in given.intersection(names) if other in given else ():
            raise FieldError(f"{shown[name]} does not go with {shown[other]}; right would be one of them")
