"""Every catalog file keeps the rules of the catalog; names lead to the right file."""

import pickle
import subprocess
import sys
import tomllib
from math import isclose

import pytest

from synperf.errors import FieldError, FileFormatError, UnknownNameError
from synperf.hardware import DType, gpu, gpus, keys, names, of_keys
from synperf.hardware.capability import GPU_FIELDS
from synperf.hardware.fields import KNOWN, NUMBERS, PEAKS, PER_CLOCK
from synperf.hardware.names import FOLDER, squash

EVERY = keys()
ARCHITECTURES = {
    "nvidia": {"pascal", "volta", "turing", "ampere", "ada", "hopper", "blackwell", "blackwell_ultra"},
    "amd": {"cdna", "cdna2", "cdna3", "cdna4"},
    "intel": {"xe2"},
}
FP32_LANES = {"6.0": 64, "7.0": 64, "7.5": 64, "8.0": 64, "gfx908": 64, "gfx90a": 64}  # 128 in every other SM
OF_OTHERS = {"mi100", "mi210", "mi250", "mi300x", "mi325x", "mi355x", "b60"}
MAKERS_NAME = {"nvidia": "NVIDIA", "amd": "AMD Instinct", "intel": "Intel"}


def document(key):
    return tomllib.loads((FOLDER / f"{key}.toml").read_text())


def test_the_catalog_has_the_41_devices():
    assert len(EVERY) == 41
    assert {g.key for g in gpus() if g.maker != "nvidia"} == OF_OTHERS
    assert [g.key for g in gpus()] == list(EVERY)


@pytest.mark.parametrize("key", EVERY)
def test_a_printed_peak_is_sms_times_rate_times_clock_within_one_percent(key):
    one = gpu(key)
    printed = document(key).get(PEAKS["tensor"], {})
    assert set(printed) == {d.value for d in one.tensor_flop_per_clk_per_sm}
    for dtype, peak in printed.items():
        assert one.peak_flop_per_s(DType(dtype)) == pytest.approx(peak, rel=0.01)


@pytest.mark.parametrize("key", EVERY)
def test_every_field_has_a_source_and_every_note_a_field(key):
    stated, one = document(key), gpu(key)
    tables = [field for field in (*PER_CLOCK.values(), *PEAKS.values()) if field in stated]
    assert set(NUMBERS) | {"name", "architecture", "compute_capability"} | set(tables) <= set(one.sources)
    assert set(one.sources) <= set(KNOWN)
    assert set(one.notes) <= set(one.sources)
    assert not set(GPU_FIELDS) & set(stated), "limits of the compute capability are not repeated"


@pytest.mark.parametrize("key", EVERY)
def test_the_parts_of_a_gpu_agree_with_each_other(key):
    one = gpu(key)
    assert one.architecture in ARCHITECTURES[one.maker]
    assert one.base_clock_hz <= one.clock_hz <= one.max_clock_hz
    assert one.shared_bytes_per_cta <= one.shared_bytes_per_sm
    assert one.fma_flop_per_clk_per_sm[DType.FP32] == 2 * FP32_LANES.get(one.compute_capability, 128)
    assert one.dram_bytes_per_s < one.l2_bytes_per_s <= 64 * one.num_sms * one.max_clock_hz  # an SM loads 64 B a clock
    assert one.assumptions == ()


@pytest.mark.parametrize("key", EVERY)
def test_a_format_of_half_the_width_is_never_slower_but_for_int8(key):
    rates = gpu(key).tensor_flop_per_clk_per_sm
    order = [d for d in (DType.TF32, DType.BF16, DType.FP8, DType.NVFP4) if d in rates]
    assert [rates[d] for d in order] == sorted(rates[d] for d in order)
    assert rates.get(DType.FP16, 0) >= rates.get(DType.BF16, 0)


def test_no_two_gpus_share_a_name():
    owners = {}
    for key in EVERY:
        for name in (key, *names.head(key).get("aliases", ()), *names.head(key).get("stand_ins", {})):
            assert owners.setdefault(squash(name), key) == key, name


@pytest.mark.parametrize("key", EVERY)
def test_every_alias_and_every_spelling_of_a_key_leads_to_the_gpu(key):
    for name in (*gpu(key).aliases, key.upper(), key.replace("_", " "), key.replace("_", "-")):
        assert gpu(name) is gpu(key), name
    assert gpu(f"{MAKERS_NAME[gpu(key).maker]} {key}") is gpu(key)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("NVIDIA A100-SXM4-80GB", "a100_sxm"),
        ("NVIDIA_A100-SXM4-40GB", "a100_sxm_40gb"),
        ("NVIDIA A100 80GB PCIe", "a100_pcie"),
        ("NVIDIA A100-PCIE-40GB", "a100_pcie_40gb"),
        ("NVIDIA H100 80GB HBM3", "h100_sxm"),
        ("NVIDIA H200", "h200_sxm"),
        ("NVIDIA B300 SXM6 AC", "b300_sxm"),
        ("NVIDIA L40S", "l40s"),
        ("RTX_6000_Ada", "rtx_6000_ada"),
        ("RTX_A6000", "rtx_a6000"),
        ("RTX_PRO_6000_S", "rtx_pro_6000_server"),
        ("Tesla V100-PCIE-32GB", "v100_pcie"),
        ("Tesla_P100-PCIE-16GB", "p100_pcie"),
        ("Tesla_T4", "t4"),
        ("Tesla P4", "p4"),
        ("NVIDIA_L4", "l4"),
        ("GeForce RTX 4090", "rtx_4090"),
        ("RTX 6000/Ada", "rtx_6000_ada"),
        ("AMD Instinct MI100", "mi100"),
        ("AMD Instinct MI210", "mi210"),
        ("AMD Instinct MI250", "mi250"),
        ("MI 355X", "mi355x"),
        ("Intel Arc Pro B60", "b60"),
        ("Arc Pro B60", "b60"),
    ],
)
def test_names_of_measured_tables_and_of_nvidia_smi_are_known(name, key):
    assert gpu(name) is gpu(key)


