"""What fewer bits give by a GPU's rates, and what a tensor loses by them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from synperf import FieldError, FileFormatError, gpu, model
from synperf.calculators.number_grids import FORMATS, _grid, greatest, rounded
from synperf.calculators.quantization import quantization
from synperf.calculators.quantization_error import quantization_error
from synperf.calculators.tensor_files import read_tensor
from synperf.errors import UnknownNameError

from ..cli.runner import assert_refused, invoke

A100 = gpu("a100_sxm")


@pytest.mark.parametrize(("before", "times"), [("fp16", 2), ("tf32", 4), ("fp32", 32)])
def test_int8_on_an_a100_is_four_times_faster_than_one_format_only(before, times):
    found = quantization(A100, before=before, after="int8")
    assert found.compute_speedup == pytest.approx(times, rel=1e-3)
    assert found.rate_after_flop_per_s == pytest.approx(624e12, rel=1e-3)


def test_weights_alone_gain_memory_and_no_math():
    found = quantization(A100, before="bf16", after="int4", parameters=7_000_000_000)
    assert (found.compute_speedup, found.memory_speedup, found.break_even_n) == (1, 4, None)
    assert (found.weights_bytes_before, found.weights_bytes_after) == (14e9, 3.5e9)


def test_a_pass_that_rounds_pays_where_its_traffic_is_the_math_that_is_saved():
    found = quantization(A100, before="fp16", after="int8")
    n, m, k = found.break_even_n, 4096, 4096
    saved = 2 * m * n * k * (1 / found.rate_before_flop_per_s - 1 / found.rate_after_flop_per_s)
    assert saved == pytest.approx(m * k * 3 / A100.dram_bytes_per_s)


def test_a_model_is_told_with_its_scales_and_its_cache():
    found = quantization(gpu("h100_sxm"), before="bf16", after="fp8", model=model("Qwen/Qwen3-32B"))
    assert found.weights_bytes_before == 2 * 32_762_123_264
    assert found.weights_bytes_after > found.weights_bytes_before / 2
    assert found.kv_bytes_per_token_before == 2 * found.kv_bytes_per_token_after == 262_144


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"after": "fp8"}, "to: a100_sxm does not multiply fp8"),
        ({"after": "int9"}, "to"),
        ({"after": "int8", "parameters": 0}, "parameters"),
        ({"after": "int8", "parameters": 1, "model": model("Qwen/Qwen3-32B")}, "parameters: give either"),
    ],
)
def test_bad_questions_are_named(how, said):
    with pytest.raises(FieldError, match=said):
        quantization(A100, **({"before": "bf16"} | how))


def test_three_values_in_int8_are_off_by_half_a_step_at_most():
    found = quantization_error(np.array([-1.0, 0.5, 1.0]))
    assert found.max_error <= 1 / 254
    assert found.max_error == pytest.approx(1 / 254)
    assert found.sqnr_db == pytest.approx(10 * np.log10(2.25 / (1 / 254) ** 2))
    assert found.saturation == 0


@pytest.mark.parametrize(
    ("name", "largest", "count"),
    [("int8", 127, 128), ("int4", 7, 8), ("fp8_e4m3", 448, 127), ("fp8_e5m2", 57344, 124), ("fp4_e2m1", 6, 8)],
)
def test_the_values_of_formats(name, largest, count):
    assert greatest(FORMATS[name]) == largest
    assert len(_grid(FORMATS[name])) == count
    assert FORMATS[name].bits in (4, 8)


def test_the_smallest_values_of_fp8_are_subnormal():
    assert _grid(FORMATS["fp8_e4m3"])[1] == 2.0**-9
    assert _grid(FORMATS["fp8_e5m2"])[1] == 2.0**-16
    assert _grid(FORMATS["fp4_e2m1"]).tolist() == [0, 0.5, 1, 1.5, 2, 3, 4, 6]


@given(st.sampled_from(sorted(FORMATS)), st.lists(st.floats(-1000, 1000), min_size=1, max_size=20))
def test_rounding_takes_the_nearest_value(name, values):
    kind, given_values = FORMATS[name], np.array(values)
    every = np.concatenate([_grid(kind), -_grid(kind)])
    nearest = np.abs(given_values[:, None] - every).min(axis=1)
    assert np.abs(given_values - rounded(given_values, kind)) == pytest.approx(nearest, abs=1e-12)


def test_ties_go_to_the_even_code():
    assert rounded(np.array([2.5, 3.5, 0.25, 0.75, 5.0, -5.0]), FORMATS["fp4_e2m1"]).tolist() == [2, 4, 0, 1, 4, -4]


def test_torch_rounds_alike():
    torch = pytest.importorskip("torch", reason="needs the extra [train]")
    values = np.random.default_rng(1).normal(0, 60, 4000)
    shown = torch.tensor(values).to(torch.float8_e4m3fn).to(torch.float64).numpy()
    inside = np.abs(values) <= 448
    assert (rounded(values, FORMATS["fp8_e4m3"])[inside] == shown[inside]).all()


def test_an_outlier_asks_for_smaller_scales():
    values = np.random.default_rng(0).standard_normal((32, 512))
    values[5] *= 100
    tensor, channel, group = quantization_error(values, group=64).schemes
    assert tensor.sqnr_db < channel.sqnr_db
    assert tensor.mse > channel.mse > group.mse
    assert (tensor.scales, channel.scales, group.scales) == (1, 32, 256)
    assert quantization_error(values.T, axis=1).schemes[1].mse == pytest.approx(channel.mse)


def test_saturation_is_the_share_beyond_the_range():
    values = np.arange(1.0, 1001.0)[None]
    found = quantization_error(values, percentile=99)
    assert found.saturation == pytest.approx(0.01, abs=1e-3)
    assert found.max_error == pytest.approx(1000 - np.percentile(values, 99))


def test_the_histogram_counts_every_value():
    found = quantization_error(np.random.default_rng(0).standard_normal((10, 100)))
    assert sum(found.histogram) == 1000
    assert found.edges[0] == found.low
    assert found.edges[-1] == found.high


def test_pieces_of_a_large_tensor_give_what_one_piece_gives(monkeypatch):
    values = np.random.default_rng(0).standard_normal((64, 96))
    whole = quantization_error(values, percentile=99)
    monkeypatch.setattr("synperf.calculators.quantization_error._PIECE", 200)
    parts = quantization_error(values, percentile=99)
    assert parts.histogram == whole.histogram
    assert parts.mse == pytest.approx(whole.mse)


def test_zeros_and_constants_are_exact():
    assert quantization_error(np.zeros((3, 4))).sqnr_db is None
    assert quantization_error(np.zeros((3, 4))).advice == ("every value is held exactly",)


@pytest.mark.parametrize(
    ("tensor", "how", "said"),
    [
        (np.zeros((0, 2)), {}, "tensor must hold numbers"),
        (np.array(["a"]), {}, "tensor must hold numbers"),
        (np.array([1, np.nan]), {}, "not finite"),
        (np.ones((2, 2)), {"axis": 2}, "axis must be from -2 to 1"),
        (np.ones(2), {"group": 0}, "group"),
        (np.ones(2), {"percentile": 0}, "percentile"),
    ],
)
def test_bad_tensors_are_named(tensor, how, said):
    with pytest.raises(FieldError, match=said):
        quantization_error(tensor, **how)


@pytest.mark.parametrize("how", [{"format": "int7"}, {"scheme": "row"}])
def test_unknown_names_are_named(how):
    with pytest.raises(UnknownNameError, match=next(iter(how))):
        quantization_error(np.ones(2), **how)


@pytest.fixture
def files(tmp_path):
    values = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)
    np.save(tmp_path / "x.npy", values)
    save_file({"w": values, "b": values[0]}, tmp_path / "two.safetensors")
    save_file({"w": values}, tmp_path / "one.safetensors")
    return tmp_path, values


def test_tensors_of_files(files):
    folder, values = files
    assert (read_tensor(folder / "x.npy") == values).all()
    assert (read_tensor(folder / "one.safetensors") == values).all()
    assert (read_tensor(folder / "two.safetensors", "b") == values[0]).all()
    with pytest.raises(FieldError, match="has 2 tensors; right would be one of b, w"):
        read_tensor(folder / "two.safetensors")
    with pytest.raises(FieldError, match="no tensor 'x'"):
        read_tensor(folder / "two.safetensors", "x")


def test_bf16_of_a_file_is_widened(tmp_path):
    torch = pytest.importorskip("torch", reason="needs the extra [train]")
    from safetensors.torch import save_file as save

    values = torch.randn(4, 4, dtype=torch.bfloat16)
    save({"w": values}, tmp_path / "x.safetensors")
    assert (read_tensor(tmp_path / "x.safetensors") == values.float().numpy()).all()


@pytest.mark.parametrize("name", ["x.npy", "one.safetensors"])
def test_a_damaged_file_is_one_sentence(files, name):
    folder, _ = files
    data = (folder / name).read_bytes()
    for cut in (0, 4, 9, 40, len(data) // 2, len(data) - 1):
        (folder / name).write_bytes(data[:cut])
        with pytest.raises(FileFormatError, match=name):
            read_tensor(folder / name)
    (folder / name).write_bytes(b"\x00" * 200)
    assert_refused(invoke("quantization", "--tensor", str(folder / name)))


def test_a_command_with_neither_is_refused():
    assert_refused(invoke("quantization"))
    assert_refused(invoke("quantization", "--tensor", "missing.npy"))
