"""Which parts of a pass depend on what of a batch: on the lengths of its requests, on how many draw a token, or only on
its new tokens.
"""

from __future__ import annotations

BY_LENGTHS = frozenset({
    "prefill_attention", "decode_attention", "prefill_convolution", "decode_convolution", "prefill_state",
    "decode_state", "kv_up", "q_absorb", "v_up", "index_scores", "index_topk",
})  # fmt: skip
BY_SAMPLED = frozenset({"lm_head", "logits_all_gather", "sampling"})
