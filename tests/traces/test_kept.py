"""Traces that a folder keeps: the same events, until the file is another one."""

import os
from dataclasses import fields

import numpy as np
import pytest

from synperf import analyze
from synperf.errors import FieldError
from synperf.traces import kept
from synperf.traces.events import SIDES
from synperf.traces.kept import read_kept

from ..cli.runner import assert_refused, invoke
from .kineto_files import call, kernel, write
from .shared_files import real

EVENTS = [call("cudaLaunchKernel", 0, 2, 1), kernel("gemm", 5, 10, correlation=1, grid=[1, 2, 3], block=[32, 1, 1])]


def assert_same(a, b):
    for name in ("source", "format", "rank", "world_size", "devices", "host", "groups", "cautions"):
        assert getattr(a, name) == getattr(b, name), name
    assert a.events.names == b.events.names
    for ours, theirs in ((a.events, b.events), *((getattr(a.events, s), getattr(b.events, s)) for s in SIDES)):
        for field in fields(ours):
            if "dtype" in field.metadata:
                left, right = getattr(ours, field.name), getattr(theirs, field.name)
                assert left.dtype == right.dtype
                np.testing.assert_array_equal(left, right)


def no_reading(*_, **__):
    raise AssertionError("it is read again")


@pytest.fixture
def trace(tmp_path):
    return write(tmp_path, EVENTS, "trace.json.gz")


@pytest.mark.parametrize(
    "name",
    ["qwen05b_h100_infer.json.gz", "resnet_ddp_mi300_rank0of8.json.gz", "jax08_conv_mi300.xplane.pb"],
)
def test_what_is_kept_is_what_was_read(tmp_path, monkeypatch, name):
    path = real(name)
    first = read_kept(path, tmp_path / "kept")
    monkeypatch.setattr(kept, "read_trace", no_reading)
    again = read_kept(path, tmp_path / "kept")
    for ours, theirs in zip(again, first, strict=True):
        assert_same(ours, theirs)


def test_the_answer_is_the_same_with_and_without(tmp_path, trace):
    answers = [analyze(trace, cache=cache) for cache in (None, tmp_path / "kept", tmp_path / "kept")]
    assert answers[0] == answers[1] == answers[2]
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_a_file_that_changed_is_read_again_and_replaces_the_old_one(tmp_path, trace):
    read_kept(trace, tmp_path / "kept")
    write(tmp_path, [*EVENTS, kernel("norm", 20, 1)], "trace.json.gz")
    assert len(read_kept(trace, tmp_path / "kept")[0].events) == 3
    os.utime(trace, ns=(0, 0))
    assert len(read_kept(trace, tmp_path / "kept")[0].events) == 3
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_another_version_reads_again(tmp_path, trace):
    read_kept(trace, tmp_path / "kept")
    told = kept._stamp(trace)
    assert kept._load(next((tmp_path / "kept").iterdir()), told) is not None
    newer = kept._Stamp(told.path, told.size, told.changed_ns, "another")
    assert kept._load(next((tmp_path / "kept").iterdir()), newer) is None


@pytest.mark.parametrize("share", [0, 0.001, 0.1, 0.5, 0.99])
def test_what_is_damaged_is_read_again(tmp_path, trace, share):
    first = read_kept(trace, tmp_path / "kept")[0]
    place = next((tmp_path / "kept").iterdir())
    data = place.read_bytes()
    end = int(len(data) * share)
    for damaged in (data[:end], data[:end] + bytes([data[end] ^ 1]) + data[end + 1 :]):
        place.write_bytes(damaged)
        assert_same(read_kept(trace, tmp_path / "kept")[0], first)
        assert place.read_bytes() == data


def test_what_cannot_be_read_leaves_nothing(tmp_path):
    seen = invoke("analyze", str(write(tmp_path, "junk")), "--cache", str(tmp_path / "kept"))
    assert_refused(seen)
    assert not (tmp_path / "kept").exists()


def test_a_file_that_is_no_folder_is_refused(tmp_path, trace):
    with pytest.raises(FieldError, match=r"^cache: '.*trace.json.gz' is no folder; right would be"):
        analyze(trace, cache=trace)
    assert_refused(invoke("analyze", str(trace), "--cache", str(tmp_path / "no" / "folder")))
