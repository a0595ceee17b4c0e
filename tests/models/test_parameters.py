"""Totals of parameters as the makers publish them, to the digit where a checkpoint's header says them."""

import pytest

from synperf import models
from synperf.models import Plan, active_parameters, flop_per_token, linear_parameters, parameters

PUBLISHED = {  # num_parameters of the checkpoint on the Hub, MTP layers and towers that see left out
    "Qwen/Qwen2.5-14B": 14_770_033_664,
    "Qwen/Qwen2.5-32B": 32_763_876_352,
    "Qwen/Qwen3-14B": 14_768_307_200,
    "Qwen/Qwen3-32B": 32_762_123_264,
    "meta-llama/Llama-3.1-8B": 8_030_261_248,
    "meta-llama/Llama-3.1-70B": 70_553_706_496,
    "Qwen/Qwen2-72B": 72_706_203_648,
    "meta-llama/Llama-2-7b-hf": 6_738_415_616,
    "meta-llama/Llama-2-13b-hf": 13_015_864_320,
    "meta-llama/Llama-2-70b-hf": 68_976_648_192,
    "meta-llama/Meta-Llama-3-8B": 8_030_261_248,
    "meta-llama/Meta-Llama-3-70B": 70_553_706_496,
    "meta-llama/Llama-3.1-405B": 405_853_388_800,
    "meta-llama/Llama-3.2-1B": 1_235_814_400,
    "meta-llama/Llama-3.2-3B": 3_212_749_824,
    "codellama/CodeLlama-34b-hf": 33_743_970_304,
    "01-ai/Yi-34B": 34_388_917_248,
    "deepseek-ai/deepseek-coder-33b-base": 33_342_991_360,
    "TinyLlama/TinyLlama-1.1B-Chat-v1.0": 1_100_048_384,
    "HuggingFaceTB/SmolLM2-1.7B": 1_711_376_384,
    "HuggingFaceTB/SmolLM2-135M": 134_515_008,
    "mistralai/Mistral-7B-v0.1": 7_241_732_096,
    "mistralai/Mistral-7B-v0.3": 7_248_023_552,
    "mistralai/Mistral-Nemo-Base-2407": 12_247_782_400,
    "mistralai/Mistral-Small-24B-Base-2501": 23_572_403_200,
    "mistralai/Codestral-22B-v0.1": 22_247_282_688,
    "mistralai/Mistral-Large-Instruct-2407": 122_610_069_504,
    "mistralai/Mixtral-8x7B-v0.1": 46_702_792_704,
    "mistralai/Mixtral-8x22B-v0.1": 140_620_634_112,
    "mistralai/Mixtral-8x22B-Instruct-v0.1": 140_630_071_296,
    "Qwen/Qwen2.5-0.5B": 494_032_768,
    "Qwen/Qwen2.5-1.5B": 1_543_714_304,
    "Qwen/Qwen2.5-3B": 3_085_938_688,
    "Qwen/Qwen2.5-7B": 7_615_616_512,
    "Qwen/Qwen1.5-MoE-A2.7B": 14_315_784_192,
    "Qwen/Qwen3-0.6B": 596_049_920,
    "Qwen/Qwen3-1.7B": 1_720_574_976,
    "Qwen/Qwen3-4B": 4_022_468_096,
    "Qwen/Qwen3-8B": 8_190_735_360,
    "Qwen/Qwen3-30B-A3B": 30_532_122_624,
    "Qwen/Qwen3-235B-A22B": 235_093_634_560,
    "Qwen/Qwen3-Coder-480B-A35B-Instruct": 480_154_875_392,
    "Qwen/Qwen3-Next-80B-A3B-Instruct": 79_674_391_296,
    "google/gemma-2b": 2_506_172_416,
    "google/gemma-7b": 8_537_680_896,
    "google/gemma-2-2b": 2_614_341_888,
    "google/gemma-2-9b": 9_241_705_984,
    "google/gemma-2-27b": 27_227_128_320,
    "google/gemma-3-1b-it": 999_885_952,
    "microsoft/phi-2": 2_779_683_840,
    "microsoft/Phi-3-mini-4k-instruct": 3_821_079_552,
    "microsoft/Phi-3-medium-128k-instruct": 13_960_238_080,
    "microsoft/phi-4": 14_659_507_200,
    "microsoft/Phi-4-mini-instruct": 3_836_021_760,
    "zai-org/glm-4-9b-chat": 9_399_951_360,
    "zai-org/glm-4-9b-chat-hf": 9_399_951_360,
    "zai-org/GLM-4-9B-0414": 9_400_279_040,
    "zai-org/GLM-4-32B-0414": 32_566_081_536,
    "deepseek-ai/DeepSeek-V2-Lite": 15_706_484_224,
    "deepseek-ai/DeepSeek-V2": 235_741_434_880,
    "deepseek-ai/DeepSeek-V3": 671_026_419_200,
    "moonshotai/Kimi-K2-Instruct": 1_026_408_232_448,
    "openai/gpt-oss-20b": 20_914_757_184,
    "openai/gpt-oss-120b": 116_829_156_672,
    "BAAI/bge-large-en-v1.5": 335_141_888,
    "google-bert/bert-base-uncased": 109_514_298,
    "google-bert/bert-large-uncased": 335_174_458,
    "BAAI/bge-m3": 567_754_752,
    "openai-community/gpt2": 124_439_808,
    "openai-community/gpt2-large": 774_030_080,
    "openai-community/gpt2-xl": 1_557_611_200,
    "facebook/opt-125m": 125_239_296,
    "facebook/opt-1.3b": 1_315_758_080,
    "facebook/opt-6.7b": 6_658_473_984,
    "facebook/opt-13b": 12_853_473_280,
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": 107_769_861_120,
    "microsoft/Phi-3.5-MoE-instruct": 41_873_153_344,
}
NAMED = {  # what a model card or a model's name says: 106B
    "zai-org/GLM-4.5-Air": 106e9,
    "MiniMaxAI/MiniMax-M2": 229e9,
    "Qwen/Qwen2-57B-A14B": 57.4e9,
    "deepseek-ai/deepseek-llm-67b-base": 67.4e9,
    "Qwen/Qwen3.5-27B": 27e9,
    "Qwen/Qwen3.5-35B-A3B": 34.7e9,
    "Qwen/Qwen3.5-122B-A10B": 122e9,
    "Qwen/Qwen3.5-397B-A17B": 396e9,
    "zai-org/GLM-5": 744e9,
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct": 400e9,
}
ACTIVE = {  # billions of parameters that a token meets
    "deepseek-ai/DeepSeek-V3": 37,
    "Qwen/Qwen3-30B-A3B": 3.3,
    "Qwen/Qwen3-235B-A22B": 22,
    "Qwen/Qwen3-Coder-480B-A35B-Instruct": 35,
    "moonshotai/Kimi-K2-Instruct": 32,
    "mistralai/Mixtral-8x22B-v0.1": 39,
    "zai-org/GLM-4.5-Air": 13,
    "zai-org/GLM-4.5": 33,
    "zai-org/GLM-5": 40,
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": 17,
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct": 17,
    "microsoft/Phi-3.5-MoE-instruct": 6.6,
}
# SigLIP of Gemma 3: patches, positions, 27 layers, a norm; then a norm and a projection to the hidden size.
SIGLIP = 588 * 1152 + 1152 + 4096 * 1152 + 27 * (4 * (1152**2 + 1152) + 2 * 1152 * 4304 + 4304 + 5 * 1152) + 2304


