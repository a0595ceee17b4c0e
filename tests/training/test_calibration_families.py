"""Rows of other families than GEMM are calibrated alike; each variant of their calls has a correction of its own."""

from dataclasses import replace

import numpy as np
import pytest

from synperf import hardware
from synperf.estimators import calibrated, learned
from synperf.estimators.calibration_file import parse, render
from synperf.evaluation.corrections import record_rows
from synperf.kernels import family
from synperf.measurements import Rows
from synperf.training.calibrate import fit_calibration
from synperf.training.calibration_rows import estimates

from .calibration_rows import error

L40 = hardware.gpu("l40")  # nobody measured it


def made(name, labels, engine, kernel, gpu=L40, **numbers):
    """Rows of a family as long as the shipped weights say."""
    size = len(next(iter(numbers.values())))
    fields = {x: np.broadcast_to(np.asarray(v, dtype=float), size) for x, v in numbers.items()}
    fields |= {x: np.full(size, v, dtype=object) for x, v in labels.items()}
    texts = {"gpu": gpu.key, "family": name, "engine": engine, "version": "1", "kernel": kernel, "kernel_source": "x"}
    found = Rows(
        fields=fields, time_s=np.ones(size), spread=np.zeros(size), samples=np.ones(size, dtype=np.int64),
        is_test=np.zeros(size, dtype=bool), source=np.full(size, "rows.csv", dtype=object),
        **{x: np.full(size, v, dtype=object) for x, v in texts.items()},
    )  # fmt: skip
    return replace(found, time_s=estimates(found, gpu, learned.shipped(name))[0])


def attention(size, seed, gpu=L40, kernel="fa2"):
    """Half of them decode, half prefill."""
    draw = np.random.default_rng(seed)
    heads, kv = draw.choice([8, 16, 24, 32, 48, 64], size), draw.choice([256, 1024, 2048, 4096, 8192], size)
    q = np.where(np.arange(size) % 2, 1, kv)
    labels = {"dtype": "bf16", "kv_dtype": "bf16", "causal": True}
    return made(
        "attention", labels, "vllm", kernel, gpu, batch=draw.choice([1, 2, 4], size), q_len=q, kv_len=kv, heads=heads,
        kv_heads=np.full(size, 8), head_dim=np.full(size, 128), window=np.zeros(size),
    )  # fmt: skip


def fused_moe(size, seed):
    """Two distributions of loads."""
    draw = np.random.default_rng(seed)
    shape = np.array([(8, 2, 4096), (64, 6, 2048), (128, 8, 4096), (32, 4, 2880), (16, 2, 6144)])
    drawn = {loads: shape[draw.integers(0, 5, size // 2)] for loads in ("balanced", "power_law_1.2")}
    parts = [
        made(
            "fused_moe", {"dtype": "bf16", "gated": True, "distribution": loads}, "vllm", "triton_moe",
            tokens=draw.choice([1, 8, 64, 512, 4096], size // 2), hidden=one[:, 2], inter=np.full(size // 2, 1536),
            experts=one[:, 0], topk=one[:, 1], tp=np.full(size // 2, 1), ep=np.full(size // 2, 1),
        )
        for loads, one in drawn.items()
    ]  # fmt: skip
    return Rows.join(parts)


def slowed(rows):
    """1.5 times as long, prefill 1.2 times, and more for longer contexts or more tokens."""
    extent = rows.fields.get("kv_len", rows.fields.get("tokens"))
    is_prefill = rows.fields.get("q_len", np.zeros(len(rows))) > 1
    return replace(rows, time_s=rows.time_s * np.where(is_prefill, 1.2, 1.5) * (extent / 256) ** 0.05)


@pytest.mark.parametrize(
    ("draw", "keys"), [(attention, {"fa2.bf16.decode", "fa2.bf16.prefill"}), (fused_moe, {"triton_moe.bf16"})]
)
def test_a_planted_correction_is_found_for_each_variant(draw, keys):
    few, new = slowed(draw(120, 0)), slowed(draw(120, 1))
    weights = learned.shipped(str(few.family[0]))
    found = fit_calibration(few, L40)
    assert {key.partition(".")[2] for key in found.file.kernels} == keys
    assert error(estimates(new, L40, weights)[0], new.time_s) > 0.2
    assert error(found.predict(new), new.time_s) < 0.1
    assert parse(render(found.file), "x") == found.file


def test_a_call_of_a_calibrated_variant_says_so():
    found = fit_calibration(slowed(attention(120, 0)), L40).file
    kind = family("attention")
    call = kind.call_type(
        batch=2, q_len=1, kv_len=2048, heads=32, kv_heads=8, head_dim=128, engine="vllm", kernel="fa2"
    )
    one = calibrated.estimate(kind, call, L40, found)
    assert one.assumptions[-1].endswith("from 60 rows of fa2 bf16 decode in vllm")
    encoder = replace(call, q_len=2048, causal=False)
    assert calibrated.estimate(kind, encoder, L40, found).assumptions[-1].endswith("no row of fa2 bf16 encoder in vllm")


def test_rows_that_are_faster_than_dram_tell_no_rate_beyond_what_a_gpu_sustains():
    """K and V that stay in L2 are no reason to refuse rows, as GEMMs of another GPU are."""
    given = attention(120, 0)
    is_long = given.fields["kv_len"] >= 2048
    fast = replace(given, time_s=given.time_s / np.where(is_long, 2.2, 1.0))
    floor_s = estimates(fast, L40, learned.shipped("attention"))[1]
    found = fit_calibration(replace(fast, time_s=np.maximum(fast.time_s, 1.02 * floor_s)), L40)
    assert 0.2 <= (found.file.hardware.dram_share or 1.0) <= 1.25
    assert 0.2 <= (found.file.hardware.clock_share or 1.0) <= 1.25


def test_rows_without_weights_of_their_variant_are_told_apart_from_those_with():
    encoders = made(
        "attention", {"dtype": "fp8", "kv_dtype": "fp8", "causal": False}, "trtllm", "trtllm", batch=np.full(20, 2),
        q_len=np.full(20, 512), kv_len=np.full(20, 512), heads=np.arange(1, 21) * 4, kv_heads=np.arange(1, 21) * 4,
        head_dim=np.full(20, 128), window=np.zeros(20),
    )  # fmt: skip
    found = fit_calibration(Rows.join([slowed(attention(80, 0)), encoders]), L40).file
    assert found.kernels["trtllm.trtllm.fp8.encoder"].why.startswith("no weights, ")
    assert not found.kernels["vllm.fa2.bf16.decode"].why.startswith("no weights, ")


def test_the_rows_of_a_record_are_drawn_among_calls_that_differ_in_labels():
    part = fused_moe(80, 3)
    chosen = record_rows(part, L40, 42)
    assert len(set(chosen.tolist())) == 16
    assert set(part.take(chosen).fields["distribution"]) == {"balanced", "power_law_1.2"}
