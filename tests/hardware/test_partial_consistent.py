"""What is filled into a partial file never contradicts what the file states."""

import re
from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synperf.errors import FieldError
from synperf.hardware import DType, gpu, gpus, keys
from synperf.hardware.bounds import moved_limits
from synperf.hardware.capability import GPU_FIELDS
from synperf.hardware.fields import NUMBERS, PEAKS, PER_CLOCK, TEXTS, check, range_of
from synperf.hardware.names import FOLDER
from synperf.hardware.parse import build, limits, toml
from synperf.hardware.partial import complete

B200 = "compute_capability = '10.0'\ndram_bytes_per_s = 8e12\ntensor_flop_per_s.bf16 = 2250e12\n"
HOPPER = "compute_capability = '9.0'\ndram_bytes_per_s = 3e12\ntensor_flop_per_s.bf16 = 989e12\n"
ORDERED = (
    "base_clock_hz", "clock_hz", "max_clock_hz", "shared_bytes_per_cta", "shared_bytes_per_sm",
    "reserved_shared_bytes_per_cta", "max_threads_per_cta", "max_warps_per_sm",
)  # fmt: skip


def read(text):
    return completed(check(toml(text, "mine.toml"), "mine.toml"))


def completed(document):
    filled, said = complete(document, "mine.toml", gpus)
    return build(filled, "mine", "mine.toml", said)


def require_ordered(one):
    assert one.base_clock_hz <= one.clock_hz <= one.max_clock_hz
    assert one.shared_bytes_per_cta <= one.shared_bytes_per_sm


def told(one, field):
    inherited = next((said for said in one.assumptions if said.startswith("compute_capability: ")), "")
    by_itself = any(said.startswith(f"{field}: ") for said in one.assumptions)
    return by_itself or (field in GPU_FIELDS and field in re.findall(r"\w+", inherited))


def require_told(one, document):
    """Each field that is not stated has a sentence; a limit follows from the capability where that is stated."""
    needed = set(TEXTS) | set(NUMBERS) - (set(GPU_FIELDS) if "compute_capability" in document else set())
    assert [field for field in sorted(needed - document.keys()) if not told(one, field)] == []
    for pipe, field in PER_CLOCK.items():
        for dtype in getattr(one, field):
            stated = dtype in document.get(field, {}) or dtype in document.get(PEAKS[pipe], {})
            assert stated or told(one, f"{field}.{dtype}")


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            B200 + "max_clock_hz = 1.5e9\nbase_clock_hz = 1.2e9\nnum_sms = 148\nl2_bytes = 126e6\npower_w = 1000",
            ["clock_hz: 1.5e9, as stated max_clock_hz"],
        ),
        (B200 + "num_sms = 150\nmax_clock_hz = 1.7e9", ["clock_hz: 1.7e9, as stated max_clock_hz"]),
        (B200 + "base_clock_hz = 2.5e9", ["clock_hz: 2.5e9, as stated base_clock_hz"]),
        (B200 + "base_clock_hz = 2.2e9\nnum_sms = 150", ["clock_hz: 2.2e9, as stated base_clock_hz"]),
        (
            HOPPER + "shared_bytes_per_sm = 131072",
            ["shared_bytes_per_cta: 130048, as stated shared_bytes_per_sm less reserved_shared_bytes_per_cta"],
        ),
        (
            HOPPER + "shared_bytes_per_cta = 262144",
            ["shared_bytes_per_sm: 263168, as stated shared_bytes_per_cta and reserved_shared_bytes_per_cta"],
        ),
        (HOPPER + "max_warps_per_sm = 16", ["max_threads_per_cta: 512, 32 times max_warps_per_sm, as stated"]),
        (HOPPER + "max_threads_per_cta = 4096", ["max_warps_per_sm: 128, as stated max_threads_per_cta needs"]),
    ],
)
def test_a_filled_value_moves_to_what_the_file_states_and_says_so(text, sentences):
    one = read(text)
    require_ordered(one)
    assert [said for said in sentences if said not in one.assumptions] == []


def test_a_complete_file_may_override_one_limit_alone():
    one = gpu_with("h100_sxm", "shared_bytes_per_sm = 131072")
    assert (one.shared_bytes_per_cta, one.reserved_shared_bytes_per_cta) == (130048, 1024)
    assert one.assumptions[0].startswith("shared_bytes_per_cta: 130048, as stated shared_bytes_per_sm")


def gpu_with(key, line):
    return read(f"{line}\n{(FOLDER / f'{key}.toml').read_text().replace('stand_ins  ', '# ')}")


def test_a_complete_file_without_a_name_is_named_as_the_file():
    text = "\n".join(line for line in (FOLDER / "l4.toml").read_text().splitlines() if not line.startswith("name "))
    one = read(text)
    assert (one.name, one.assumptions) == ("mine", ("name: mine, as the file",))


@pytest.mark.parametrize("line", ["clock_hz = 1.5e9\nbase_clock_hz = 2e9", "base_clock_hz = 2e9\nmax_clock_hz = 1.5e9"])
def test_stated_clocks_that_contradict_each_other_are_told(line):
    with pytest.raises(FieldError, match=r"^mine\.toml: base_clock_hz: 2e9 is above (max_)?clock_hz, 1\.5e9$"):
        read(B200 + line)


def test_a_peak_with_its_rate_gives_the_clock_or_the_sms():
    pair = "dram_bytes_per_s = 3e12\ntensor_flop_per_s.bf16 = 1e15\ntensor_flop_per_clk_per_sm.bf16 = 5000\n"
    by_sms = read(pair + "num_sms = 100")
    assert by_sms.clock_hz == 2e9
    assert "clock_hz: 2e9, the bf16 peak over its rate and num_sms" in by_sms.assumptions
    assert read(pair + "clock_hz = 2e9").num_sms == 100
    neither = read(pair + "max_clock_hz = 1.01e9\nbase_clock_hz = 1e9")
    assert (neither.num_sms, neither.clock_hz) == (199, pytest.approx(1e15 / 5000 / 199))


