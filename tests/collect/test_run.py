"""A collection on the CPU: its rows, and what becomes of it when it is interrupted, repeated, refused or broken."""

from dataclasses import replace

import msgspec
import polars as pl
import pytest

from synperf import kernels
from synperf.collect import run, table
from synperf.collect.journal import Row
from synperf.collect.run import collect, journal_of
from synperf.errors import FieldError, FileFormatError, PerfError
from synperf.tables.headings import check_spelling

from .small import quick, request

COPIES = ("copy", "rows=1,2,3", "dim=8")


@pytest.fixture
def cpu(monkeypatch):
    return quick(monkeypatch)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "rows.parquet"


def keys(path):
    return pl.read_parquet(path).select("family", "rows", "l2").sort("rows", "l2", descending=[False, True]).rows()


def at_unit(monkeypatch, number, error):
    """Raises the error when the unit of that number is timed."""
    measure, left = run.measure, iter(range(10**6))

    def failing(*arguments):
        if next(left) == number:
            raise error
        return measure(*arguments)

    monkeypatch.setattr(run, "measure", failing)


def test_every_call_is_a_row_for_each_state_and_says_where_it_comes_from(cpu, out):
    done = collect(out, request(*COPIES, "gemm", "m=2", "n=16", "k=16"), cpu)
    assert (done.rows, done.complete, done.failed) == (8, True, {})
    frame = pl.read_parquet(out)
    assert frame.select("family", "l2").rows().count(("gemm", "cold")) == 1
    assert (frame["q1_s"] <= frame["time_s"]).all()
    assert (frame["time_s"] <= frame["q3_s"]).all()
    assert frame["time_s"].min() > 0
    for name in ("engine", "version", "device_name", "timestamp", "host", "library", "timer", "repeats"):
        assert frame[name].null_count() == 0
    assert [str(frame[name].dtype) for name in ("gpu", "driver", "runtime", "power_w")] == [
        "String", "String", "String", "Float64",
    ]  # fmt: skip
    assert set(frame["gpu"]) == set(frame["power_w"]) == {None}
    assert [path.name for path in out.parent.iterdir()] == [out.name]


@pytest.mark.parametrize("name", sorted(kernels.families()))
def test_no_column_looks_like_a_field_of_a_family(name):
    kind = kernels.family(name)
    check_spelling([*Row.__struct_fields__, *kind.field_names()], kind)


def test_the_plan_and_the_seed_are_in_the_metadata(cpu, out):
    collect(out, request(*COPIES, seed=7), cpu)
    said = table.about(out)
    assert (said.plan.request.seed, len(said.plan.cases), said.plan.device) == (7, 3, cpu.name)


def test_the_same_command_again_times_nothing(cpu, out, monkeypatch):
    first = collect(out, request(*COPIES), cpu)
    written = out.read_bytes()
    at_unit(monkeypatch, 0, AssertionError())
    assert collect(out, request(*COPIES), cpu) == first
    assert collect(out, None, cpu) == first
    assert out.read_bytes() == written


