"""Plans that do not go with a model are refused in one sentence that says what would."""

import re

import pytest

from synperf import FieldError, models
from synperf.errors import UnknownNameError
from synperf.models import Plan, check, stages


@pytest.mark.parametrize(
    ("name", "plan", "message"),
    [
        ("Qwen2.5-14B", Plan(tp=3), "tp must divide the 40 heads of Qwen/Qwen2.5-14B, got 3; right would be 1, 2, 4"),
        ("Qwen3-30B-A3B", Plan(ep=1, tp=64), "tp must divide the 32 heads of Qwen/Qwen3-30B-A3B, got 64"),
        ("Llama-3.1-8B", Plan(ep=2, tp=2), "ep must be 1 for meta-llama/Llama-3.1-8B, which has no experts, got 2"),
        ("Llama-3.1-8B", Plan(pp=33), "pp must be up to the 32 layers of meta-llama/Llama-3.1-8B, got 33"),
        ("Qwen1.5-MoE-A2.7B", Plan(tp=8, ep=8), "ep must divide the 60 experts of Qwen/Qwen1.5-MoE-A2.7B, got 8"),
        ("Qwen3-235B-A22B", Plan(dp=5), "tp x dp / ep must divide the 1536 intermediate values of an expert"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(name, plan, message):
    with pytest.raises(FieldError, match=re.escape(message)):
        check(models.model(name), plan)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tp": 0}, "tp must be a whole number from 1 to 65536, got 0"),
        ({"pp": -1}, "pp must be a whole number from 1 to 65536, got -1"),
        ({"tp": 2, "ep": 3}, "ep must divide tp x dp, which is 2, got 3"),
        ({"dtype": "fp9"}, "dtype"),
        ({"engine": "vlm"}, "engine: no engine named 'vlm'; nearest: vllm"),
        ({"dispatch": "pigeons"}, "dispatch must be one of all_gather, all_to_all, got 'pigeons'"),
    ],
)
def test_fields_of_a_plan_are_checked(fields, message):
    with pytest.raises(FieldError, match=re.escape(message)):
        Plan(**fields)


@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        ({"link": "nvlink_brige"}, UnknownNameError, "no link named 'nvlink_brige'; nearest: nvlink_bridge"),
        ({"link": "roce_100"}, FieldError, "link: roce_100 joins nodes; right would be network=roce_100"),
        ({"link": 4}, FieldError, "link"),
        ({"network": "nvlink4"}, UnknownNameError, "no network named 'nvlink4'"),
    ],
)
def test_links_of_a_plan_are_named_ones(fields, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        Plan(**fields)


def test_a_link_of_a_plan_is_read_by_any_of_its_names():
    assert (Plan(link="PCIE4-no-P2P").link, Plan(network="RoCE 100").network) == ("pcie4_host", "roce_100")


@pytest.mark.parametrize(
    ("layers", "pp"), [(layers, pp) for layers in (1, 7, 61, 80) for pp in (1, 2, 3, 5) if pp <= layers]
)
def test_stages_are_all_layers_once_and_even(layers, pp):
    spans = stages(layers, pp)
    assert [layer for span in spans for layer in span] == list(range(layers))
    assert max(map(len, spans)) - min(map(len, spans)) <= 1


@pytest.mark.parametrize("fields", [{"q_len": 0}, {"kv_len": -1}, {"count": 0}, {"q_len": 9}])
def test_requests_have_lengths_from_one_on(fields):
    with pytest.raises(FieldError):
        models.Requests(**{"kv_len": 8, **fields})


def test_a_batch_has_requests():
    with pytest.raises(FieldError, match="requests must have one or more"):
        models.prefill([])


def test_columns_of_a_batch_have_one_length():
    short, long = models.Requests(kv_len=[1, 2]), models.Requests(kv_len=[1, 2, 3])
    with pytest.raises(FieldError, match="columns of one length, got 2 and 3"):
        models.Batch((short, long))
