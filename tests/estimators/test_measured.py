"""The measured estimator on toy rows, whose times are the trend times a factor worked out in the head."""

from dataclasses import replace

import numpy as np
import pytest

from synperf.estimators import Estimate, analytical
from synperf.estimators.measured import Measured
from synperf.kernels.gemm import FAMILY as GEMM
from synperf.kernels.gemm import Gemm
from synperf.measurements import Rows
from synperf.measurements.source import Source
from tests.toys import TOY

SIZES = [256, 512, 1024, 2048, 4096]
GRID = [(m, n, k) for n in SIZES for k in SIZES for m in (1, 16, 32, 64, 100)]


def rows(calls=GRID, factor=2.0, spread=0.0, **text):
    """Rows of calls that took `factor` times the trend's time: a number, a column or a function of (m, n, k)."""
    m, n, k = (np.array(column, dtype=float) for column in zip(*calls, strict=True))
    same = {"gpu": "toy", "family": "gemm", "engine": "torch", "kernel": "cublas", "version": "1.0"} | text
    dtype = same.pop("dtype", "bf16")
    columns = {name: np.full(len(m), value, dtype=object) for name, value in same.items()}
    trend_s = analytical.estimate(GEMM, Gemm(m=m, n=n, k=k), TOY).time_s
    return Rows(
        **columns,
        kernel_source=np.full(len(m), "x", dtype=object),
        source=np.full(len(m), "x.csv", dtype=object),
        fields={"m": m, "n": n, "k": k, "batch": np.ones(len(m)), "dtype": np.full(len(m), dtype, dtype=object)},
        time_s=trend_s * (factor(m, n, k) if callable(factor) else factor),
        spread=np.full(len(m), spread),
        samples=np.ones(len(m)),
        is_test=np.zeros(len(m), dtype=bool),
    )


def measured(found, trend=analytical.estimate):
    return Measured(trend, Source.of(found, "toy rows"))


def ratio(estimator, **call):
    """(measured estimate over the trend, its origin) of one call."""
    one = Gemm(**call)
    e = estimator.estimate(GEMM, one, TOY)
    return e.time_s / analytical.estimate(GEMM, one, TOY).time_s, e.origin


def test_a_measured_call_has_its_own_median_in_seconds():
    found = rows(factor=np.linspace(1.5, 3, len(GRID)))
    e = measured(found).estimate(GEMM, found.call(), TOY)
    assert (e.time_s == found.time_s).all()
    assert set(e.origin) == {"measured"}
    one = dict(zip(("m", "n", "k"), GRID[7], strict=True))
    assert measured(found).estimate(GEMM, Gemm(**one), TOY).time_s == found.time_s[7]


def test_repeats_that_lie_apart_widen_the_interval_of_a_measured_call():
    call = Gemm(m=16, n=512, k=512)
    near, apart = (measured(rows(spread=spread)).estimate(GEMM, call, TOY) for spread in (0.0, 0.5))
    assert apart.high_s / apart.time_s == pytest.approx(np.exp(0.5), rel=1e-3)
    assert near.high_s - near.low_s < 0.1 * (apart.high_s - apart.low_s)


def test_between_two_measured_m_the_residual_is_interpolated_in_the_log():
    found = rows([(m, 512, 512) for m in (16, 32)], factor=np.array([2.0, 8.0]))
    assert ratio(measured(found), m=16, n=512, k=512) == pytest.approx((2.0, "measured"))
    between, origin = ratio(measured(found), m=24, n=512, k=512)
    assert origin == "measured"
    assert between == pytest.approx(2.0 * 4.0 ** np.log2(24 / 16))


@pytest.mark.parametrize("m", [8, 33, 40, 64, 200])
def test_outside_the_measured_m_and_across_a_wide_gap_the_trend_answers(m):
    found = rows([(m, 512, k) for m in (16, 32, 100) for k in (512, 1024)])
    assert ratio(measured(found), m=m, n=512, k=512) == (1.0, "analytical")
    assert ratio(measured(found), m=m, n=512, k=1024) == (1.0, "analytical")


