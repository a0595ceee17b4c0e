"""What the figures that a serving benchmark prints say of one request and of all in flight, and whether they agree.

Source: J. D. C. Little, "A Proof for the Queuing Formula L = lambda W", Operations Research 9 (1961).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import FieldError
from .amounts import count, positive

_AGREEMENT = 0.03  # ratios of printed figures, which have two or three digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """Means over all requests; `tokens` are of answers.

    `mean_latency_s` follows from the times to the first token and between tokens, `mean_concurrency` from it and the
    rate of requests. `tokens_per_s` is the sum over all requests in flight, `tokens_per_s_per_user` what one of them
    sees after its first token. `consistent` says whether one is the other times the concurrency, the wait for first
    tokens aside, and what else was given agrees; `why` joins the figures, `findings` are those that do not agree.
    """

    mean_output_tokens: float
    mean_latency_s: float
    request_rate_per_s: float
    mean_concurrency: float
    tokens_per_s: float
    tokens_per_s_per_user: float
    input_tokens_per_s: float | None
    consistent: bool
    why: tuple[str, ...]
    findings: tuple[str, ...]


def throughput(
    *,
    requests: int,
    duration_s: float,
    output_tokens: int,
    mean_ttft_s: float,
    mean_tpot_s: float,
    input_tokens: int | None = None,
    tokens_per_s: float | None = None,
    max_concurrency: int | None = None,
) -> Throughput:
    """What the printed figures of one run come to; `tokens_per_s` and `max_concurrency` are checked where given.

    Raises:
        FieldError: a figure is not what it should be, or there are fewer tokens than requests.
    """
    answered, tokens = count("requests", requests), count("output_tokens", output_tokens)
    times = {"duration_s": duration_s, "mean_ttft_s": mean_ttft_s, "mean_tpot_s": mean_tpot_s}
    positive(**times)
    if tokens < answered:
        raise FieldError(f"output_tokens must be at least one for each of the {answered} requests, got {tokens}")
    each = tokens / answered
    latency = mean_ttft_s + (each - 1) * mean_tpot_s
    rate, of_all = answered / duration_s, tokens / duration_s
    in_flight = rate * latency
    findings = [*_checked(of_all, tokens_per_s, in_flight, max_concurrency, answered)]
    said = (f"{of_all:.4g} tokens/s are the sum over {in_flight:.3g} requests in flight; "
            f"one of them sees {1 / mean_tpot_s:.3g}")  # fmt: skip
    return Throughput(
        mean_output_tokens=each,
        mean_latency_s=latency,
        request_rate_per_s=rate,
        mean_concurrency=in_flight,
        tokens_per_s=of_all,
        tokens_per_s_per_user=1 / mean_tpot_s,
        input_tokens_per_s=None if input_tokens is None else count("input_tokens", input_tokens) / duration_s,
        consistent=not findings,
        why=(said,),
        findings=tuple(findings),
    )


def _checked(of_all: float, said: float | None, in_flight: float, most: int | None, requests: int) -> list[str]:
    found = []
    if said is not None:
        positive(tokens_per_s=said)
        if abs(said / of_all - 1) > _AGREEMENT:
            found.append(f"tokens_per_s: {said:.4g} was printed, but tokens over duration are {of_all:.4g}")
    limit = requests if most is None else min(requests, count("max_concurrency", most))
    if in_flight > limit * (1 + _AGREEMENT):
        found.append(f"mean_concurrency: {in_flight:.4g} requests in flight are more than the {limit} there can be: "
                     "the means or the duration are of another run")  # fmt: skip
    return found
