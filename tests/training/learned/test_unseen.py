"""Intervals on unseen GPUs: kin apart from the others, and tails with which a case that is left out is held."""

import numpy as np
import pytest

from synperf.training.learned.unseen import MEANT, TAILS, Case, unseen


def case(name, *, has_kin=False, size=0.1, bias=0.0, seed=0, rows=3000):
    apart = np.random.default_rng(seed).normal(bias, size, rows)
    return Case(name=name, has_kin=has_kin, time_s=np.full(rows, 1e-5), apart=apart, middle=2 * apart)


def test_kin_and_others_have_intervals_of_their_own():
    kin = [case("b", has_kin=True, size=0.02, seed=1), case("c", has_kin=True, size=0.02, seed=2)]
    others = [case("d", seed=3), case("e", seed=4), case("f", seed=5)]
    found = unseen("bf16", [*kin, *others])
    near, far, nobody = (found.regimes[key][0] for key in ("kin", "", "*"))
    assert near.high == pytest.approx(0.02 * 1.28, rel=0.1)
    assert far.high == pytest.approx(0.1 * 1.28, rel=0.15)
    assert nobody.high > far.high
    assert (near.rows, far.rows) == (6000, 9000)
    assert list(found.left_out) == ["b", "c", "d", "e", "f"]
    assert all(abs(score["coverage"] - MEANT) < 0.06 for score in found.left_out.values())


def test_tails_grow_until_cases_that_are_off_are_held_on_average():
    alike = unseen("bf16", [case("d", seed=1), case("e", seed=2), case("f", seed=3)])
    apart = unseen("bf16", [case("d", bias=-0.1, seed=1), case("e", bias=0.1, seed=2), case("f", bias=0.0, seed=3)])
    assert np.mean([score["coverage"] for score in apart.left_out.values()]) >= MEANT
    assert apart.regimes[""][0].high > 1.5 * alike.regimes[""][0].high


def test_a_case_that_no_other_is_like_is_not_hidden():
    found = unseen("fp8", [case("d", seed=1), case("e", bias=1.0, seed=2), case("f", seed=3)])
    assert found.left_out["e"]["coverage"] < 0.2
    assert found.regimes[""][0].low < -0.1 < 0.9 < found.regimes[""][0].high
    assert min(TAILS) == 0.01


def test_one_kind_alone_serves_both_and_one_case_is_held_against_the_others():
    alone = unseen("nvfp4", [case("d", seed=1), case("e", seed=2)])
    ends = {key: (alone.regimes[key][0].low, alone.regimes[key][0].high) for key in ("", "kin")}
    assert ends["kin"] == pytest.approx(ends[""], rel=0.1)
    mixed = unseen("nvfp4", [case("b", has_kin=True, seed=1), case("d", seed=2)])
    assert set(mixed.left_out) == {"b", "d"}
    assert 0.7 < mixed.left_out["b"]["coverage"] < 0.95