@pytest.mark.parametrize("number", [0, 1, 4])
def test_an_interrupted_collection_goes_on_without_repeating_or_losing_a_row(cpu, out, monkeypatch, number):
    with monkeypatch.context() as patched:
        at_unit(patched, number, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            collect(out, request(*COPIES), cpu)
    assert out.exists() == (number > 0)
    early = pl.read_parquet(out) if number else None
    assert early is None or (early.height, table.about(out).complete) == (number, False)
    done = collect(out, None if number else request(*COPIES), cpu)
    assert (done.rows, done.complete) == (6, True)
    assert keys(out) == [("copy", n, l2) for n in (1, 2, 3) for l2 in ("warm", "cold")]
    if early is not None:
        same = pl.read_parquet(out).join(early.select("rows", "l2", "time_s"), on=["rows", "l2", "time_s"])
        assert same.height == number
    assert not journal_of(out).exists()


@pytest.mark.parametrize(
    ("changes", "words", "said"),
    [
        ({"minutes": 2.0}, COPIES, "minutes 2, not 1"),
        ({"seed": 1}, COPIES, "seed 1, not 0"),
        ({"l2": ("warm",)}, COPIES, "l2 warm, not warm,cold"),
        ({"dtypes": ("fp16",)}, COPIES, "dtypes fp16, not fp32"),
        ({}, ("copy", "rows=1,2", "dim=8"), "families copy rows=1,2 dim=8, not copy rows=1,2,3 dim=8"),
    ],
)
def test_another_plan_for_the_same_file_is_refused(cpu, out, changes, words, said, monkeypatch):
    for interrupted in (True, False):
        with monkeypatch.context() as patched:
            if interrupted:
                at_unit(patched, 1, KeyboardInterrupt())
                with pytest.raises(KeyboardInterrupt):
                    collect(out, request(*COPIES), cpu)
            else:
                collect(out, request(*COPIES), cpu)
        kept = {path.name: path.read_bytes() for path in out.parent.iterdir()}
        with pytest.raises(FieldError, match="has another plan") as error:
            collect(out, request(*words, **changes), cpu)
        assert said in str(error.value)
        assert {path.name: path.read_bytes() for path in out.parent.iterdir()} == kept


def test_another_device_is_refused(cpu, out):
    collect(out, request(*COPIES), cpu)
    with pytest.raises(FieldError, match=f"asked is device other, not {cpu.name}"):
        collect(out, request(*COPIES), replace(cpu, name="other"))


def test_a_file_of_anything_else_is_refused_and_stays(cpu, out):
    for text in (b"m,n,k\n1,2,3\n", b""):
        out.write_bytes(text)
        with pytest.raises(FileFormatError, match="is there and holds no collection; name another"):
            collect(out, request(*COPIES), cpu)
        assert out.read_bytes() == text


def test_a_part_whose_journal_is_gone_is_refused(cpu, out, monkeypatch):
    with monkeypatch.context() as patched:
        at_unit(patched, 1, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            collect(out, request(*COPIES), cpu)
    journal_of(out).unlink()
    with pytest.raises(FieldError, match="which has the rest, is gone; name another"):
        collect(out, request(*COPIES), cpu)


def test_a_call_that_torch_refuses_is_counted_and_not_tried_again(cpu, out, monkeypatch):
    with monkeypatch.context() as patched:
        at_unit(patched, 2, RuntimeError("not implemented for this\nat some place"))
        done = collect(out, request(*COPIES), cpu)
    assert (done.rows, done.complete) == (5, True)
    assert done.failed == {"copy: torch refuses it (not implemented for this)": 1}
    assert collect(out, request(*COPIES), cpu) == done


def test_a_device_that_breaks_down_is_one_sentence_and_what_was_measured_is_kept(cpu, out, monkeypatch):
    with monkeypatch.context() as patched:
        at_unit(patched, 2, RuntimeError("CUDA error: an illegal memory access was encountered\nmore"))
        with pytest.raises(PerfError, match="CUDA error: an illegal memory access was encountered; what was measured"):
            collect(out, request(*COPIES), cpu)
    assert collect(out, request(*COPIES), cpu).rows == 6


def test_nothing_to_go_on_with_is_one_sentence(cpu, out):
    with pytest.raises(FieldError, match=r"no rows.parquet.journal has a plan; right would be a family such as gemm"):
        collect(out, None, cpu)


def test_a_journal_goes_on_where_a_kill_cut_its_last_line(cpu, out, monkeypatch):
    with monkeypatch.context() as patched:
        at_unit(patched, 3, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            collect(out, request(*COPIES), cpu)
    path = journal_of(out)
    path.write_bytes(path.read_bytes()[:-20])
    assert collect(out, request(*COPIES), cpu).rows == 6
    assert len(set(keys(out))) == 6


def test_a_plan_is_read_back_as_it_was_written(cpu, out):
    collect(out, request("conv", "batch=1", "height=7", "width=7", "in_channels=32", "out_channels=32"), cpu)
    plan = table.about(out).plan
    assert msgspec.json.decode(msgspec.json.encode(plan), type=type(plan)) == plan
