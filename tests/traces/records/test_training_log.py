"""Logs of Megatron-LM, DeepSpeed and torchtitan."""

import pytest

from synperf.errors import FileFormatError
from synperf.traces.records.training_log import read
from tests.traces.records.samples import DEEPSPEED, MEGATRON, TITAN
from tests.traces.shared_files import real, reference


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


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (DEEPSPEED, "RunningAvgSamplesPerSec", "RunningAvg"),
        (MEGATRON, "iteration        2/", "iterat!on        2/"),
        (TITAN, "step: 20", "st*p: 20"),
    ],
)
def test_an_iteration_with_one_wrong_letter_is_told(tmp_path, text, old, new):
    assert any("iterations cannot be read" in one.text for one in written(tmp_path, text.replace(old, new, 1)).cautions)


def test_a_log_with_holes_is_read_and_says_so(tmp_path):
    found = written(tmp_path, MEGATRON + "\0\0\0\n\xff\n")
    assert len(found.iterations) == len(written(tmp_path, MEGATRON).iterations)
    assert [one.count for one in found.cautions if "no text" in one.text] == [1]