@pytest.mark.parametrize("shape", [(700, 700), (1024, 300), (4000, 4000), (512, 1025)])
def test_a_new_shape_among_measured_ones_has_their_residual(shape):
    found, origin = ratio(measured(rows(factor=2.0)), m=32, n=shape[0], k=shape[1])
    assert origin == "measured"
    assert found == pytest.approx(2.0, rel=0.02)


def test_of_shapes_that_differ_the_nearest_count_most():
    def slope(_m, n, k):
        return (n / k) ** 0.5

    found, origin = ratio(measured(rows(factor=slope)), m=32, n=4000, k=270)
    assert origin == "measured"
    assert found == pytest.approx((4000 / 270) ** 0.5, rel=0.1)  # the mean of those around it is 2.8


@pytest.mark.parametrize("shape", [(64, 64), (512, 64), (40_000, 1024), (16_000, 16_000), (4096, 9000)])
def test_far_from_every_measured_shape_nothing_is_measured(shape):
    assert ratio(measured(rows()), m=32, n=shape[0], k=shape[1]) == (1.0, "analytical")


def test_a_hole_in_the_table_is_not_bridged():
    sizes = [64, 96, 128, 192, 8192, 12_288, 16_384, 24_576]
    estimator = measured(rows([(32, n, k) for n in sizes for k in sizes]))
    assert ratio(estimator, m=32, n=1024, k=1024) == (1.0, "analytical")  # 2.4 octaves from the nearest, on all sides
    assert ratio(estimator, m=32, n=10_000, k=100)[1] == "measured"


def test_a_table_is_continued_beyond_its_last_shapes_by_half_an_octave():
    dense = [round(256 * 2 ** (i / 3)) for i in range(13)]  # to 4096
    estimator = measured(rows([(32, n, k) for n in dense for k in dense]))
    assert ratio(estimator, m=32, n=5700, k=1000)[1] == "measured"
    assert ratio(estimator, m=32, n=6000, k=1000) == (1.0, "analytical")


def test_three_neighbours_are_too_few():
    assert ratio(measured(rows()), m=32, n=5000, k=3000)[1] == "measured"  # four within 1.5 octaves
    assert ratio(measured(rows()), m=32, n=5000, k=5000) == (1.0, "analytical")  # three


def test_a_new_shape_at_an_m_that_no_neighbour_has_is_not_measured():
    assert ratio(measured(rows()), m=200, n=700, k=700) == (1.0, "analytical")
    assert ratio(measured(rows()), m=8, n=700, k=700) == (1.0, "analytical")  # 1 and 16 are too far apart


def test_a_table_of_mere_noise_does_not_touch_the_trend():
    noise = np.exp(np.random.default_rng(0).normal(0, 0.3, 7 * 25))
    found = rows([(m, n, k) for n in SIZES for k in SIZES for m in range(16, 23)], factor=noise)
    assert ratio(measured(found), m=18, n=700, k=700) == (1.0, "analytical")
    sparse = found.take(found.fields["m"] != 19)
    assert ratio(measured(sparse), m=19, n=512, k=512) == (1.0, "analytical")


def test_where_too_few_shapes_can_be_left_out_to_say_how_good_it_would_be_new_shapes_are_not_measured():
    few = rows([(m, n, k) for m in (16, 32) for n in SIZES for k in SIZES if n * k < 2**22])
    assert ratio(measured(few), m=32, n=700, k=700) == (1.0, "analytical")
    assert ratio(measured(few), m=24, n=512, k=512) == pytest.approx((2.0, "measured"))  # two m of one shape


