"""Launch floors of kernels that were timed one launch at a time."""

from dataclasses import replace

import numpy as np
import pytest

from synperf import Softmax, hardware, predict
from synperf.hardware.launch import idle, launch_floor
from synperf.kernels import family
from synperf.measurements import Rows
from synperf.training.idle_launches import floors


def rows(gpu, time_s, sizes=(1, 1, 60_000)):
    """Softmaxes of so many rows of 4096 values in fp32 that take these times."""
    label = {"gpu": gpu, "family": "softmax", "engine": "torch", "version": "1", "kernel": "torch_fp32", "source": "f"}
    size = len(sizes)
    return Rows(
        fields={"rows": np.array(sizes), "dim": np.full(size, 4096), "dtype": np.full(size, "fp32", dtype=object)},
        time_s=np.array(time_s), spread=np.zeros(size), samples=np.ones(size, dtype=np.int64),
        is_test=np.zeros(size, dtype=bool), kernel_source=np.full(size, "x", dtype=object),
        **{name: np.full(size, value, dtype=object) for name, value in label.items()},
    )  # fmt: skip


def test_a_floor_is_the_middle_of_gpus_of_the_rows_with_little_work():
    measured = [rows("t4", (3e-5, 3.2e-5, 1)), rows("p4", (4e-5, 4e-5, 1)), rows("v100_pcie", (9e-5, 9e-5, 1))]
    assert dict(floors(Rows.join(measured))) == {"softmax.torch_fp32.fp32": pytest.approx(4e-5)}


def test_test_rows_do_not_move_it():
    measured = rows("t4", (3e-5, 9e-5, 1))
    held = replace(measured, is_test=np.array([False, True, False]))
    assert dict(floors(held)) == {"softmax.torch_fp32.fp32": pytest.approx(3e-5)}


@pytest.mark.parametrize("key", idle())
def test_the_kernels_are_known_and_their_floor_is_the_same_on_every_gpu(key):
    *name, kernel, dtype = key.split(".")
    kind = family(name[0] if name else "gemm")
    found = {
        launch_floor(hardware.gpu(gpu), kind.name, kernel, dtype, kind.launches_like) for gpu in ("t4", "h100_sxm")
    }
    assert found == {
        (idle()[key], ("launch floor: one launch on an idle GPU, with what the host takes, the median of five GPUs",))
    }


def test_an_analytical_answer_holds_it_for_that_kernel_alone():
    call = Softmax(rows=1, dim=128, dtype="fp32")
    alone, idle_gpu = (predict(one, "l4", origin="analytical") for one in (call, replace(call, kernel="torch_fp32")))
    assert alone.time_s < 1e-5 < idle()["softmax.torch_fp32.fp32"] < idle_gpu.time_s
