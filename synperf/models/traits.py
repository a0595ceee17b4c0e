"""What an architecture is, where its config.json does not say: a file of the catalog has it for each family."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Flag = bool | str  # always, never, or where the field of that name is true


class ExpertTraits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Names of the fields that describe experts.

    `inter` is of one; `shared` counts experts that all tokens go through, `shared_inter` has their size instead,
    `dense_inter` that of layers without experts. Layers before `first` are dense; of the others one in `step` is not.
    """

    experts: str
    topk: str
    inter: str
    shared: str = ""
    shared_inter: str = ""
    dense_inter: str = "intermediate_size"
    first: str = ""
    step: str = ""
    bias: bool = False
    router_bias: bool = False
    corrected: Flag = False
    shared_gate: bool = False


class Traits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Of decoders such as Llama, where nothing is said. `names` has other spellings of fields, `defaults` the values of
    what a file may leave out, as the configuration class of `source` has them.
    """

    source: str
    architectures: tuple[str, ...]
    names: dict[str, str] = {}
    defaults: dict[str, Any] = {}
    mixer: Literal["grouped", "latent", "delta"] = "grouped"
    causal: bool = True
    qkv_bias: Flag = False
    out_bias: Flag = False
    qk_norm: Literal["", "head", "all"] = ""
    qk_norm_if: str = ""
    gated_attention: bool = False
    sinks: bool = False
    rotates: bool = True
    sliding: Literal["never", "every", "even"] | int = "never"  # a number: all but every such layer
    sliding_if: str = ""
    mlp_bias: Flag = False
    gated: bool = True
    norm: Literal["rms", "layer"] = "rms"
    norms: Literal["pre", "post", "sandwich", "parallel"] = "pre"
    embedding_norm: bool = False
    learned_positions: bool = False
    position_offset: int = 0
    head: Literal["lm", "masked_lm", "pooler", "none"] = "lm"
    head_bias: Flag = False
    experts: ExpertTraits | None = None


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One model of the catalog: its config.json as far as it matters, with what `base` has beside it."""

    config: dict[str, Any] = {}
    base: str = ""
    aliases: tuple[str, ...] = ()


class Family(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A file of the catalog: an architecture, and models of it by their names."""

    traits: Traits
    models: dict[str, Entry] = {}
