"""Laws that hold of every family, as checks of one call on one GPU; each family's tests draw the calls."""

from dataclasses import replace

import numpy as np

import synperf
from synperf.features import features

COLUMNS = ("time_s", "low_s", "high_s", "floor_s", "efficiency", "limiter")
RESOURCES = ("dram_bytes_per_s", "l2_bytes_per_s", "num_sms", "clock_hz")
_ROUNDING = 1 - 1e-12


def predict(call, gpu):
    """The analytical estimate, of which these are laws."""
    return synperf.predict(call, gpu, origin="analytical")


def require_ordered(estimate):
    """Finite, and never below the floor."""
    assert 0 < estimate.floor_s <= estimate.low_s <= estimate.time_s <= estimate.high_s < float("inf")
    assert 0 < estimate.efficiency < float("inf")


def require_never_less(call, gpu, **changes):
    """The changed call takes as long or longer, and so do both ends of its interval."""
    _never_less(predict(replace(call, **changes), gpu), predict(call, gpu))


def require_never_slower(call, gpu, field, factor):
    """More of a resource of the GPU slows nothing."""
    _never_less(predict(call, gpu), predict(call, synperf.what_if(gpu, [f"{field}={factor}x"])))


def _never_less(after, before):
    for name in ("time_s", "low_s", "high_s"):
        assert getattr(after, name) >= getattr(before, name) * _ROUNDING, name


def require_rising(calls, gpu):
    """Along a column of calls that grow, the time never falls."""
    times = predict(calls, gpu).time_s
    assert (np.diff(times) >= (_ROUNDING - 1) * times[1:]).all()


def require_column_as_call(call, gpu, numbers):
    """A column of one gives what the call gives."""
    many = predict(replace(call, **{name: np.array([getattr(call, name)]) for name in numbers}), gpu)
    one = predict(call, gpu)
    for name in COLUMNS:
        assert getattr(many, name)[0] == getattr(one, name), name


def require_all_work(family, call, gpu):
    """What the SMs do is all the work: padding only adds, and the busiest has at least the mean."""
    f = features(family, call, gpu)
    assert 0 < f.padding <= 1 + 1e-12
    assert f.load.imbalance >= _ROUNDING
    assert f.dram_bytes >= f.compulsory_bytes * _ROUNDING
    for demand in f.pipes.values():
        assert demand.sm_max_s >= demand.gpu_s * _ROUNDING