def total(name):
    return parameters(models.model(name))


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters_are_those_of_the_checkpoint_to_the_digit(name):
    assert total(name) == PUBLISHED[name]


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("huggyllama/llama-7b", "meta-llama/Llama-2-7b-hf"),
        ("Qwen/Qwen3.6-27B", "Qwen/Qwen3.5-27B"),
        ("Mixtral-8x7B", "mistralai/Mixtral-8x7B-v0.1"),
    ],
)
def test_models_of_one_shape_have_one_total(alias, name):
    assert total(alias) == total(name)


@pytest.mark.parametrize("name", NAMED)
def test_parameters_are_about_what_the_model_is_named_after(name):
    assert total(name) == pytest.approx(NAMED[name], rel=0.01)


@pytest.mark.parametrize(
    ("name", "hidden", "published"),
    [
        ("google/gemma-3-4b-it", 2560, 4_300_079_472),
        ("google/gemma-3-12b-it", 3840, 12_187_325_040),
        ("google/gemma-3-27b-it", 5376, 27_432_406_640),
    ],
)
def test_gemma_3_and_its_vision_tower_are_the_checkpoint(name, hidden, published):
    assert total(name) + SIGLIP + 1152 * hidden + 1152 == published


def test_glm_4_5_air_and_the_layer_that_predicts_further_are_the_checkpoint():
    h, inter = 4096, 1408
    experts = 129 * 3 * h * inter + 128 * h + 128
    attention = 96 * 128 * (h + 1) + 2 * 8 * 128 * (h + 1) + 96 * 128 * h
    assert total("zai-org/GLM-4.5-Air") + experts + attention + 2 * h + 2 * h * h + 3 * h + 2 * 151552 * h == (
        110_468_824_832
    )