@st.composite
def parts(draw):
    """Some fields of a catalog file, clocks, bandwidths and peaks scaled by one factor."""
    key = draw(st.sampled_from(keys()))
    whole = check(toml((FOLDER / f"{key}.toml").read_text(), key), key)
    one, scale = gpu(key), draw(st.sampled_from([0.1, 0.5, 1.0, 1.7, 3.0, 10.0]))
    fields = {"dram_bytes_per_s"} | draw(st.sets(st.sampled_from([*TEXTS, *NUMBERS])))
    part = {
        field: getattr(one, field) * scale ** field.endswith(("_hz", "bytes_per_s"))
        for field in sorted(fields - set(TEXTS))
    }
    part |= {field: getattr(one, field) for field in sorted(fields & set(TEXTS))}
    pipe = "tensor" if PEAKS["tensor"] in whole else "fma"
    peaks = whole.get(PEAKS[pipe]) or {d: one.peak_flop_per_s(d) for d in one.fma_flop_per_clk_per_sm}
    some = draw(st.sets(st.sampled_from(sorted(peaks)), min_size=1))
    part[PEAKS[pipe]] = {dtype: peaks[dtype] * scale for dtype in sorted(some)}
    for field in PER_CLOCK.values():
        if known := whole.get(field):
            part[field] = {dtype: known[dtype] for dtype in sorted(draw(st.sets(st.sampled_from(sorted(known)))))}
    return part


@given(parts())
@settings(max_examples=400, deadline=None)
def test_some_fields_of_a_catalog_gpu_are_accepted_and_the_others_told(document):
    one = completed(document)
    require_ordered(one)
    require_told(one, document)
    assert {field: getattr(one, field) for field in NUMBERS if field in document} == {
        field: value for field, value in document.items() if field in NUMBERS
    }
    for field, (_, most) in ((field, range_of(field)) for field in NUMBERS):
        assert getattr(one, field) <= most


@given(st.sampled_from(ORDERED), st.floats(0, 1), st.sampled_from(keys()))
@settings(max_examples=400, deadline=None)
def test_any_one_ordered_field_within_its_range_is_accepted(field, place, key):
    least, most = range_of(field)
    value = max(least, 1) * (most / max(least, 1)) ** place
    value = min(max(least, value), most)
    one, stated = gpu(key), round(value) if field in GPU_FIELDS else value
    dtype = next(iter(one.tensor_flop_per_clk_per_sm or one.fma_flop_per_clk_per_sm))
    document = {
        "compute_capability": one.compute_capability,
        "dram_bytes_per_s": one.dram_bytes_per_s,
        PEAKS[one.math_pipe(dtype)]: {dtype: one.peak_flop_per_s(dtype)},
        field: stated,
    }
    made = completed(document)
    require_ordered(made)
    require_told(made, document)
    assert getattr(made, field) == stated
    assert made.max_threads_per_cta <= made.warp_size * made.max_warps_per_sm


@given(st.dictionaries(st.sampled_from(ORDERED[3:]), st.integers(1, 10**6)))
def test_moved_limits_fit_unless_the_stated_ones_do_not(stated):
    inherited = limits("9.0", "")
    both = inherited | stated | {field: value for field, (value, _) in moved_limits(stated, inherited).items()}
    assert not set(stated) & set(moved_limits(stated, inherited))
    if stated.get("shared_bytes_per_cta", 0) <= stated.get("shared_bytes_per_sm", 10**9):
        assert both["shared_bytes_per_cta"] <= both["shared_bytes_per_sm"]


@pytest.mark.parametrize("key", keys())
def test_a_copy_without_one_clock_keeps_the_others(key):
    one = gpu(key)
    for field in ("base_clock_hz", "clock_hz", "max_clock_hz"):
        text = re.sub(rf"^{field} .*$", "", (FOLDER / f"{key}.toml").read_text(), count=1, flags=re.M)
        again = read(text)
        require_ordered(again)
        assert isclose(again.clock_hz, one.clock_hz, rel_tol=0.011)


@pytest.mark.parametrize(
    ("slip", "right"),
    [("hoper", "hopper"), ("Hopper", "hopper"), ("Blackwell Ultra", "blackwell_ultra"), ("amper", "ampere")],
)
@pytest.mark.parametrize("capability", ["", "compute_capability = '9.0'\n"])
def test_a_misspelled_architecture_is_told_with_the_right_one(slip, right, capability):
    text = f"architecture = '{slip}'\n{capability}dram_bytes_per_s = 3e12\ntensor_flop_per_s.bf16 = 989e12"
    with pytest.raises(FieldError) as error:
        read(text)
    assert str(error.value) == f"mine.toml: architecture: unknown {slip!r}; right would be {right}"


@pytest.mark.parametrize("name", ["rubin", "feynman", "hopper2", "new"])
def test_a_new_architecture_is_said_to_be_that_of_no_catalog_gpu(name):
    one = read(f"architecture = '{name}'\ndram_bytes_per_s = 3e12\ntensor_flop_per_s.bf16 = 989e12")
    assert one.architecture == name
    assert one.assumptions[0].endswith(f"; no catalog GPU has architecture {name!r}")


def test_a_capability_that_no_catalog_gpu_has_is_said():
    one = read(B200.replace("10.0", "11.0"))
    assert one.assumptions[0].endswith("; no catalog GPU has compute_capability '11.0'")
    assert one.peak_flop_per_s(DType.BF16) == pytest.approx(2250e12)
