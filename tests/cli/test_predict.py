"""`synperf predict`, one kernel at a time."""

import json

import pytest

import synperf
from synperf.report import estimates

from .runner import assert_refused, invoke

SIZES = ("gemm", "m=4096", "n=4096", "k=4096")
CALL = synperf.Gemm(m=4096, n=4096, k=4096)


def test_the_answer_comes_first_then_what_it_rests_on():
    seen = invoke("predict", *SIZES, "--gpu", "h100_sxm")
    gpu = synperf.gpu("h100_sxm")
    assert (seen.code, seen.err) == (0, "")
    assert seen.out == estimates.to_text(CALL, gpu, synperf.predict(CALL, gpu)) + "\n"


def test_json_is_one_document_with_the_keys_of_the_contract():
    seen = invoke("predict", *SIZES, "--gpu", "h100_sxm", "--json")
    document = json.loads(seen.out)
    assert list(document) == [
        "family", "gpu", "engine", "kernel", "params", "time_s", "low_s", "high_s", "floor_s", "efficiency",
        "limiter", "origin", "extrapolating", "outside", "assumptions", "versions",
    ]  # fmt: skip
    expected = synperf.predict(CALL, "h100_sxm")
    assert document["time_s"] == expected.time_s
    assert document["low_s"] <= document["time_s"] <= document["high_s"]
    assert document["params"]["m"] == 4096
    assert document["params"]["dtype"] == "bf16"
    assert document["params"]["tile_m"] is None
    assert (document["gpu"], document["engine"], document["kernel"]) == ("h100_sxm", "torch", "cublas")
    assert document["versions"]["synperf"] == synperf.__version__


@pytest.mark.parametrize("text", ["m=14.0", "m=1.4e1", "m= 14 ", "m=14"])
def test_a_whole_number_may_be_written_in_several_ways(text):
    seen = invoke("predict", "gemm", text, "n=1", "k=1", "--gpu", "h100_sxm", "--json")
    assert json.loads(seen.out)["params"]["m"] == 14


def test_a_changed_gpu_is_named_so_and_faster():
    plain = json.loads(invoke("predict", *SIZES, "--gpu", "h100_sxm", "--json").out)
    changes = ("--set", "num_sms=2x", "--set", "dram_bytes_per_s=2x")
    changed = json.loads(invoke("predict", *SIZES, "--gpu", "h100_sxm", *changes, "--json").out)
    assert changed["gpu"] == "h100_sxm_what_if"
    assert changed["time_s"] < plain["time_s"]
    assert any("num_sms" in text for text in changed["assumptions"])


def test_a_bare_name_means_the_sxm_part_and_says_so():
    document = json.loads(invoke("predict", *SIZES, "--gpu", "H100", "--json").out)
    assert document["gpu"] == "h100_sxm"
    assert "SXM" in document["assumptions"][0]


