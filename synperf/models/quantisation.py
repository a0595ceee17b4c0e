"""How a checkpoint is quantised, from `quantization_config` of its config.json or from `hf_quant_config.json`.

Linear layers are quantised, but for those that the checkpoint lists; embeddings, routers and the projection to logits
are not. Source: compressed-tensors, config format; ModelOpt, hf_quant_config.json; transformers, FP8, AWQ, GPTQ, MXFP4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..errors import FieldError, UnsupportedError
from ..hardware import DType
from .config import Config
from .module_names import ModuleNames
from .schemes import Scheme, schemes
from .weights import Kind, Weight

_METHODS = ("fp8", "fbgemm_fp8", "mxfp4", "awq", "gptq", "compressed-tensors", "modelopt")
_ALGORITHMS = {  # ModelOpt, QUANTIZATION_*
    "FP8": DType.FP8,
    "FP8_PER_CHANNEL_PER_TOKEN": DType.FP8,
    "FP8_PB_WO": DType.FP8_BLOCK,
    "FP8_BLOCK_SCALES": DType.FP8_BLOCK,
    "NVFP4": DType.NVFP4,
    "NVFP4_AWQ": DType.NVFP4,
    "W4A16_AWQ": DType.INT4,
    "W4A8_AWQ": DType.INT4_FP8,
    "W8A8_SQ_PER_CHANNEL": DType.INT8,
    "INT8_SQ": DType.INT8,
    "W4A16_MXFP4": DType.MXFP4,
    "W4A8_MXFP4_FP8": DType.MXFP4_FP8,
}
_IGNORED = ("ignore", "exclude_modules", "modules_to_not_convert", "ignored_layers")
_EVERY = "Linear"


@dataclass(frozen=True, slots=True)
class Quantisation:
    """Which linear layers are stored how: the first of `groups` whose targets name a layer that is not `ignored`."""

    groups: tuple[tuple[ModuleNames | None, Scheme], ...]  # None: every linear layer
    ignored: ModuleNames
    kv_dtype: DType | None = None

    def schemes(self, layer: int, weights: Iterable[Weight]) -> tuple[tuple[str, Scheme], ...]:
        """Names and schemes of the weights of a layer that are quantised."""
        found = ((w.name, self._scheme(layer, w)) for w in weights if w.kind is Kind.LINEAR)
        return tuple((name, scheme) for name, scheme in found if scheme is not None)

    def _scheme(self, layer: int, weight: Weight) -> Scheme | None:
        module = f"layers.{layer}.{weight.name.removesuffix('.weight')}"
        if self.ignored.have(module):
            return None
        return next((scheme for targets, scheme in self.groups if targets is None or targets.have(module)), None)


def in_format(scheme: Scheme) -> Quantisation:
    """Every linear layer in one format: what an engine does with a checkpoint that is not quantised."""
    return Quantisation(((None, scheme),), ModuleNames(()))


def quantisation_of(config: Config) -> Quantisation | None:
    """How the checkpoint is quantised, None where it is not.

    Raises:
        UnsupportedError: in a way that is not known.
        FieldError: a field is not what it should be.
    """
    given = config.values.get("quantization_config")
    if given is None:
        return None
    if not isinstance(given, dict):
        raise FieldError(f"{config.where}: quantization_config must be an object, got {str(given)[:60]!r}")
    inner = given.get("quantization")
    q: dict[str, Any] = inner if isinstance(inner, dict) else given
    try:
        groups = _groups(q)
    except UnsupportedError as error:
        raise UnsupportedError(f"{config.where}: quantization_config: {error}") from error
    ignored = [name for key in _IGNORED for name in _names(q.get(key), f"{config.where}: {key}")]
    return Quantisation(groups, ModuleNames(tuple(ignored)), _kv_dtype(q))


def _names(value: Any, where: str) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise FieldError(f"{where} must be a list of names, got {str(value)[:60]!r}")
    return value


def _groups(q: dict[str, Any]) -> tuple[tuple[ModuleNames | None, Scheme], ...]:
    listed = q.get("config_groups")
    if isinstance(listed, dict) and listed and all(isinstance(one, dict) for one in listed.values()):
        return tuple((_targets(one.get("targets")), _of_group(one)) for one in listed.values())
    return ((None, _of_method(q)),)


def _targets(value: Any) -> ModuleNames | None:
    names = [one for one in value if isinstance(one, str)] if isinstance(value, list) else [_EVERY]
    return None if _EVERY in names else ModuleNames(tuple(names))


def _of_method(q: dict[str, Any]) -> Scheme:
    """The scheme of a checkpoint that has one for all.

    Raises:
        UnsupportedError: it is not known.
    """
    method, algorithm = str(q.get("quant_method", "")).lower(), str(q.get("quant_algo", "")).upper()
    if algorithm in _ALGORITHMS:
        return _grouped(_ALGORITHMS[algorithm], q)
    if method == "fp8":
        return _fp8(q.get("weight_block_size"))
    if method == "fbgemm_fp8":
        return replace(schemes()[DType.FP8], rows=1)
    if method == "mxfp4":
        return schemes()[DType.MXFP4]
    if method in ("awq", "gptq"):
        bits = q.get("bits", q.get("w_bit"))
        if bits != 4:
            raise UnsupportedError(f"{method} of {bits} bits is not known; right would be 4")
        return _grouped(DType.INT4, q)
    if algorithm:
        raise UnsupportedError(f"quant_algo {algorithm!r} is not known; known: {', '.join(_ALGORITHMS)}")
    raise UnsupportedError(f"quant_method {method!r} is not known; known: {', '.join(_METHODS)}")


def _fp8(block: Any) -> Scheme:
    if not isinstance(block, list) or len(block) != 2 or not all(type(one) is int and one > 0 for one in block):
        return schemes()[DType.FP8]
    return replace(schemes()[DType.FP8_BLOCK], rows=block[0], columns=block[1])


def _grouped(dtype: DType, q: dict[str, Any]) -> Scheme:
    """The format's own scheme, with the size of groups that the checkpoint says."""
    size, known = q.get("group_size"), schemes()[dtype]
    if dtype in (DType.FP8, DType.FP8_BLOCK, DType.INT8) or type(size) is not int:
        return known
    return replace(known, columns=max(size, 0))  # -1 is one group for the row


