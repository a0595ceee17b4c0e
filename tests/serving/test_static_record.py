"""The factors of static batches that ship."""

import pytest

from synperf import hardware
from synperf.serving.factors import Factors
from synperf.serving.static_record import fitted, of_gpu, record


def test_a_measured_gpu_has_factors_of_its_own_and_says_so() -> None:
    found = fitted(hardware.gpu("h20"))
    assert found.said == f"of static batches, {record().gpus['h20'].loads} of them on this GPU"
    assert found.factors.decode_kernels == pytest.approx(
        record().factors["decode_kernels"] * record().gpus["h20"].decode
    )


def test_another_gpu_has_those_of_all_and_wider_intervals() -> None:
    found, known = fitted(hardware.gpu("b200_sxm")), record().known
    assert found.factors == Factors(**record().factors)
    assert found.said == "of static batches on other GPUs"
    assert found.spreads.total.low <= known.total.low < 1 < known.total.high <= found.spreads.total.high


def test_a_gpu_has_factors_on_all_but_messages_and_first_tokens() -> None:
    found = of_gpu(Factors(decode_host_s=1.0, first_flush=2.0), prefill=2.0, decode=3.0)
    assert (found.prefill_kernels, found.decode_attention, found.decode_host_s) == (2.0, 3.0, 3.0)
    assert (found.collectives, found.first_flush) == (1.0, 2.0)


def test_the_record_says_where_it_comes_from_and_how_far_it_is_off() -> None:
    said = record().provenance
    assert said["command"] == "python -m synperf.training.static_records"
    assert {"source", "rows", "date", "how", "configuration-out", "gpu-out"} <= set(said)
