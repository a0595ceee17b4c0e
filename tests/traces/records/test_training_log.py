"""Logs of Megatron-LM, DeepSpeed and torchtitan."""

import pytest

from synperf.errors import FileFormatError
from synperf.traces.records.training_log import read
from tests.traces.shared_files import real, reference

MEGATRON = """node1:   seq_length ...................................... 4096
 [2024-05-01 12:00:00] iteration        1/       3 | consumed samples:  256 | elapsed time per iteration (ms): 9000.0 | throughput per GPU (TFLOP/s/GPU): 200.0 | learning rate: 1.0E-4 | global batch size:   256 | lm loss: 1.0E+01 |
[Rank 0] (after 1 iterations) memory (MB) | allocated: 100.0 | max allocated: 2000.0 | reserved: 2500.0 | max reserved: 2500.0
 [2024-05-01 12:00:05] iteration        2/       3 | consumed samples:  512 | elapsed time per iteration (ms): 5120.0 | throughput per GPU (TFLOP/s/GPU): 410.5 | learning rate: 1.0E-4 | global batch size:   256 | lm loss: 1.0E+01 |
 [2024-05-01 12:00:10] iteration        3/       3 | consumed samples:  768 | elapsed time per iteration (ms): 5000.0 | throughput per GPU (TFLOP/s/GPU): 420.0 | learning rate: 1.0E-4 | global batch size:   256 | lm loss: 1.0E+01 |
"""
TITAN = """[rank0]:[titan] 2025-06-16 22:30:50,322 - root - INFO - \x1b[31mstep: 10 \x1b[32m loss:  6.1384 \x1b[33m grad_norm:  0.8 \x1b[34m memory: 49.50GiB(52.28%) \x1b[35m tps: 5,856 \x1b[36m tflops: 339.16 \x1b[37m mfu: 34.29%
[rank1]:[titan] 2025-06-16 22:30:50,322 - root - INFO - step: 10  loss:  6.1384  memory: 40.00GiB(42.28%)  tps: 5,000  tflops: 300.00  mfu: 30.00%
[rank0]:2024-04-22 - root - INFO - step: 20  loss:  6.0  memory: 50.00GiB(53.00%)  wps: 6,000  mfu: 35.00%
"""
DEEPSPEED = """[2023-11-29 08:55:00,932] [INFO] [timer.py:260:stop] epoch=0/micro_step=3/global_step=3, RunningAvgSamplesPerSec=291.6, CurrSamplesPerSec=300.5, MemAllocated=17.54GB, MaxMemAllocated=64.0GB
[2023-11-29 08:56:00,932] [INFO] [timer.py:181:stop] 0/40, RunningAvgSamplesPerSec=33.2, CurrSamplesPerSec=33.5, MemAllocated=4.34GB, MaxMemAllocated=14.3GB
"""


def written(tmp_path, text):
    (tmp_path / "a").write_text(text)
    return read(tmp_path / "a")


def test_megatron_says_time_rate_and_memory_and_tokens_follow(tmp_path):
    found = written(tmp_path, MEGATRON)
    assert (found.framework, found.planned, found.peak_memory_bytes) == ("Megatron", 3, 2000 * 2**20)
    second = found.iterations[1]
    assert (second.iteration, second.time_s, second.flop_per_s) == (2, 5.12, 410.5e12)
    assert second.tokens_per_s == pytest.approx(256 * 4096 / 5.12)
    assert (second.mfu, found.cautions) == (None, ())


def test_torchtitan_says_rates_of_one_gpu_and_the_first_rank_counts(tmp_path):
    first, second = written(tmp_path, TITAN).iterations
    assert (first.iteration, first.time_s, first.tokens_per_s, first.flop_per_s) == (10, None, 5856, 339.16e12)
    assert (first.mfu, first.memory_bytes) == (pytest.approx(0.3429), round(49.5 * 2**30))
    assert (second.iteration, second.tokens_per_s, second.flop_per_s, second.mfu) == (20, 6000, None, 0.35)
    assert written(tmp_path, TITAN).peak_memory_bytes == 50 * 2**30


def test_deepspeed_says_samples_and_memory_in_both_spellings(tmp_path):
    found = written(tmp_path, DEEPSPEED)
    assert [(one.iteration, one.samples_per_s) for one in found.iterations] == [(3, 300.5), (40, 33.5)]
    assert (found.framework, found.peak_memory_bytes) == ("DeepSpeed", 64 * 2**30)


def test_the_median_leaves_out_the_first_where_enough_others_are(tmp_path):
    assert written(tmp_path, MEGATRON).median("time_s") == 5.12
    more = MEGATRON + MEGATRON.splitlines()[-1].replace("3/", "4/") + "\n"
    assert written(tmp_path, more).median("time_s") == 5.0
    assert written(tmp_path, MEGATRON).median("mfu") is None


def test_an_iteration_without_a_time_is_counted_and_an_early_end_told(tmp_path):
    text = MEGATRON.replace("elapsed time per iteration (ms): 5000.0", "elapsed time per iteration (ms): ?")
    unread, ends = written(tmp_path, text).cautions
    assert (unread.text, unread.count, unread.share) == ("iterations cannot be read", 1, pytest.approx(1 / 3))
    assert ends.text == "the log ends at iteration 2 of 3"


def test_a_log_without_one_readable_iteration_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="no iteration of this training log"):
        written(tmp_path, " iteration 1/ 3 | elapsed time per iteration (ms): ? |\n")


def test_a_real_log_equals_its_text():
    wanted, found = reference("megatron_deepspeed.log")["iterations"], read(real("logs/megatron_deepspeed.log"))
    assert [one.iteration for one in found.iterations] == [row["iteration"] for row in wanted]
    for one, row in zip(found.iterations, wanted, strict=True):
        assert one.time_s == pytest.approx(row["ms"] / 1e3)
        assert (one.samples_per_s, one.flop_per_s) == (row["samples_per_s"], pytest.approx(row["tflops"] * 1e12))
        assert one.tokens_per_s == pytest.approx(row["samples_per_s"] * 2048, rel=1e-3)
    assert found.peak_memory_bytes == pytest.approx(68581.81 * 2**20, rel=1e-6)
    assert found.cautions == ()