def _of_group(group: dict[str, Any]) -> Scheme:
    """The scheme of a group of compressed-tensors or ModelOpt.

    Raises:
        UnsupportedError: no format is like it.
    """
    w, activations = group.get("weights"), group.get("input_activations")
    if not isinstance(w, dict):
        raise UnsupportedError("a group of config_groups has no weights")
    kind, bits = w.get("type"), w.get("num_bits")
    a_kind = (activations.get("type"), activations.get("num_bits")) if isinstance(activations, dict) else None
    if (kind, bits) == ("float", 8):
        if w.get("strategy") == "block":
            return _fp8(w.get("block_structure"))
        return replace(schemes()[DType.FP8], rows=1) if w.get("strategy") == "channel" else schemes()[DType.FP8]
    if (kind, bits) == ("float", 4):
        return _grouped(DType.MXFP4 if w.get("group_size") == schemes()[DType.MXFP4].columns else DType.NVFP4, w)
    if (kind, bits) == ("int", 8) and a_kind is not None:
        return schemes()[DType.INT8]
    if (kind, bits) == ("int", 4) and a_kind in (None, ("float", 8)):
        found = _grouped(DType.INT4 if a_kind is None else DType.INT4_FP8, w)
        return replace(found, zero_bytes=0.0) if w.get("symmetric", True) else found
    said = "none" if a_kind is None else f"{a_kind[1]}-bit {a_kind[0]}"
    raise UnsupportedError(f"weights of {bits}-bit {kind} with activations of {said} are not known")


def _kv_dtype(q: dict[str, Any]) -> DType | None:
    """The format of the cache that the checkpoint has scales for."""
    scheme = q.get("kv_cache_scheme")
    bits = scheme.get("num_bits") if isinstance(scheme, dict) else None
    named = scheme if isinstance(scheme, str) else q.get("kv_cache_quant_algo")
    return DType.FP8 if bits == 8 or str(named).upper() == "FP8" else None
