"""What a network sees of linear attention beyond the demand on pipes: extents, chunks in a row, states."""

from __future__ import annotations

from ..hardware import GPU
from ..numeric import Number, ceil_div, minimum
from .linear_attention_call import LinearAttention
from .linear_attention_traits import style
from .linear_attention_work import between_bytes, chunks, compulsory_bytes, state_values, token_bytes

STEPPED = ("tokens", "batch", "seq_len", "units_per_sm", "chains_per_sm", "math_over_dram", "compulsory_over_l2")

TOKENS = 8  # that a CTA of the short convolution takes


def inputs(p: LinearAttention, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:  # noqa: ARG001
    """Inputs by name; `base_s` is what times are relative to."""
    k = style(gpu, p.dtype, p.engine, p.kernel)
    units = p.batch * chunks(p) * p.heads / gpu.num_sms
    chains = p.batch * p.heads * ceil_div(1.0 * p.head_dim, k.columns) / gpu.num_sms
    found = {
        "tokens": p.tokens,
        "batch": 1.0 * p.batch,
        "seq_len": 1.0 * p.seq_len,
        "heads": 1.0 * p.heads,
        "groups": 1.0 * p.groups,
        "channels": p.channels,
        "token_time": p.tokens * token_bytes(p) / gpu.dram_bytes_per_s / base_s,
        "state_time": state_values(p) * k.state_bytes / gpu.dram_bytes_per_s / base_s,
        "state_over_l2": state_values(p) * k.state_bytes / gpu.l2_bytes,
        "compulsory_over_l2": minimum(compulsory_bytes(p) / gpu.l2_bytes, 8.0),
        "units_per_sm": units,
    }
    if p.convolves:
        ctas = p.batch * ceil_div(1.0 * p.seq_len, TOKENS) * ceil_div(p.channels, k.columns) / gpu.num_sms
        return found | {"chains_per_sm": ctas, "chain_fill": ctas / ceil_div(ctas, 1.0)}
    return found | {
        "chunks": chunks(p),
        "chunk_rows": minimum(1.0 * p.seq_len, 1.0 * p.chunk),
        "chains_per_sm": chains,
        "chain_fill": chains / ceil_div(chains, 1.0),
        "steps_in_a_row": ceil_div(chains, 1.0) * chunks(p),
        "unit_waves": ceil_div(units, 1.0),
        "between_time": between_bytes(p, p.tokens) / gpu.dram_bytes_per_s / base_s,
        "between_over_l2": between_bytes(p, p.tokens) / gpu.l2_bytes,
    }
