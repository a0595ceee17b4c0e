"""`synperf gpus` and `synperf gpu`."""

import json

import pytest

import synperf
from synperf.hardware import DType, keys
from synperf.report import gpus as report

from .runner import assert_refused, invoke


def test_every_gpu_of_the_catalog_has_a_line_below_the_heads():
    seen = invoke("gpus")
    assert (seen.code, seen.err) == (0, "")
    lines = seen.out.splitlines()
    assert lines[0].split() == [
        "key", "name", "architecture", "CC", "SMs", "bf16", "fp8", "DRAM", "bandwidth", "L2", "power",
    ]  # fmt: skip
    assert [line.split()[0] for line in lines[1:]] == list(keys())


def test_json_is_a_list_of_gpus_with_all_fields():
    found = json.loads(invoke("gpus", "--json").out)
    assert [gpu["key"] for gpu in found] == list(keys())
    assert {"num_sms", "dram_bytes_per_s", "tensor_flop_per_clk_per_sm", "sources", "formats"} <= found[0].keys()


def test_filters_keep_what_has_the_property():
    def shown(*options):
        return {gpu["key"] for gpu in json.loads(invoke("gpus", "--json", *options).out)}

    known = synperf.gpus()
    assert shown("--architecture", "Hopper") == {gpu.key for gpu in known if gpu.architecture == "hopper"}
    assert shown("--dtype", "fp8") == {gpu.key for gpu in known if DType.FP8 in gpu.dtypes()}
    assert shown("--min-dram", "80GB") == {gpu.key for gpu in known if gpu.dram_bytes >= 80e9}
    assert shown("--min-dram", "1TB") == set()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--architecture", "hoper"), "architecture: no architecture named 'hoper'; nearest: hopper"),
        (("--dtype", "fp7"), "dtype: no dtype named 'fp7'; nearest: fp"),
        (("--min-dram", "80 stone"), "min-dram: '80 stone' is not a number"),
        (("--min-dram", "80"), "min-dram: '80' is less than 1 MB; right would be 80GB"),
        (("--min-dram", "-5GB"), "min-dram: '-5GB' is less than 1 MB; right would be 80GB"),
    ],
)
def test_a_filter_that_means_nothing_is_refused(options, said):
    seen = invoke("gpus", *options)
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {said}")


def test_one_gpu_shows_every_field_with_its_source():
    seen = invoke("gpu", "h100_sxm")
    assert (seen.code, seen.err) == (0, "")
    assert seen.out == report.to_text(synperf.gpu("h100_sxm")) + "\n"
    for field in ("num_sms", "dram_bytes_per_s", "tensor_flop_per_clk_per_sm.bf16", "max_ctas_per_sm"):
        assert f"\n{field} " in seen.out


def test_a_change_is_shown_and_counts():
    document = json.loads(invoke("gpu", "h100_sxm", "--set", "dram_bytes=192GB", "--json").out)
    assert document["dram_bytes"] == 192e9
    assert document["assumptions"][-1].startswith("dram_bytes: ")


def test_a_gpu_may_be_a_file(tmp_path):
    (tmp_path / "mine.toml").write_text('name = "Mine"\ndram_bytes_per_s = 1e12\n[tensor_flop_per_s]\nbf16 = 1e14\n')
    document = json.loads(invoke("gpu", str(tmp_path / "mine.toml"), "--json").out)
    assert (document["name"], document["dram_bytes_per_s"]) == ("Mine", 1e12)
    assert document["assumptions"]


def test_an_unknown_gpu_is_refused_with_the_nearest():
    seen = invoke("gpu", "h100_sxn")
    assert_refused(seen)
    assert seen.err.startswith("synperf: gpu: no GPU named 'h100_sxn'; nearest: h100_sxm")
