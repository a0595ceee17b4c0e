"""`synperf compare`, as a user and as CI sees it."""

import json

import pytest

from ..analysis.test_compare import FAST, SLOW, steps
from ..traces.kineto_files import kernel, write
from .runner import assert_refused, invoke

TEXT = """\
slower: a step takes 708 µs in A and 1.01 ms in B, +42.4 %
rank sum test over 4 and 4 steps: p = 0.029, below 0.05

A  fast.json: 4 steps by ProfilerStep, 2 left out, spread 0.707 %; DataLoader 3 ms in 6 waits, 70.9 % of the trace
B  slow.json: 4 steps by ProfilerStep, 2 left out, spread 0.496 %; DataLoader 4.8 ms in 6 waits, 79.5 % of the trace

the difference: idle time in which the host waited for the DataLoader, 608 µs of a step in A and 909 µs in B

of a step              A       B    B - A
idle: dataloader  608 µs  909 µs  +301 µs
compute           100 µs  100 µs      0 s

kernels                                   A       B  B - A
unmatched: 1 only in A, 1 only in B  100 µs  100 µs    0 s

host, own time         A       B     B - A
DataLoader        500 µs  800 µs   +300 µs
ProfilerStep#N    200 µs  201 µs  +1.25 µs
aten::mm            3 µs    3 µs       0 s
cudaLaunchKernel    5 µs    5 µs       0 s

step                 A        B    B - A
ProfilerStep#4  710 µs  1.02 ms  +310 µs
ProfilerStep#2  705 µs  1.01 ms  +305 µs
ProfilerStep#3  700 µs     1 ms  +300 µs
ProfilerStep#5  715 µs  1.01 ms  +290 µs
"""


@pytest.fixture
def files(tmp_path):
    """A run and a slower one."""
    fast, slow = (
        write(tmp_path, steps(FAST, wait=500), "fast.json"),
        write(tmp_path, steps(SLOW, wait=800, family="fmha"), "slow.json"),
    )
    return str(fast), str(slow)


def test_the_text_has_the_verdict_first(files):
    seen = invoke("compare", *files)
    assert (seen.code, seen.err) == (0, "")
    assert seen.out == TEXT


def test_the_json_has_every_change(files):
    found = json.loads(invoke("compare", *files, "--json").out)
    assert (found["verdict"], found["main"]["name"]) == ("slower", "idle: dataloader")
    assert all(row["change_ns"] == row["b_ns"] - row["a_ns"] for row in found["operators"]["rows"])
    assert found["families"]["unmatched"]["only_b"] == 1


def test_a_slower_run_fails_above_the_limit_and_no_other(files):
    fast, slow = files
    assert invoke("compare", fast, slow, "--fail-above", "40%").code == 1
    assert invoke("compare", fast, slow, "--fail-above", "45 %").code == 0
    assert invoke("compare", slow, fast, "--fail-above", "0%").code == 0
    assert invoke("compare", fast, fast, "--fail-above", "0%").code == 0


def test_a_check_that_cannot_be_made_does_not_pass(tmp_path, files):
    few = str(write(tmp_path, steps([1000] * 3), "few.json"))
    assert_refused(invoke("compare", files[0], few, "--fail-above", "3%"))
    assert "so few steps cannot reach" in invoke("compare", files[0], few).out


@pytest.mark.parametrize("limit", ["3", "-3%", "three%", "", "nan%"])
def test_a_limit_is_a_percentage(files, limit):
    seen = invoke("compare", *files, f"--fail-above={limit}")
    assert_refused(seen)
    assert "such as 3%" in seen.err


def test_what_cannot_be_compared_is_refused(tmp_path, files):
    assert_refused(invoke("compare", files[0]))
    assert_refused(invoke("compare", files[0], str(tmp_path / "none.json")))
    assert_refused(invoke("compare", files[0], str(write(tmp_path, [kernel("sgemm", 0, 10)], "stepless.json"))))


def test_jobs_of_several_ranks_are_compared_by_their_folders(tmp_path):
    for name, times, ranks in (("before", FAST, 2), ("after", SLOW, 2), ("fewer", SLOW, 1)):
        (tmp_path / name).mkdir()
        for rank in range(ranks):
            write(tmp_path / name, steps(times, wait=500), f"rank{rank}.json", distributedInfo={"rank": rank})
    before, after, fewer = (str(tmp_path / name) for name in ("before", "after", "fewer"))
    found = json.loads(invoke("compare", before, after, "--json").out)
    assert (found["verdict"], found["a"]["files"], found["cautions"]) == ("slower", ["rank0.json", "rank1.json"], [])
    assert "A has 2 ranks and B has 1" in invoke("compare", before, fewer).out
    assert invoke("compare", before, after, "--fail-above", "3%").code == 1


def test_a_job_of_many_ranks_is_named_by_its_first_one(tmp_path):
    for rank in range(4):
        write(tmp_path, steps(FAST, wait=500), f"rank{rank}.json", distributedInfo={"rank": rank})
    assert "A  rank0.json and 3 more: 4 steps" in invoke("compare", str(tmp_path), str(tmp_path)).out
