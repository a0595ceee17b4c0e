"""Tasks of unequal length: how much work the busiest SM has, in closed forms instead of a simulation.

Lengths are in any unit that every task's work is proportional to, such as steps over tiles of K and V. All three
bounds grow with the number of tasks and with the length of each, and fall with the number of SMs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numeric import Number, ceil_div, floor, maximum, minimum

_FIRST_WAVES = 4  # looked at one by one; later than that, only the last two can outweigh the mean load


def counted(at: Callable[[Number], Number], count: Number, num_sms: int) -> Number:
    """Lower bound of every schedule: of the (k - 1) num_sms + 1 longest tasks, some SM runs k.

    `at(i)` is the length of the i-th longest of `count` tasks, from 0 on. Exact for tasks of one length.
    """
    waves = ceil_div(count, num_sms)
    bound = at(0.0 * count)
    for k in (*range(2, _FIRST_WAVES + 1), waves - 1, waves):
        wave = maximum(minimum(k, waves), 1.0)
        bound = maximum(bound, wave * at((wave - 1.0) * num_sms))
    return bound


def counted_by_length(lengths: np.ndarray, counts: np.ndarray, num_sms: int) -> float:
    """As `counted`, of tasks in any order: `counts[i]` tasks of the whole length `lengths[i]`."""
    histogram = np.bincount(lengths.astype(np.int64), weights=counts)
    return counted_as_long(np.cumsum(histogram[::-1])[::-1], num_sms)


def counted_as_long(as_long: np.ndarray, num_sms: int) -> float:
    """As `counted`, of `as_long[n]` tasks that are at least n long."""
    return float((np.arange(len(as_long)) * np.ceil(as_long / num_sms)).max())


def longest_first(total: Number, bound: Number, num_sms: int) -> Number:
    """Work of the busiest SM when tasks start in order of falling length: the mean load, or what counting demands.

    `bound` is that of `counted`. A simulation gives 1 to 2 % more on average.
    """
    return maximum(total / num_sms, bound)


def in_order(total: Number, count: Number, longest: Number, bound: Number, num_sms: int) -> Number:
    """Work of the busiest SM when each freed SM takes the next task, whatever its length.

    The last task to start finds the SMs free at different times: half of what the longest task is longer than the
    mean one is added, which is the mean of a start anywhere within it. Never above Graham's bound for list schedules.
    """
    late = (longest - total / count) * (0.5 * (1.0 - 1.0 / num_sms))
    return maximum(total / num_sms + late, bound)


def split(total: Number, piece: Number, num_sms: int) -> Number:
    """Work of the busiest SM when tasks are cut into pieces as even as can be: the mean load, or one piece."""
    return maximum(total / num_sms, piece)


def floor_sum(n: Number, m: Number, a: Number, b: Number) -> Number:
    """Sum of floor((a i + b) / m) over i from 0 to n - 1, of whole numbers that are not negative.

    Euclid's algorithm on a and m. Source: AtCoder Library, `floor_sum`.
    """
    n, m, a, b = 1.0 * n, 1.0 * m, 1.0 * a, 1.0 * b
    total = 0.0 * (n + m + a + b)
    while True:
        whole_a, whole_b = floor(a / m), floor(b / m)
        total = total + 0.5 * n * (n - 1.0) * whole_a + n * whole_b
        a, b = a - whole_a * m, b - whole_b * m
        reach = a * n + b
        n = floor(reach / m)
        if not (n.any() if type(n) is np.ndarray else n):
            return total
        rest = reach - n * m
        m, a, b = maximum(a, 1.0), m, rest  # where a is 0, so is n, and nothing more is added
