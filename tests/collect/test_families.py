"""What is timed computes what its family means, and its tensors are those that the plan counts."""

import pytest
import torch
from torch.nn.functional import gelu, silu

from synperf.collect.families import families, family
from synperf.collect.source import Source

CPU = torch.device("cpu")


class Kept(Source):
    """Keeps the tensors that it makes, in their order."""

    def __init__(self):
        super().__init__(CPU)
        self.made = []

    def _counted(self, tensor):
        self.made.append(tensor)
        return super()._counted(tensor)


def run(name, **fields):
    """(the tensors of a call after it ran, its result)."""
    source = Kept()
    result = family(name).make(fields, source).run()
    return source.made, result


@pytest.mark.parametrize("name", sorted(families()))
def test_the_first_call_of_a_family_runs_and_has_the_bytes_that_its_plan_counts(name):
    timed, planned, made = family(name), Source(torch.device("meta")), Source(CPU)
    fields = timed.cases({}, "fp32")[0]
    timed.make(fields, planned)
    assert timed.make(fields, made).library
    timed.make(fields, Source(CPU)).run()
    assert planned.bytes == made.bytes > 0
    assert timed.flop(fields) >= 0


def test_gated_activations_are_of_the_first_half_of_each_row_times_the_second():
    for name, activation in (("silu_mul", silu), ("gelu_mul", lambda x: gelu(x, approximate="tanh"))):
        (x, out), _ = run(name, rows=3, dim=4, dtype="fp32")
        assert torch.allclose(out, activation(x[:, :4]) * x[:, 4:])


def test_rope_turns_the_pairs_of_both_halves():
    (x, cos, sin, out), _ = run("rope", rows=3, dim=8, dtype="fp32")
    first, second = x[:, :4], x[:, 4:]
    assert torch.allclose(out, torch.cat([first * cos - second * sin, second * cos + first * sin], dim=1))


def test_a_product_is_with_weights_that_lie_by_output():
    (a, b, out), _ = run("gemm", m=3, n=5, k=7, batch=2, dtype="fp32")
    assert torch.allclose(out, a @ b.transpose(1, 2), atol=1e-6)


def test_a_causal_mask_is_only_where_queries_are_as_many_as_keys():
    sizes = {"batch": 2, "heads": 4, "kv_heads": 2, "head_dim": 8, "dtype": "fp32", "causal": True}
    for q_len, kv_len in ((5, 5), (1, 5)):
        (q, k, v, _), out = run("attention", q_len=q_len, kv_len=kv_len, **sizes)
        k, v = (one.repeat_interleave(2, dim=1) for one in (k, v))
        scores = q @ k.transpose(2, 3) / 8**0.5
        seen = torch.ones(q_len, kv_len).tril(kv_len - q_len) > 0
        assert torch.allclose(out, scores.masked_fill(~seen, -torch.inf).softmax(-1) @ v, atol=1e-5)


def test_a_reduction_is_along_its_axis():
    for axis in (0, 1):
        (x, out), _ = run("reduction", rows=3, dim=4, axis=axis, dtype="fp32")
        assert torch.allclose(out, x.sum(axis), atol=1e-6)


def test_a_quantised_result_has_the_narrow_format():
    for quant_dtype in ("fp8", "int8"):
        (x, out), _ = run("quantize", rows=3, dim=4, quant_dtype=quant_dtype, dtype="fp32")
        assert out.element_size() == 1 < x.element_size()