@pytest.mark.parametrize(
    "other",
    [{"dtype": "fp16"}, {"engine": "vllm"}, {"kernel": "trtllm"}, {"gpu": "h100_sxm"}],
    ids=lambda o: next(iter(o)),
)
def test_rows_of_another_format_engine_kernel_or_gpu_are_not_taken(other):
    assert ratio(measured(rows(**other)), m=32, n=512, k=512) == (1.0, "analytical")


@pytest.mark.parametrize("other", [{"batch": 2}, {"tile_m": 64, "tile_n": 64, "tile_k": 32}, {"out_dtype": "fp32"}])
def test_another_batch_tile_or_result_is_another_call(other):
    estimator = measured(rows())
    assert ratio(estimator, m=32, n=512, k=512, **other) == (1.0, "analytical")
    assert ratio(estimator, m=32, n=700, k=700, **other) == (1.0, "analytical")
    assert ratio(estimator, m=32, n=512, k=512)[1] == "measured"


def test_a_what_if_of_the_gpu_is_not_the_measured_gpu():
    changed = replace(TOY, key="toy_what_if", num_sms=20)
    assert measured(rows()).estimate(GEMM, Gemm(m=32, n=512, k=512), changed).origin == "analytical"


def test_a_gpu_that_changed_under_the_same_key_has_its_own_trend():
    estimator, call, slower = measured(rows()), Gemm(m=24, n=512, k=512), replace(TOY, dram_bytes_per_s=1e10)
    before = estimator.estimate(GEMM, call, TOY).time_s
    estimator.estimate(GEMM, call, slower)
    assert estimator.estimate(GEMM, call, TOY).time_s == before
    fresh = measured(rows()).estimate(GEMM, call, slower).time_s
    assert estimator.estimate(GEMM, call, slower).time_s == fresh


def test_columns_hold_measured_and_other_rows_side_by_side():
    call = Gemm(m=[32, 32, 24, 32], n=[512, 40_000, 512, 700], k=[512, 1024, 512, 700])
    e, trend = measured(rows()).estimate(GEMM, call, TOY), analytical.estimate(GEMM, call, TOY)
    assert e.origin.tolist() == ["measured", "analytical", "measured", "measured"]
    assert (e.time_s / trend.time_s).tolist() == pytest.approx([2.0, 1.0, 2.0, 2.0], rel=0.02)
    for name in ("time_s", "low_s", "high_s", "efficiency"):
        assert getattr(e, name)[1] == getattr(trend, name)[1]
    assert (e.limiter == trend.limiter).all()
    assert e.efficiency[0] == pytest.approx(trend.efficiency[0] / 2)


def test_one_call_and_the_same_call_in_a_column_agree_bit_for_bit():
    rng = np.random.default_rng(1)
    found = rows(factor=np.exp(rng.normal(0.3, 0.1, len(GRID))))
    estimator = measured(found)
    m, n, k = (rng.integers(low, high, 200) for low, high in ((1, 120), (200, 5000), (200, 5000)))
    column = estimator.estimate(GEMM, Gemm(m=m, n=n, k=k), TOY)
    assert 50 < (column.origin == "measured").sum() < 200
    for i in range(200):
        one = estimator.estimate(GEMM, Gemm(m=int(m[i]), n=int(n[i]), k=int(k[i])), TOY)
        for name in ("time_s", "low_s", "high_s", "floor_s", "efficiency", "limiter", "origin"):
            assert getattr(one, name) == getattr(column, name)[i]


def test_no_time_is_below_the_physical_bound():
    found = rows(factor=1e-6)
    e = measured(found).estimate(GEMM, Gemm(m=[32, 24, 32], n=[512, 512, 700], k=[512, 512, 700]), TOY)
    assert e.origin.tolist() == ["measured"] * 3
    assert (e.time_s == e.floor_s).all()
    assert (e.low_s >= e.floor_s).all()
    assert (e.high_s >= e.time_s).all()


