"""Engines are files; each says how it schedules, what memory it takes and which batches it has graphs for."""

import pytest

from synperf import FieldError
from synperf.serving.engine import engine, engines


@pytest.mark.parametrize("name", engines())
def test_every_file_is_an_engine(name: str) -> None:
    found = engine(name)
    assert found.serves
    assert 0 < found.utilization < 1
    assert list(found.graphs) == sorted(set(found.graphs))


def test_graphs_of_vllm_step_by_eight_then_by_sixteen() -> None:
    graphs = engine("vllm").graphs
    assert graphs[:5] == (1, 2, 4, 8, 16)
    assert (graphs[-1], graphs[-2]) == (512, 496)
    assert (248 in graphs, 264 in graphs) == (True, False)


def test_one_that_only_runs_kernels_serves_nobody() -> None:
    assert not engine("flashinfer").serves


def test_an_unknown_one_is_named() -> None:
    with pytest.raises(FieldError, match=r"engine: .*'vlm'.*vllm"):
        engine("vlm")
