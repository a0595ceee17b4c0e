"""Intervals on unseen GPUs: those without kin tell, with tails with which a case that is left out is held."""

from dataclasses import replace

import numpy as np
import pytest

from synperf.training.learned.unseen import LEAST, MEANT, TAILS, Case, unseen


def case(name, *, has_kin=False, size=0.1, bias=0.0, seed=0, rows=3000):
    apart = np.random.default_rng(seed).normal(bias, size, rows)
    return Case(name=name, has_kin=has_kin, time_s=np.full(rows, 1e-5), apart=apart, middle=2 * apart)


def test_cases_without_kin_tell_how_far_errors_go_on_any_unseen_gpu():
    kin = [case("b", has_kin=True, size=0.02, seed=1), case("c", has_kin=True, size=0.02, seed=2)]
    others = [case("d", seed=3), case("e", seed=4), case("f", seed=5)]
    found = unseen("bf16", [*kin, *others])
    far, nobody = (found.regimes[key][0] for key in ("", "*"))
    assert set(found.regimes) == {"", "*"}
    assert far.high == pytest.approx(0.1 * 1.28, rel=0.15)
    assert (nobody.low, nobody.high) == pytest.approx((-0.256, 0.256), rel=0.15)
    assert far.rows == 9000
    assert list(found.left_out) == ["b", "c", "d", "e", "f"]
    assert all(found.left_out[name]["coverage"] > 0.99 for name in "bc")
    assert all(abs(found.left_out[name]["coverage"] - MEANT) < 0.06 for name in "def")


def test_a_kernel_that_nobody_measured_is_no_better_known_than_an_unseen_gpu():
    cases = [replace(case(name, seed=i), middle=np.zeros(3000)) for i, name in enumerate("def")]
    found = unseen("bf16", cases).regimes
    assert [(r.low, r.high) for r in found["*"]] == [(r.low, r.high) for r in found[""]]


def test_tails_grow_until_cases_that_are_off_are_held_on_average():
    alike = unseen("bf16", [case("d", seed=1), case("e", seed=2), case("f", seed=3)])
    apart = unseen("bf16", [case("d", bias=-0.1, seed=1), case("e", bias=0.1, seed=2), case("f", bias=0.0, seed=3)])
    assert np.mean([score["coverage"] for score in apart.left_out.values()]) >= MEANT
    assert apart.regimes[""][0].high > 1.5 * alike.regimes[""][0].high


def test_tails_grow_until_the_worst_case_is_held_nearly_as_well():
    cases = [case(name, seed=i) for i, name in enumerate("abcde")] + [case("odd", bias=0.14, seed=9)]
    found = unseen("bf16", cases)
    held = {name: score["coverage"] for name, score in found.left_out.items()}
    assert np.mean(list(held.values())) > MEANT + 0.02
    assert LEAST <= held["odd"] < 0.8


def test_a_case_that_no_other_is_like_is_not_hidden():
    found = unseen("fp8", [case("d", seed=1), case("e", bias=1.0, seed=2), case("f", seed=3)])
    assert found.left_out["e"]["coverage"] < 0.2
    assert found.regimes[""][0].low < -0.1 < 0.9 < found.regimes[""][0].high
    assert min(TAILS) == 0.01


def test_where_one_case_alone_has_no_kin_all_cases_tell():
    mixed = unseen("nvfp4", [case("b", has_kin=True, seed=1), case("d", seed=2)])
    assert mixed.regimes[""][0].rows == 6000
    assert 0.7 < mixed.left_out["b"]["coverage"] < 0.95