@pytest.mark.parametrize("name", ["H100", "h200", "B200", "NVIDIA A100", "a100"])
def test_a_bare_name_means_the_sxm_part_and_says_so(name):
    found = gpu(name)
    assert found.key == f"{name.lower().split()[-1]}_sxm"
    assert found.assumptions[0].startswith(f"gpu: {name!r} taken as {found.key}, the SXM part")
    assert gpu(name) is found


def test_an_unknown_name_is_told_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"^no GPU named 'h21'; nearest: h20"):
        gpu("h21")


@pytest.mark.parametrize(
    "name", ["mi300a", "MI 50", "AMD Radeon 7900", "gaudi3", "Intel Gaudi 2", "tpu_v5e", "Arc A770"]
)
def test_an_unknown_name_of_another_maker_is_told_those_that_the_catalog_has(name):
    with pytest.raises(UnknownNameError) as error:
        gpu(name)
    assert str(error.value) == (
        f"no GPU named {name!r}; those of other makers than NVIDIA are b60, mi100, mi210, mi250, mi300x, mi325x, "
        "mi355x, and a file of one's own works, such as my_gpu.toml"
    )


@pytest.mark.parametrize("name", sorted(set(EVERY) - OF_OTHERS))
def test_no_name_of_nvidia_is_taken_for_one_of_another_maker(name):
    assert not any(map(names.is_of_another_maker, (name, *gpu(name).aliases)))


@pytest.mark.parametrize("name", ["mixed", "b600x", "h21", "minimal"])
def test_other_unknown_names_keep_their_suggestions(name):
    with pytest.raises(UnknownNameError, match=r"; (nearest|known): "):
        gpu(name)


@pytest.mark.parametrize("name", ["", " ", "nvidia", "x" * 5000, "a\0b", "a\nb", "../gpus/h100_sxm", "é", "/"])
def test_a_name_of_nothing_is_told_in_one_line(name):
    with pytest.raises((UnknownNameError, FileFormatError)) as error:
        gpu(name)
    assert "\n" not in str(error.value)


def test_what_is_no_name_at_all_is_told():
    with pytest.raises(FieldError, match="gpu: 7 is not a name or a path"):
        gpu(7)


def test_a_key_reads_its_own_file_alone_and_importing_reads_none():
    script = """
import sys
opened = []
def note(event, args):
    if event == "open" and str(args[0]).endswith("toml"):
        opened.append(str(args[0]))
sys.addaudithook(note)
import synperf.hardware
assert opened == [], opened
synperf.hardware.gpu("h100_sxm")
assert [name for name in opened if "/gpus/" in name.replace(chr(92), "/")] == opened[:1], opened
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_parts_without_tensor_cores_multiply_on_the_fma_pipe():
    assert gpu("p100_pcie").math_pipe(DType.FP16) == "fma"
    assert isclose(gpu("p100_pcie").peak_flop_per_s(DType.FP16), 18.7e12, rel_tol=0.01)
    assert gpu("v100_sxm").math_pipe(DType.INT8) == "fma"
    assert gpu("v100_sxm").math_pipe(DType.FP16) == "tensor"


def test_matrix_cores_multiply_fp32_on_cdna():
    assert gpu("mi100").math_pipe(DType.FP32) == "tensor"
    assert isclose(gpu("mi100").peak_flop_per_s(DType.FP32), 46.1e12, rel_tol=0.01)
    assert isclose(gpu("mi355x").peak_flop_per_s(DType.FP8), 5.03e15, rel_tol=0.01)
    assert gpu("mi300x").cc == gpu("b60").cc == (0, 0)


def test_the_mi250_is_one_of_its_two_dies():
    assert (2 * gpu("mi250").num_sms, 2 * gpu("mi250").dram_bytes_per_s) == (208, 3.2768e12)


def test_a_gpu_goes_to_another_process_and_back():
    one = gpu("h100_sxm")
    again = pickle.loads(pickle.dumps(one))
    assert {f: getattr(again, f) for f in NUMBERS} == {f: getattr(one, f) for f in NUMBERS}
    assert again.tensor_flop_per_clk_per_sm == one.tensor_flop_per_clk_per_sm
    assert again.calibration.launch_floor_s == one.calibration.launch_floor_s
    with pytest.raises(TypeError):
        again.sources["name"] = "changed"


def test_the_gpu_of_a_file_is_found_by_its_key_where_the_file_is_named(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("dram_bytes_per_s = 2e12\ntensor_flop_per_s.bf16 = 5e14\n")
    found = of_keys(["mine", "l4", "mine"], [str(path)])
    assert (list(found), found["mine"].dram_bytes_per_s) == (["l4", "mine"], 2e12)
    with pytest.raises(UnknownNameError, match="no GPU named 'mine'"):
        of_keys(["mine"])


def test_a_format_may_be_given_by_its_name():
    one = gpu("h100_sxm")
    assert one.peak_flop_per_s("bf16") == one.peak_flop_per_s(DType.BF16)
    assert (one.math_pipe("fp32"), one.ridge_flop_per_byte("fp8")) == ("fma", one.ridge_flop_per_byte(DType.FP8))
