"""A config.json by path, folder and name; and what is not one, refused in one sentence."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf import FieldError, FileFormatError, PerfError, UnknownNameError, UnsupportedError, models
from synperf.models import catalog, parameters
from synperf.models.config import Config
from synperf.models.read import of_config

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 100,
    "torch_dtype": "bfloat16",
}


def written(folder, values, name="config.json"):
    path = folder / name
    path.write_text(values if isinstance(values, str) else json.dumps(values))
    return path


def read(**changes):
    values = {key: value for key, value in {**LLAMA, **changes}.items() if value is not ...}
    return of_config(Config("toy", "toy", values))


def test_a_toy_has_as_many_parameters_as_by_hand():
    attention = 64 * 64 + 2 * 64 * 32 + 64 * 64
    assert parameters(read()) == 2 * (attention + 3 * 64 * 128 + 2 * 64) + 2 * 100 * 64 + 64
    assert parameters(read(tie_word_embeddings=True)) == parameters(read()) - 6400
    assert parameters(read(attention_bias=True)) == parameters(read()) + 2 * (64 + 32 + 32 + 64)
    assert parameters(read(head_dim=32)) == parameters(read()) + 2 * attention


def test_a_path_a_folder_and_a_name_of_a_folder_are_one(tmp_path):
    path = written(tmp_path, LLAMA)
    found = [models.model(source) for source in (path, tmp_path, str(path), str(tmp_path))]
    assert len(set(found)) == 1
    assert found[0].name == tmp_path.name


def test_case_owner_and_separators_of_a_name_may_be_left_out():
    names = ("Qwen/Qwen3-32B", "qwen3-32b", "QWEN3_32B", "Qwen3 32B")
    assert len({models.model(name).name for name in names}) == 1
    assert models.model("zhipuai/GLM-5").name == "zai-org/GLM-5"
    assert models.model("facebook/opt-13b") != models.model("facebook/opt-1.3b")


def test_an_unknown_name_has_the_nearest_ones():
    with pytest.raises(UnknownNameError, match=r"no model named 'qwen3-33b'; nearest: .*qwen3-32b"):
        models.model("Qwen/qwen3-33b")


def test_an_unknown_architecture_is_named_with_the_fields_that_it_lacks():
    with pytest.raises(UnsupportedError, match=r"no architecture named 'FooForCausalLM'; .*it lacks vocab_size$"):
        read(architectures=["FooForCausalLM"], vocab_size=...)
    with pytest.raises(UnsupportedError, match="it has the usual fields"):
        read(architectures=["FooForCausalLM"])


def test_all_fields_that_are_missing_are_named_at_once_as_the_architecture_spells_them():
    with pytest.raises(FieldError, match=r"^toy: LlamaForCausalLM needs .*: num_hidden_layers, vocab_size$"):
        read(num_hidden_layers=..., vocab_size=...)
    with pytest.raises(FieldError, match="n_embd"):
        read(architectures=["GPT2LMHeadModel"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"architectures": ...}, "architectures is missing"),
        ({"hidden_size": -1}, "hidden_size must be a whole number from 1 to 2147483647, got '-1'"),
        ({"hidden_size": "64"}, "hidden_size must be a whole number"),
        ({"hidden_size": float("nan")}, "hidden_size must be a whole number"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers must be a whole number from 1 to 10000"),
        ({"num_attention_heads": 5}, "hidden_size must be a multiple of num_attention_heads"),
        ({"num_key_value_heads": 3}, "num_key_value_heads must be a divisor of the 4 heads, got '3'"),
        ({"hidden_act": "tan"}, "hidden_act must be one of"),
        ({"torch_dtype": "int3"}, "torch_dtype must be one of float32"),
        ({"tie_word_embeddings": 1}, "tie_word_embeddings must be true or false, got '1'"),
        ({"layer_types": 3}, "layer_types must be a list"),
        ({"layer_types": ["linear_attention"] * 2}, "layer_types must be a list without linear_attention"),
    ],
)
def test_a_wrong_field_is_named(changes, message):
    with pytest.raises(FieldError, match=re.escape(message)):
        read(**changes)


def test_more_experts_than_there_are_cannot_be_chosen():
    with pytest.raises(FieldError, match="num_experts_per_tok must be up to the 4 experts, got '8'"):
        read(architectures=["MixtralForCausalLM"], num_local_experts=4, num_experts_per_tok=8)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[1]", "not a JSON object"),
        ("\xff", "not JSON"),
        ('{"a": ' + "9" * 5000 + "}", "not JSON"),
    ],
)
def test_what_is_no_config_is_refused(tmp_path, text, message):
    path = tmp_path / "config.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(FileFormatError, match=message):
        models.model(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="no such file"):
        models.model(tmp_path / "config.json")
    with pytest.raises(FileFormatError, match="no such file"):
        models.model(tmp_path)
    with pytest.raises(FieldError, match="not a name or a path"):
        models.model(" ")


def test_infinity_is_read_as_transformers_writes_it(tmp_path):
    path = written(tmp_path, json.dumps({**LLAMA, "time_step_limit": [0.0, float("inf")]}))
    assert parameters(models.model(path)) == parameters(read())


def test_of_a_model_that_sees_the_language_model_is_read_and_that_is_said():
    text = {key: value for key, value in LLAMA.items() if key != "architectures"}
    seeing = {"architectures": ["Qwen3VLForConditionalGeneration"], "text_config": text, "vision_config": {"depth": 2}}
    found = models.read.of_config(models.config._of_language(Config("toy", "toy", seeing)))
    assert found.assumptions == ("model: the language model of toy alone; what sees or hears is left out",)


@given(st.dictionaries(st.sampled_from([*LLAMA, "head_dim", "quantization_config", "layer_types"]), st.none()
       | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers())))  # fmt: skip
def test_any_values_give_a_model_or_a_sentence(values):
    try:
        read(**values)
    except PerfError as error:
        assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize("name", models.names())
def test_every_model_of_the_catalog_is_read_and_named(name):
    found = models.model(name)
    assert found.name == name
    assert found.num_layers == len(found.order)
    assert max(found.order) == len(found.kinds) - 1


def test_the_catalog_has_forty_models_and_the_families_that_are_promised():
    assert len(models.names()) >= 40
    known = catalog.architectures()
    for name in ("Llama", "Qwen2", "Qwen3", "Mistral", "Gemma", "Gemma2", "Phi3", "Glm", "Glm4", "Mixtral", "Qwen3Moe",
                 "DeepseekV3", "GptOss", "MiniMaxM2"):  # fmt: skip
        assert f"{name}ForCausalLM" in known
    assert {"BertModel", "KimiK25ForConditionalGeneration"} <= known.keys()


def test_an_architecture_is_in_one_file_of_the_catalog():
    listed = [name for family in catalog.families().values() for name in family.traits.architectures]
    assert len(listed) == len(set(listed))
    spelled = [alias for entry in catalog.entries().values() for alias in entry.aliases]
    assert len(spelled) == len(set(spelled))
    assert set(spelled).isdisjoint(catalog.entries())


def test_configs_that_a_measured_package_has_are_those_of_the_catalog():
    core = pytest.importorskip("aiconfigurator_core", reason="needs the extra [data]")
    checked = 0
    for path in sorted((Path(core.__file__).parent / "model_configs").glob("*_config.json")):
        name = path.name.removesuffix("_config.json").replace("--", "/")
        if name.endswith("_hf_quant") or path.with_name(path.name.replace("_config", "_hf_quant_config")).exists():
            continue
        try:
            known, found = models.model(name), models.model(path)
        except (UnknownNameError, UnsupportedError):
            continue
        assert (found.kinds, found.order, found.head, found.dtype) == (
            known.kinds,
            known.order,
            known.head,
            known.dtype,
        )
        checked += 1
    assert checked >= 25
