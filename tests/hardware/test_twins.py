"""Kin run the same tensor-core kernels; twins are kin."""

import pytest

from synperf import hardware
from synperf.hardware.twins import TWINS, kin


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("h100_sxm", "h20", True),
        ("b200_sxm", "gb300", True),
        ("b200_sxm", "rtx_pro_6000_server", False),
        ("a100_sxm", "a10", False),
        ("l40s", "l4", True),
        ("a40", "a10", True),
        ("l40s", "a100_sxm", False),
    ],
)
def test_kin_share_the_compute_capability_that_kernels_are_built_for(one, other, alike):
    assert (kin(hardware.gpu(one).compute_capability) == kin(hardware.gpu(other).compute_capability)) is alike


def test_twins_are_kin():
    for twins in TWINS:
        assert len({kin(hardware.gpu(key).compute_capability) for key in twins}) == 1
