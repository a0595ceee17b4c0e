"""Where a model's config.json is: a path, a folder, or a name of the catalog."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import FileFormatError
from . import catalog

MOST_BYTES = 4 * 2**20  # lists of layers that are not quantised take some 100 KB
_CONFIG, _QUANTISATION = "config.json", "hf_quant_config.json"
_OF_WHOLE = ("architectures", "quantization_config", "tie_word_embeddings", "torch_dtype", "dtype")
_ROTATED = "partial_rotary_factor"
_TEXT = ("text_config", "llm_config", "language_config")  # where models that see or hear keep their language model


class Config(NamedTuple):
    """A config.json: the name of the model, how messages call the file, and the values of its language model."""

    name: str
    where: str
    values: dict[str, Any]
    assumptions: tuple[str, ...] = ()


def load(source: str | Path) -> Config:
    """The config.json of a path, a folder or a name of the catalog.

    Raises:
        FileFormatError: no such file, or not JSON.
        UnknownNameError: neither a path nor a name of the catalog.
    """
    path = Path(source)
    if isinstance(source, Path) or source.lower().endswith(".json") or _is_there(path):
        return _of_file(path)
    name = catalog.resolve(source)
    return _of_language(Config(name, name, catalog.config_of(name)))


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long, or a NUL in it
        return False


def _of_file(path: Path) -> Config:
    file = path / _CONFIG if _is_there(path) and path.is_dir() else path
    values = _read(file)
    beside = file.parent / _QUANTISATION
    if "quantization_config" not in values and file.name == _CONFIG and _is_there(beside):
        values["quantization_config"] = _read(beside)
    folder = file.resolve().parent.name if file.name == _CONFIG else file.stem
    named = values.get("_name_or_path")
    return _of_language(Config(named if isinstance(named, str) and named else folder, _shown(file), values))


def _of_language(config: Config) -> Config:
    """The part that describes the language model, where there are other parts; what that leaves out is of the whole."""
    values = config.values
    part = next((key for key in _TEXT if isinstance(values.get(key), dict)), None)
    if part is None:
        return config._replace(values=_flat(values))
    said = (f"model: the language model of {config.name} alone; what sees or hears is left out",)
    whole = {key: values[key] for key in _OF_WHOLE if values.get(key) is not None}
    own = {key: value for key, value in values[part].items() if value is not None and key != "architectures"}
    return config._replace(values=_flat({**whole, **own}), assumptions=said)


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    """The fields with those of `rope_parameters` that stood beside the others before."""
    rope = values.get("rope_parameters")
    share = rope.get(_ROTATED) if isinstance(rope, dict) else None
    return values if share is None else {_ROTATED: share, **values}


def _read(path: Path) -> dict[str, Any]:
    shown = _shown(path)
    try:
        if not path.is_file():
            raise FileFormatError(f"{shown}: {'not a file' if path.exists() else 'no such file'}")
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise FileFormatError(f"{shown}: cannot be read ({getattr(error, 'strerror', None) or 'no name'})") from error
    if len(raw) > MOST_BYTES:
        raise FileFormatError(f"{shown}: larger than {MOST_BYTES // 2**20} MiB, a config.json has a few KiB")
    try:
        values = json.loads(raw)  # with Infinity and NaN, which transformers writes
    except RecursionError as error:
        raise FileFormatError(f"{shown}: nested too deeply") from error
    except ValueError as error:  # JSONDecodeError, text that is not UTF-8, or a number of too many digits
        raise FileFormatError(f"{shown}: not JSON: {str(error)[:100]}") from error
    if not isinstance(values, dict):
        raise FileFormatError(f"{shown}: not a JSON object, right would be the fields of a config.json")
    return values


def _shown(path: Path) -> str:
    return "".join(c if c.isprintable() else "?" for c in str(path))[:200]
