"""Load time: copies over named links, compiled kernels, weights that instances share."""

import pytest

from synperf import FieldError
from synperf.calculators.load_time import load_time


@pytest.mark.parametrize(("size", "seconds"), [(7e9, 0.4375), (140e9, 8.75)])
def test_the_copy_at_sixteen_gigabytes_a_second(size, seconds):
    assert load_time(weights_bytes=size, link_bytes_per_s=16e9).h2d_s == pytest.approx(seconds)


@pytest.mark.parametrize(("each", "seconds"), [(0.01, 1.0), (0.1, 10.0)])
def test_a_hundred_kernels_compiled_at_the_start(each, seconds):
    found = load_time(weights_bytes=7e9, link_bytes_per_s=16e9, jit_kernels=100, jit_s_per_kernel=each)
    assert found.jit_s == pytest.approx(seconds)
    assert found.total_s == pytest.approx(seconds + 0.4375)


def test_instances_that_share_weights():
    found = load_time(weights_bytes=14e9, link_bytes_per_s=16e9, instances=3, activations_bytes=2e9)
    assert (found.bytes_shared, found.bytes_apart) == (20e9, 48e9)


def test_reading_and_copying_side_by_side_take_the_longer():
    found = load_time(weights_bytes=16e9, link_bytes_per_s=16e9, disk_bytes_per_s=4e9, graph_s=1, host_alloc_s=0.5)
    assert found.total_s == pytest.approx(4 + 1 + 1 + 0.5)
    assert found.overlapped_s == pytest.approx(4 + 1 + 0.5)


@pytest.mark.parametrize(
    "field", ["weights_bytes", "link_bytes_per_s", "disk_bytes_per_s", "graph_s", "jit_kernels", "instances"]
)
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_bad_input_is_named(field, value):
    with pytest.raises(FieldError, match=field):
        load_time(**{"weights_bytes": 7e9, "link_bytes_per_s": 16e9, field: value})
