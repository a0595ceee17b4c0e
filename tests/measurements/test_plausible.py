"""Times that cannot be in their unit are noticed; slow but possible ones are not."""

import pytest

from synperf import hardware
from synperf.errors import FileFormatError
from synperf.features import floor
from synperf.hardware import DType
from synperf.measurements import read_file

H100 = hardware.gpu("h100_sxm")
LARGE_FLOOR_S = floor(H100, DType.BF16, 2.0 * 4096**3, 6.0 * 4096**2)


def put(tmp_path, column, *rows):
    (tmp_path / "mine.csv").write_text(f"m,n,k,{column}\n" + "".join(f"{s},{s},{s},{t}\n" for s, t in rows))
    return tmp_path / "mine.csv"


def read(tmp_path, column, *rows):
    return read_file(put(tmp_path, column, *rows), gpu="h100_sxm")


def refused(tmp_path, column, *rows):
    with pytest.raises(FileFormatError) as error:
        read(tmp_path, column, *rows)
    return str(error.value)


@pytest.mark.parametrize(
    ("size", "time_us"),
    [
        (16, 1.2),  # a launch inside a CUDA graph
        (16, 300),  # an eager launch on a slow host
        (4096, 170),
        (4096, 20_000),  # a naive kernel: 7 TFLOP/s
        (4096, LARGE_FLOOR_S * 1.01e6),
        (16384, 8_900),
    ],
)
def test_fast_and_slow_kernels_are_taken(tmp_path, size, time_us):
    assert len(read(tmp_path, "time_us", (size, time_us))) == 1


@pytest.mark.parametrize(
    ("column", "value", "unit"),
    [
        ("time_ms", 170e-6, "s"),  # seconds
        ("time_ms", 170, "us"),
        ("time_ms", 170e3, "ns"),
        ("time_us", 170e-6, "s"),
        ("time_us", 0.170, "ms"),
        ("time_s", 0.170, "ms"),
        ("time_s", 170, "us"),
        ("time_ns", 170, "us"),
        ("time_ns", 0.170, "ms"),
    ],
)
def test_a_slip_of_the_unit_is_refused_with_the_unit_that_makes_sense(tmp_path, column, value, unit):
    message = refused(tmp_path, column, (4096, value))
    assert message.startswith(f"mine.csv: {column}: a typical row, m=4096 n=4096 k=4096 batch=1 dtype=bf16, would take")
    assert message.endswith(f"; taken as {column[5:]}, right would be {unit}; name the column so")


@pytest.mark.parametrize(("column", "value", "unit"), [("time_us", 0.005, "ms"), ("time_ms", 5, "us")])
def test_a_slip_shows_in_small_products_too(tmp_path, column, value, unit):
    assert f"right would be {unit};" in refused(tmp_path, column, (16, value))


def test_the_whole_sentence(tmp_path):
    assert refused(tmp_path, "time_ms", (4096, 170e-6)) == (
        "mine.csv: time_ms: a typical row, m=4096 n=4096 k=4096 batch=1 dtype=bf16, would take 170 ns, "
        "but h100_sxm needs 128 µs at the least; taken as ms, right would be s; name the column so"
    )


def test_faster_than_physics_in_every_unit_is_another_gpu_or_format(tmp_path):
    message = refused(tmp_path, "time_us", (4096, LARGE_FLOOR_S * 0.6e6))
    assert message.endswith("no unit makes sense of these times, so the GPU or the dtype is another")


def test_a_few_odd_rows_are_the_users_own(tmp_path):
    rows = [(4096 + i, 170) for i in range(5)] + [(8192, 1), (2048, 500_000)]
    assert len(read(tmp_path, "time_us", *rows)) == 7


def test_every_gpu_is_looked_at_on_its_own(tmp_path):
    times = {"h200_sxm": 170, "t4": 0.003}
    lines = [f"{m},4096,4096,fp16,{gpu},{time}\n" for gpu, time in times.items() for m in range(4096, 4105)]
    (tmp_path / "mine.csv").write_text("m,n,k,dtype,gpu,time_us\n" + "".join(lines))
    with pytest.raises(FileFormatError, match="but t4 needs"):
        read_file(tmp_path / "mine.csv")