@pytest.mark.parametrize("name", ACTIVE)
def test_a_token_meets_as_many_parameters_as_the_model_card_says(name):
    assert active_parameters(models.model(name)) / 1e9 == pytest.approx(ACTIVE[name], rel=0.05)


def test_of_gpt_oss_a_token_meets_what_the_model_card_says():
    """Without the table of embeddings, as the card counts."""
    for name, card, vocab in (("gpt-oss-120b", 5.13e9, 201088), ("gpt-oss-20b", 3.61e9, 201088)):
        assert active_parameters(models.model(name)) - vocab * 2880 == pytest.approx(card, rel=0.002)


def test_every_model_of_the_catalog_has_a_total_that_is_checked():
    checked = {*PUBLISHED, *NAMED, *ACTIVE, *(n for n in models.names() if n.startswith("google/gemma-3"))}
    totals = {total(name) for name in checked}
    unchecked = [name for name in models.names() if total(name) not in totals]
    assert unchecked == ["deepseek-ai/DeepSeek-V3.2"]
    assert total("deepseek-ai/DeepSeek-V3.2") - total("deepseek-ai/DeepSeek-V3") == 61 * (
        64 * 128 * 1536 + 128 * 7168 + 64 * 7168 + 2 * 128
    )


def test_mixtral_reads_two_of_eight_experts():
    mixtral = models.model("Mixtral-8x7B")
    assert parameters(mixtral) / 1e9 == pytest.approx(46.7, rel=0.01)
    assert active_parameters(mixtral) / 1e9 == pytest.approx(12.88, rel=0.01)
    active_s = active_parameters(mixtral) * 2 / 2 / 2039e9
    assert active_s * 1e3 == pytest.approx(6.32, rel=0.02)
    assert 1 / active_s == pytest.approx(158, rel=0.02)
    read = models.pass_bytes(mixtral, Plan(tp=2), models.decode([1]))
    assert read / 2039e9 * 1e3 == pytest.approx(6.32, rel=0.02)
    assert models.weights_bytes(mixtral, Plan(tp=2)) / 2039e9 * 1e3 == pytest.approx(22.9, rel=0.02)


def test_llama_70b_computes_139_gflop_for_a_token():
    llama = models.model("Llama-3.1-70B")
    assert linear_parameters(llama) == 68_451_041_280
    assert flop_per_token(llama) == 2 * (68_451_041_280 + 1_050_673_152)
    at_8192 = models.pass_flop(llama, models.decode([8192])) - 2 * linear_parameters(llama)
    assert at_8192 == pytest.approx(21.47e9, rel=1e-3)
