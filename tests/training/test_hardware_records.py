"""Calibration records: constants that were planted in made-up rows come out again."""

import subprocess
import sys
import tomllib
from dataclasses import replace

import numpy as np
import pytest

from synperf.estimators.analytical import slowest
from synperf.features import features
from synperf.hardware import Calibration
from synperf.hardware.records import parse_record
from synperf.kernels import gemm
from synperf.measurements import Rows
from synperf.training.hardware_fits import samples
from synperf.training.hardware_records import fit, intervals_toml, record_toml, write
from synperf.training.interval_fits import Residuals, ratios, residuals
from synperf.training.toml import render

from ..toys import TOY

LAUNCH_S = 2e-6


def rows(m, n, k, time_s=None, kernel="cublas", is_test=False):
    """GEMMs of the toy: times as given, else the slowest pipe and a launch floor of 2 us."""
    m, n, k = np.broadcast_arrays(*(np.atleast_1d(np.asarray(x, dtype=np.float64)) for x in (m, n, k)))
    label = {"gpu": "toy", "family": "gemm", "engine": "vllm", "version": "1", "kernel": kernel, "source": "f"}
    found = Rows(
        fields={"m": m, "n": n, "k": k, "batch": np.ones(len(m)), "dtype": np.full(len(m), "bf16", dtype=object)},
        time_s=np.zeros(len(m)),
        spread=np.zeros(len(m)),
        samples=np.ones(len(m), dtype=np.int64),
        is_test=np.full(len(m), is_test),
        kernel_source=np.full(len(m), "x", dtype=object),
        **{name: np.full(len(m), value, dtype=object) for name, value in label.items()},
    )
    f = features(gemm.FAMILY, found.call(), TOY)
    return replace(found, time_s=slowest(f, 0.0)[1] + LAUNCH_S if time_s is None else time_s(f))


TINY = rows(np.arange(1, 41), 64, 16)


def test_the_launch_floor_is_what_is_left_of_launches_with_next_to_no_work():
    floor = fit(TINY, TOY).floors["cublas.bf16"]
    assert (floor.value, floor.rows) == (pytest.approx(LAUNCH_S), 40)


def test_a_few_stragglers_do_not_move_the_launch_floor():
    slow = replace(TINY, time_s=TINY.time_s + np.where(np.arange(40) < 15, 50e-6, 0.0))
    assert fit(slow, TOY).floors["cublas.bf16"].value == pytest.approx(LAUNCH_S)


def test_launches_with_work_say_nothing_about_the_floor():
    assert fit(rows(np.full(40, 4096), 4096, 4096), TOY).floors == {}


def test_too_few_launches_have_no_floor():
    assert fit(TINY.take(slice(0, 19)), TOY).floors == {}


def test_each_kernel_has_a_floor_of_its_own():
    other = rows(np.arange(1, 41), 64, 16, lambda f: slowest(f, 0.0)[1] + 7e-6, kernel="plain")
    floors = fit(Rows.join([TINY, other]), TOY).floors
    assert {key: round(one.value, 9) for key, one in floors.items()} == {"cublas.bf16": 2e-6, "plain.bf16": 7e-6}


def test_test_rows_are_never_read():
    assert samples(rows(np.arange(1, 41), 64, 16, is_test=True), TOY) == {}


def test_the_clock_share_is_the_rate_of_large_products():
    large = rows(np.full(30, 8192), 8192, 8192, lambda f: f.flop / (0.8 * 1e13))
    assert fit(Rows.join([TINY, large]), TOY).clock_share.value == pytest.approx(0.8)


def test_the_dram_share_is_the_rate_of_long_streams_without_the_launch():
    long = rows(np.ones(30), 8192, 8192, lambda f: LAUNCH_S + f.compulsory_bytes / (0.9 * 1e12))
    assert fit(Rows.join([TINY, long]), TOY).dram_share.value == pytest.approx(0.9, abs=1e-3)


def test_streams_that_fit_in_l2_say_nothing_about_dram():
    short = rows(np.ones(30), 1024, 1024, lambda f: LAUNCH_S + f.compulsory_bytes / 9e12)
    assert fit(Rows.join([TINY, short]), TOY).dram_share is None


def test_a_record_is_read_back_as_it_was_fitted():
    record = fit(TINY, TOY)
    found = residuals(TINY, TOY, record.calibration())
    read = parse_record(record_toml("toy", record, found), "toy.toml")
    assert read.launch_floor_s == {"cublas.bf16": pytest.approx(LAUNCH_S)}
    assert (read.clock_share, read.l2_share) == (None, None)
    assert {"how", "source", "rows", "date", "command", "error", "l2_share", "cublas.bf16"} <= set(read.provenance)


def test_rows_that_are_the_estimate_have_ratios_of_one():
    found = residuals(TINY, TOY, Calibration(launch_floor_s={"cublas.bf16": LAUNCH_S}))
    exact = {"p10": 1.0, "p90": 1.0}
    assert ratios(found) == {"launch": exact, "work": exact}  # 40 rows: both parts have the ratios of all


def test_ratios_are_quantiles_by_what_is_longer_launch_or_work():
    time_s = np.ones(4000)
    measured_s = np.concatenate([np.linspace(1, 2, 2000), np.linspace(2, 4, 2000)])
    limiter = np.repeat(["launch", "dram"], 2000)
    found = ratios(Residuals(measured_s=measured_s, time_s=time_s, limiter=limiter))
    assert found["launch"] == {"p10": pytest.approx(1.1), "p90": pytest.approx(1.9)}
    assert found["work"] == {"p10": pytest.approx(2.2), "p90": pytest.approx(3.8)}
    assert set(found) == {"launch", "work"}


def test_the_intervals_file_has_ratios_and_where_they_come_from():
    found = residuals(TINY, TOY, Calibration(launch_floor_s={"cublas.bf16": LAUNCH_S}))
    document = tomllib.loads(intervals_toml(found))
    assert document["ratios"]["work"] == {"p10": 1.0, "p90": 1.0}
    assert document["provenance"]["rows"] == "40 training rows of gemm"


def test_a_record_that_says_the_same_keeps_its_date(tmp_path):
    path = tmp_path / "toy.toml"
    first = render({"clock_share": 0.5, "provenance": {"date": "2025-01-01"}}, "toy")
    assert write(path, first)
    assert not write(path, first.replace("2025", "2026"))
    assert write(path, first.replace("0.5", "0.6").replace("2025", "2026"))
    assert tomllib.loads(path.read_text()) == {"clock_share": 0.6, "provenance": {"date": "2026-01-01"}}
    assert [file.name for file in tmp_path.iterdir()] == ["toy.toml"]


def test_tables_round_trip_through_toml():
    table = {"a": 1, "b": 2.5e-6, "text": 'a "quoted" \\ line', "t": {"x.y": 1.5, "inner": {"p": 0.1, "q": 2}}}
    assert tomllib.loads(render(table, "title")) == table


def test_the_command_needs_no_torch():
    code = "import sys, synperf.training.hardware_records; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
