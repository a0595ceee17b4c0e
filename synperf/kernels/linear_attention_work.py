"""What linear attention must read, write and compute: the chunked scan, the recurrent step, and the short convolution.

Of a chunk of c tokens, per head with K = state_dim and V = head_dim: Mamba-2 multiplies C B^T (c c K, per group), that
by x (c c V), and with the state twice (c K V each). The gated delta rule multiplies k k^T and q k^T (c c K each), their
products with w, u and v (c c K + 2 c c V) and with the state three times.
Kimi Delta Attention does the same, with a gate for each row of the state instead of one for all.
Source: Dao and Gu, arXiv 2405.21060, section 6; Yang, Kautz and Hatamizadeh, arXiv 2412.06464, section 3; Kimi Linear,
arXiv 2510.26692, section 3.
"""

from __future__ import annotations

from ..numeric import Number, ceil_div, minimum
from .linear_attention_call import LinearAttention
from .linear_attention_traits import state_bytes

_GATE_BYTES = 4.0  # of a gate, fp32; the delta rule has a second one for the strength of a write
_SILU_FLOP = 4.0  # of a value, as memory_bound.toml has it
_STATE_PRODUCTS = {
    "mamba2": 2.0,
    "gdn": 3.0,
    "kda": 3.0,
}  # with the state, per token: read, write; the delta rule reads it twice
_WITH_K = {"mamba2": 0.0, "gdn": 3.0, "kda": 3.0}  # c x c x K, per head
_WITH_K_OF_GROUPS = {"mamba2": 1.0, "gdn": 0.0, "kda": 0.0}  # the same, per group
_WITH_V = {"mamba2": 1.0, "gdn": 2.0, "kda": 2.0}  # c x c x V, per head


def chunks(p: LinearAttention) -> Number:
    """Chunks of one request; the last one may be shorter."""
    return ceil_div(1.0 * p.seq_len, p.chunk)


def intra_flop(p: LinearAttention, rows: Number) -> Number:
    """FLOP of the products within one chunk of so many rows, of all heads of a request."""
    of_heads = p.heads * (_WITH_K[p.variant] * p.state_dim + _WITH_V[p.variant] * p.head_dim)
    return 2.0 * rows * rows * (of_heads + _WITH_K_OF_GROUPS[p.variant] * p.groups * p.state_dim)


def state_flop(p: LinearAttention) -> Number:
    """FLOP of the products with the state, of one token and head."""
    return 2.0 * _STATE_PRODUCTS[p.variant] * p.state_dim * p.head_dim


def flop(p: LinearAttention) -> Number:
    """Useful FLOP: those of the chunks as long as they are, or of the recurrent step."""
    if p.convolves:
        return p.tokens * p.channels * (2.0 * p.taps + _SILU_FLOP)
    with_state = p.tokens * p.heads * state_flop(p)
    if p.phase == "decode":
        return with_state
    full = (chunks(p) - 1.0) * intra_flop(p, 1.0 * p.chunk)
    last = intra_flop(p, p.seq_len - (chunks(p) - 1.0) * p.chunk)
    return with_state + p.batch * (full + last)


def least_flop(p: LinearAttention) -> Number:
    """FLOP without which there is no result: each token with the state, or with the few tokens before it."""
    if p.convolves:
        return flop(p)
    before = (1.0 * p.seq_len) * (p.state_dim + p.head_dim)
    return p.tokens * p.heads * minimum(state_flop(p), before)


def state_values(p: LinearAttention) -> Number:
    """Values of the states of all requests."""
    if p.convolves:
        return p.batch * p.channels * (p.taps - 1.0)
    return 1.0 * p.batch * p.heads * p.state_dim * p.head_dim


def token_bytes(p: LinearAttention) -> Number:
    """Bytes that are read for a token and written of it."""
    if p.convolves:
        return 2.0 * p.channels * p.dtype.bytes
    return (p.channels + 1.0 * p.heads * p.head_dim) * p.dtype.bytes + p.heads * _gate_bytes(p)


def _gate_bytes(p: LinearAttention) -> Number:
    """Bytes of the gates of a token and head: of the state, of KDA one for each row of it, and the delta rule's."""
    if p.variant == "kda":
        return p.state_dim * p.dtype.bytes + _GATE_BYTES
    return _GATE_BYTES * (2.0 if p.variant == "gdn" else 1.0)


def compulsory_bytes(p: LinearAttention) -> Number:
    """Tokens read and results written once; in decode states too are read and written, in prefill they are written."""
    passes = 2.0 if p.phase == "decode" else 1.0
    states = passes * state_values(p) * state_bytes(p.kernel)
    return p.tokens * token_bytes(p) + states + weight_bytes(p)


def weight_bytes(p: LinearAttention) -> Number:
    """Bytes of the taps of the short convolution."""
    return p.channels * p.taps * p.dtype.bytes if p.convolves else 0.0


def between_bytes(p: LinearAttention, tokens: Number) -> Number:
    """Bytes that launches of a chunked scan over so many tokens hand on: written by one, read by another.

    The delta rule: k k^T (fp32) and its inverse, w and u, what the state is given, and the state before each chunk.
    Mamba-2: C B^T of each group, the states of the chunks and those before them.
    """
    states = p.batch * chunks(p) * p.heads * p.state_dim * p.head_dim * p.dtype.bytes
    if p.variant == "mamba2":
        return 2.0 * (tokens * p.groups * p.chunk * _GATE_BYTES + 2.0 * states)
    of_token = p.chunk * (_GATE_BYTES + p.dtype.bytes) + (p.state_dim + 2.0 * p.head_dim) * p.dtype.bytes
    return 2.0 * (tokens * p.heads * of_token + states)
