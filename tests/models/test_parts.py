"""Parts of a pass depend on what is said of them, in every model of the catalog."""

import pytest

from synperf.models import Batch, Plan, Requests, calls, model, names
from synperf.models.parts import BY_LENGTHS, BY_SAMPLED

DECODERS = [name for name in names() if model(name).is_decoder]


def by_part(name: str, requests: Requests) -> dict[tuple[str, int], object]:
    return {(entry.part, at): entry.call for at, entry in enumerate(calls(model(name), Plan(), Batch((requests,))))}


@pytest.mark.parametrize("name", DECODERS)
def test_other_parts_see_new_tokens_alone(name: str) -> None:
    few, many = (by_part(name, Requests(count=64, kv_len=length)) for length in (100, 1000))
    differ = {part for (part, at), call in few.items() if many[part, at] != call}
    assert differ <= BY_LENGTHS


@pytest.mark.parametrize("name", DECODERS)
def test_parts_by_requests_that_draw_are_gone_where_none_does(name: str) -> None:
    drawing, none = (
        {part for part, _ in by_part(name, Requests(count=8, q_len=16, kv_len=16, samples=samples))}
        for samples in (True, False)
    )
    assert drawing - none == {"lm_head", "sampling"}
    assert {"lm_head", "sampling"} <= BY_SAMPLED
