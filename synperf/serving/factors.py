"""What a stack of GPU, engine and version makes of predicted kernels: factors on them, and the host's times.

The time of an iteration is linear in these numbers, and so are the times to the first token and between tokens under
a schedule that does not depend on time, which is how they are fitted.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Factors:
    """Iterations with new prompt tokens (`prefill_*`) stand apart from those of decode alone (`decode_*`).

    `*_kernels` multiply all kernels but attention, `*_attention` attention, `collectives` messages. An iteration adds
    `*_host_s`, and `*_request_s` for each request in decode; one with prompts `prefill_token_s` for each new prompt
    token. A request sees its first token `first_constant_s`, `first_token_s` for each token of its prompt, and
    `first_flush` times the time between tokens later than its iteration ends.
    """

    decode_kernels: float = 1.0
    decode_attention: float = 1.0
    prefill_kernels: float = 1.0
    prefill_attention: float = 1.0
    collectives: float = 1.0
    decode_host_s: float = 0.0
    decode_request_s: float = 0.0
    prefill_host_s: float = 0.0
    prefill_request_s: float = 0.0
    prefill_token_s: float = 0.0
    first_constant_s: float = 0.0
    first_token_s: float = 0.0
    first_flush: float = 0.0

    def of_iterations(self) -> Floats:
        """The numbers that multiply columns of an iteration's cost (`ITERATION`), in that order."""
        return np.array([getattr(self, name) for name in ITERATION])


NAMES = tuple(one.name for one in fields(Factors))
ITERATION = NAMES[:10]
FIRST_TOKEN = NAMES[10:]