def test_options_may_stand_before_the_call():
    assert invoke("predict", "--gpu", "h100_sxm", *SIZES) == invoke("predict", *SIZES, "--gpu", "h100_sxm")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "family: none given; right would be a name from `synperf kernels`, such as gemm"),
        (("m=1", "n=1", "k=1"), "family: 'm=1' is KEY=VALUE; the family comes before it, such as gemm"),
        (("gem", "m=1"), "no kernel family named 'gem'; nearest: gemm"),
        (("gemm", "m=1"), "gemm: missing n, k"),
        (("gemm", "m=1", "n=1", "kk=1"), "gemm: no field named 'kk'; nearest: k"),
        (("gemm", "m=0", "n=1", "k=1"), "m must be a whole number from 1 to 2147483647, got '0'"),
        (("gemm", "m=-4", "n=1", "k=1"), "m must be a whole number from 1 to 2147483647, got '-4'"),
        (("gemm", "m=1.5", "n=1", "k=1"), "m must be a whole number from 1 to 2147483647, got '1.5'"),
        (("gemm", "m=1,2", "n=1", "k=1"), "m must be a whole number from 1 to 2147483647, got '1,2'"),
        (("gemm", "m=1_0", "n=1", "k=1"), "m must be a whole number from 1 to 2147483647, got '1_0'"),
        (("gemm", "m=nan", "n=1", "k=1"), "m must be a whole number from 1 to 2147483647, got 'nan'"),
        (("gemm", "m=2147483648", "n=1", "k=1"), "m must be a whole number from 1 to 2147483647, got '2147483648'"),
        (("gemm", "m=1", "m=2", "n=1", "k=1"), "m is given twice, as 1 and as 2"),
        (("gemm", "m=", "n=1", "k=1"), "'m=' is not KEY=VALUE, such as m=4096"),
        (("gemm", "=1", "n=1", "k=1"), "'=1' is not KEY=VALUE, such as m=4096"),
        (("gemm", "m", "n=1", "k=1"), "'m' is not KEY=VALUE, such as m=4096"),
        ((*SIZES, "dtype=bf61"), "dtype: no dtype named 'bf61'; nearest: bf16"),
        ((*SIZES, "engine=vlm"), "engine: no engine named 'vlm'; nearest: vllm"),
        ((*SIZES, "kernel=cubla"), "kernel: no gemm kernel named 'cubla'; nearest: cublas"),
        ((*SIZES, "--origin", "analitical"), "origin: no estimator named 'analitical'; nearest: analytical"),
        ((*SIZES, "--set", "num_sm=2x"), "--set: unknown field 'num_sm'; nearest: num_sms"),
        ((*SIZES, "--out", "x.csv"), "out: it is for a table; right would be --calls FILE with it"),
    ],
)
def test_bad_input_names_the_field_and_what_would_be_right(arguments, said):
    seen = invoke("predict", *arguments, "--gpu", "h100_sxm")
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {said}")


def test_a_gpu_must_be_given_and_known():
    assert invoke("predict", *SIZES).err.startswith("synperf: gpu: none given; right would be --gpu NAME")
    assert invoke("predict", *SIZES, "--gpu", "h21").err.startswith("synperf: gpu: no GPU named 'h21'; nearest: h20")


def test_a_format_that_the_gpu_lacks_is_refused_with_those_that_it_has():
    seen = invoke("predict", *SIZES, "dtype=fp8", "--gpu", "a100_sxm")
    assert_refused(seen)
    assert seen.err.startswith("synperf: dtype: A100 SXM 80GB has no fp8 math; it has ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"name = ", "mine.toml"),
        (b"\xff\xfe", "mine.toml"),
        (b"", "mine.toml"),
        (b'name = "x"\nnum_sms = 0', "num_sms"),
        (b'name = "x"\nnum_smss = 8', "num_sms"),
    ],
)
def test_a_broken_gpu_file_is_refused_by_name(tmp_path, text, said):
    (tmp_path / "mine.toml").write_bytes(text)
    seen = invoke("predict", *SIZES, "--gpu", str(tmp_path / "mine.toml"))
    assert_refused(seen)
    assert said in seen.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--set", "num_sms=160", "--set", "num_sms =80"), "--set: num_sms is given twice, as 'num_sms=160' and as"),
        (("--gpu", "a100_sxm"), "gpu is given twice; right would be --gpu once"),
        (("--origin", "analytical", "--origin=analytical"), "origin is given twice; right would be --origin once"),
    ],
)
def test_what_has_one_value_is_not_given_twice(options, said):
    for call in (("predict", *SIZES), ("explain", *SIZES), ("predict", "--calls", "none.csv")):
        seen = invoke(*call, "--gpu", "h100_sxm", *options)
        assert_refused(seen)
        assert seen.err.startswith(f"synperf: {said}")


def test_the_table_may_not_replace_the_tile_profile(tmp_path):
    tiles = tmp_path / "tiles.csv"
    tiles.write_text("anything")
    options = ("--calls", "-", "--gpu", "h100_sxm", "--tile-profile", str(tiles), "--out", str(tiles))
    seen = invoke("predict", *options, stdin=b"family,m,n,k\n")
    assert_refused(seen)
    assert seen.err.endswith("is the file of --tile-profile itself; name another\n")