def test_the_interval_holds_four_of_five_new_shapes_of_a_noisy_table():
    rng = np.random.default_rng(2)
    calls = [(m, n, k) for n in range(256, 4097, 256) for k in range(256, 4097, 256) for m in (16, 17, 32, 33, 64)]
    noisy = rows(calls, factor=lambda m, n, k: 2 * (n / k) ** 0.1 * np.exp(rng.normal(0, 0.1, len(m))))
    held_out = np.array([min(n, k) > 256 and (n // 256 + 2 * k // 256) % 5 == 0 for _, n, k in calls])
    held = noisy.take(held_out)
    e = measured(noisy.take(~held_out)).estimate(GEMM, held.call(), TOY)
    assert set(e.origin) == {"measured"}
    inside = (e.low_s <= held.time_s) & (held.time_s <= e.high_s)
    assert inside.mean() == pytest.approx(0.8, abs=0.04)
    assert np.median(e.high_s / e.low_s) < np.exp(2 * 1.28 * 0.15)  # not by being wide: the noise is 0.1


def test_a_shape_that_was_measured_at_other_m_has_a_narrower_interval_than_a_new_one():
    own = np.random.default_rng(4).normal(0, 0.05, (4097, 4097))  # what a shape has for itself, the same at every m
    found = rows(
        [(m, n, k) for n in SIZES for k in SIZES for m in (16, 20, 28, 36, 44)],
        factor=lambda _m, n, k: 2 * (n / k) ** 0.3 * np.exp(own[n.astype(int), k.astype(int)]),
    )
    e = measured(found).estimate(GEMM, Gemm(m=24, n=[1024, 1040], k=1024), TOY)
    known, new = np.log(e.high_s / e.low_s)
    assert set(e.origin) == {"measured"}
    assert known < 0.75 * new


def test_rows_that_are_left_out_leave_no_trace():
    whole = rows(factor=lambda _m, n, _k: np.where(n == 512, 50.0, 2.0))
    left = whole.take(whole.fields["n"] != 512)
    e, never = (measured(r).estimate(GEMM, whole.call(), TOY) for r in (left, rows([c for c in GRID if c[1] != 512])))
    assert (e.time_s == never.time_s).all()
    assert (e.high_s == never.high_s).all()
    hidden = whole.fields["n"] == 512
    assert (e.time_s[hidden] < 0.1 * whole.time_s[hidden]).all()
    assert "measured" in e.origin[hidden]


def test_biased_rows_are_not_taken():
    found = replace(rows(), biased=np.ones(len(GRID), dtype=bool))
    assert ratio(measured(found), m=32, n=512, k=512) == (1.0, "analytical")


def test_the_newest_version_answers_alone():
    both = Rows.join([rows(factor=2.0, version="0.10.1"), rows(factor=5.0, version="0.9.12")])
    assert ratio(measured(both), m=32, n=512, k=512)[0] == pytest.approx(2.0)


def test_a_call_of_two_files_has_the_median_and_their_spread():
    both = Rows.join([rows(factor=2.0), rows(factor=3.0)])
    e = measured(both).estimate(GEMM, Gemm(m=32, n=512, k=512), TOY)
    trend = analytical.estimate(GEMM, Gemm(m=32, n=512, k=512), TOY)
    assert e.time_s == pytest.approx(2.5 * trend.time_s)
    assert e.low_s < 2.1 * trend.time_s < 2.9 * trend.time_s < e.high_s


def test_the_answer_names_whose_rows_they_are():
    e = measured(rows()).estimate(GEMM, Gemm(m=32, n=512, k=512), TOY)
    assert e.versions["measured"] == "toy rows (1.0)"
    assert "timings of 1.0 are samples of one kernel" in e.assumptions
    other = measured(rows()).estimate(GEMM, Gemm(m=32, n=40_000, k=512), TOY)
    assert "measured" not in other.versions


def test_without_rows_the_trend_answers():
    empty = Measured(analytical.estimate, Source("none", lambda *_: {}))
    assert empty.estimate(GEMM, Gemm(m=1, n=1, k=1), TOY) == analytical.estimate(GEMM, Gemm(m=1, n=1, k=1), TOY)
    assert empty.estimate(GEMM, Gemm(m=[1, 2], n=1, k=1), TOY).origin.tolist() == ["analytical"] * 2


def test_column_estimates_join_whatever_was_measured_of_each():
    estimator = measured(rows())
    parts = [estimator.estimate(GEMM, Gemm(m=[32], n=[n], k=[512]), TOY) for n in (512, 40_000)]
    assert Estimate.join(parts).origin.tolist() == ["measured", "analytical"]


def test_covers_says_which_calls_are_measured():
    estimator = measured(rows())
    assert estimator.covers(GEMM, Gemm(m=32, n=700, k=700), TOY) is True
    assert estimator.covers(GEMM, Gemm(m=[32, 32], n=[700, 9], k=700), TOY).tolist() == [True, False]


def fitted(kind, call, gpu):
    """A trend whose interval says +-20 %, of the origin of a fitted one, that extrapolates everywhere."""
    e = analytical.estimate(kind, call, gpu)
    size = np.ndim(e.time_s) and len(e.time_s)
    outside = [("m",)] * size if size else ("m",)
    flag = np.ones(size, dtype=bool) if size else True
    return replace(
        e, low_s=e.time_s / 1.2, high_s=e.time_s * 1.2, origin="learned", extrapolating=flag, outside=outside
    )


def test_a_measured_answer_does_not_extrapolate_though_its_trend_does():
    estimator = measured(rows(), fitted)
    e = estimator.estimate(GEMM, Gemm(m=[32, 32], n=[512, 40_000], k=512), TOY)
    assert (e.extrapolating.tolist(), e.outside) == ([False, True], [(), ("m",)])
    one = estimator.estimate(GEMM, Gemm(m=32, n=512, k=512), TOY)
    assert (one.extrapolating, one.outside) == (False, ())
    assert estimator.estimate(GEMM, Gemm(m=32, n=40_000, k=512), TOY).origin == "learned"


def assuming(kind, call, gpu):
    """A trend that says what it rests on."""
    said = ("launch floor: x", "sustained rates: x", "learned: x", "l2: x")
    return replace(analytical.estimate(kind, call, gpu), assumptions=said)


def test_a_measured_answer_does_not_rest_on_what_its_trend_assumes():
    estimator = measured(rows(), assuming)
    kept = ("l2: x", "timings of 1.0 are samples of one kernel")
    assert estimator.estimate(GEMM, Gemm(m=32, n=512, k=512), TOY).assumptions == kept
    assert estimator.estimate(GEMM, Gemm(m=[32, 16], n=[512, 700], k=512), TOY).assumptions == kept
    mixed = estimator.estimate(GEMM, Gemm(m=[32, 32], n=[512, 40_000], k=512), TOY)
    assert mixed.assumptions == ("launch floor: x", "sustained rates: x", "learned: x", *kept)


def test_intervals_of_new_shapes_are_wider_by_what_a_fitted_trend_errs_more_on_others():
    found = rows(factor=1.05 * np.exp(np.random.default_rng(3).normal(0, 0.01, len(GRID))))
    source, call = Source.of(found), Gemm(m=32, n=700, k=700)
    plain = Measured(analytical.estimate, source).estimate(GEMM, call, TOY)
    wide = Measured(analytical.estimate, source, widening=lambda *_: 1.5).estimate(GEMM, call, TOY)
    assert wide.time_s == plain.time_s
    assert np.log(wide.high_s / wide.low_s) == pytest.approx(1.5 * np.log(plain.high_s / plain.low_s))


def test_every_family_without_a_table_is_left_to_the_trend():
    estimator = measured(rows(), lambda _kind, call, gpu: analytical.estimate(GEMM, call, gpu))
    assert estimator.estimate(replace(GEMM, name="other"), Gemm(m=32, n=512, k=512), TOY).origin == "analytical"
