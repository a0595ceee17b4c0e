"""What checkpoints say of their formats, and what is read out of it."""

import pytest

from synperf import FieldError, UnsupportedError, models
from synperf.models import Plan, weights_bytes
from synperf.models.module_names import ModuleNames
from synperf.models.schemes import Scheme, schemes

from .test_config import LLAMA, read, written

FLOAT8 = {"num_bits": 8, "type": "float"}
INT4 = {"num_bits": 4, "type": "int", "group_size": 32, "strategy": "group", "symmetric": True}


def group(weights, activations=None, targets=("Linear",)):
    return {"targets": list(targets), "weights": weights, "input_activations": activations}


def formats(**quantisation):
    """Module -> format of what is quantised in the first layer."""
    found = read(quantization_config=quantisation)
    return {name.removesuffix(".weight").rpartition(".")[2]: s.dtype.value for name, s in found.kinds[0].schemes}


EVERY = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@pytest.mark.parametrize(
    ("quantisation", "dtype"),
    [
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8_block"),
        ({"quant_method": "fp8"}, "fp8"),
        ({"quant_method": "fbgemm_fp8"}, "fp8"),
        ({"quant_method": "mxfp4"}, "mxfp4"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "int4"),
        ({"quant_method": "gptq", "bits": 4, "group_size": -1}, "int4"),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "fp8"),
        ({"quantization": {"quant_algo": "NVFP4", "group_size": 16}}, "nvfp4"),
        ({"quant_method": "modelopt", "quant_algo": "W4A8_AWQ"}, "int4_fp8"),
        ({"quant_method": "compressed-tensors", "config_groups": {"g": group(FLOAT8, FLOAT8)}}, "fp8"),
        ({"config_groups": {"g": group({**FLOAT8, "strategy": "block", "block_structure": [128, 128]})}}, "fp8_block"),
        ({"config_groups": {"g": group(INT4)}}, "int4"),
        ({"config_groups": {"g": group(INT4, FLOAT8)}}, "int4_fp8"),
        ({"config_groups": {"g": group({"num_bits": 8, "type": "int"}, {"num_bits": 8, "type": "int"})}}, "int8"),
        ({"config_groups": {"g": group({"num_bits": 4, "type": "float", "group_size": 16})}}, "nvfp4"),
        ({"config_groups": {"g": group({"num_bits": 4, "type": "float", "group_size": 32})}}, "mxfp4"),
    ],
)
def test_a_way_to_quantise_is_a_format_of_every_linear_layer(quantisation, dtype):
    assert formats(**quantisation) == dict.fromkeys(EVERY, dtype)


@pytest.mark.parametrize(
    "ignored",
    [
        ["model.layers.0.self_attn", "model.layers.1.self_attn"],
        ["model.layers.*.self_attn"],
        ["*self_attn*"],
        ["re:.*self_attn.*"],
        ["re:model\\.layers\\.\\d+\\.self_attn\\..*"],
        ["language_model.model.layers.0.self_attn*", "language_model.model.layers.1.self_attn*"],
        ["q_proj", "k_proj", "v_proj", "o_proj", "lm_head"],
    ],
)
def test_a_list_of_modules_stays_as_it_is(ignored):
    for key in ("ignore", "modules_to_not_convert", "exclude_modules"):
        found = formats(quant_method="fp8", **{key: ignored})
        assert found == dict.fromkeys(("gate_proj", "up_proj", "down_proj"), "fp8")


def test_layers_that_are_stored_otherwise_are_kinds_of_their_own():
    found = read(quantization_config={"quant_method": "fp8", "ignore": ["model.layers.0"]})
    assert [len(layer.schemes) for layer in found.kinds] == [0, 7]
    assert found.order == (0, 1)


def test_groups_have_formats_of_their_own():
    groups = {"a": group(FLOAT8, FLOAT8, ["re:.*self_attn.*"]), "b": group(INT4, None, ["re:.*mlp.*"])}
    found = formats(config_groups=groups)
    assert {found[name] for name in EVERY[:4]} == {"fp8"}
    assert {found[name] for name in EVERY[4:]} == {"int4"}


def test_a_name_is_of_whole_words():
    names = ModuleNames(("mlp.gate", "layers.1.self_attn"))
    assert names.have("layers.3.mlp.gate")
    assert not names.have("layers.3.mlp.gate_proj")
    assert not names.have("layers.10.self_attn.q_proj")


def test_a_cache_in_fp8_is_what_the_checkpoint_says():
    assert read(quantization_config={"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}).kv_dtype == "fp8"
    scheme = {"quant_method": "fp8", "kv_cache_scheme": FLOAT8}
    assert read(quantization_config=scheme).kv_dtype == "fp8"
    assert read(quantization_config={"quant_method": "fp8"}).kv_dtype is None


@pytest.mark.parametrize(
    ("quantisation", "message"),
    [
        ({"quant_method": "bitsandbytes"}, "quant_method 'bitsandbytes' is not known; known: fp8"),
        ({"quant_algo": "MIXED_PRECISION"}, "quant_algo 'MIXED_PRECISION' is not known; known: FP8"),
        ({"quant_method": "gptq", "bits": 3}, "gptq of 3 bits is not known; right would be 4"),
        (
            {"config_groups": {"g": group({"num_bits": 2, "type": "int"})}},
            "weights of 2-bit int with activations of none",
        ),
    ],
)
def test_an_unknown_way_is_named(quantisation, message):
    with pytest.raises(UnsupportedError, match=message):
        read(quantization_config=quantisation)


@pytest.mark.parametrize(
    ("quantisation", "message"),
    [
        ([], r"quantization_config must be an object, got '\[\]'"),
        ({"quant_method": "fp8", "ignore": "lm_head"}, "ignore must be a list of names"),
        ({"quant_method": "fp8", "ignore": ["re:("]}, "no regular expression"),
    ],
)
def test_a_wrong_field_is_named(quantisation, message):
    with pytest.raises(FieldError, match=message):
        read(quantization_config=quantisation)


def test_a_file_beside_the_config_says_it_too(tmp_path):
    written(tmp_path, LLAMA)
    written(tmp_path, {"quantization": {"quant_algo": "FP8"}}, "hf_quant_config.json")
    assert len(models.model(tmp_path).kinds[0].schemes) == 7


def test_scales_take_bytes_as_their_blocks_are():
    block = Scheme(dtype=schemes()["fp8_block"].dtype, rows=128, columns=128, scale_bytes=4)
    q = read(quantization_config={"quant_method": "fp8", "weight_block_size": [128, 128]})
    up = next(w for w in q.layer_weights(q.kinds[0]) if w.name == "mlp.up_proj.weight")
    assert block.bytes(up) == 128 * 64 + 4
    group_of_32 = Scheme(dtype=schemes()["mxfp4"].dtype, columns=32, scale_bytes=1)
    assert group_of_32.bytes(up) == 128 * 64 / 2 + 128 * 2


@pytest.mark.parametrize("dtype", sorted(schemes()))
def test_a_plan_may_ask_for_any_format_of_weights(dtype):
    llama = models.model("Llama-3.1-8B")
    assert weights_bytes(llama, Plan(dtype=dtype)) < 0.6 * weights_bytes(llama, Plan())
