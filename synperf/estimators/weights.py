"""Trained weights of a family: arrays in `<family>.safetensors` and a card in `<family>.json`, read as data alone.

The card names sources, split, seed, rows, metrics and the command that makes the weights again, and it holds the
digest of the file of the arrays, which holds that of the card, so that the two cannot be mixed up. It names the weights
and leaves out what follows from neither rows nor seed: the same training gives the same name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ..errors import FileFormatError
from ..kernels import families
from ..kernels import family as family_named
from ..kernels.own import LOADED
from .input_names import input_names
from .inputs import VERSION as INPUTS_VERSION
from .nearness import Nearness
from .network import Network

FORMAT = 2
FOLDER = Path(__file__).parent.parent / "weights"
KNOWN, GENERAL = "known", "general"  # networks that see which GPU it is, and that do not
ARRAYS = ("low", "high", "encoded", "knots", "shift", "group_low", "group_high", "out_low", "out_high")
NOTES = ("synperf", "command", "date", "training_s")  # of a card: no answer depends on them
_TABLES = ".tables"


class Regime(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Calls whose errors were taken together: log(measured / predicted) at 10 and 90 % of `rows` held-out rows."""

    name: str  # "group", or "group: up to 10 us", ...
    up_to_s: float  # of the predicted time
    rows: int
    low: float
    high: float


class MoreShapes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How errors on new shapes fall with the number of shapes that a network is fitted to, and what that comes to."""

    power: float
    error: float  # standard error of the power
    shapes: int  # that told it
    share: float  # of the errors of networks that miss one shape, those of the one that has seen all


class NetworkCard(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One network: the formats that it serves, its inputs and groups in order, and the regimes of each group."""

    name: str  # the prefix of its arrays
    scope: str  # known, general
    dtypes: tuple[str, ...]
    inputs: tuple[str, ...]
    groups: tuple[str, ...]
    num_layers: int
    rows: int
    held_out: dict[str, dict[str, float]]  # by GPU: rows, mape, median, p90
    regimes: dict[str, tuple[Regime, ...]]  # by group, and "" for groups that nothing was held out of
    variant: str = ""  # of the calls that it serves; see `KernelFamily.variant`
    left_out: dict[str, dict[str, float]] = {}  # by GPUs that were left out together: rows, mape, median, coverage
    alone: dict[str, str] = {}  # by group of a network that knows no GPU: the one kind (`twins.kin`) that ran it
    varied: tuple[str, ...] = ()  # of the fields that measured calls always have at 1, those that its rows have not
    beyond: float = 0.0  # of |log(measured / predicted)|: how much further it goes outside the measured range
    widening: dict[str, float] = {}  # by group: the errors of held-out rows over those of the rows it was fitted to
    nearness: Nearness | None = None  # where errors grow with the distance to measured shapes
    more_shapes: MoreShapes | None = None  # of very few shapes, where networks that miss one err further


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a weights file is and how it came about."""

    format: int
    inputs_version: int
    family: str
    sha256: str
    synperf: str
    seed: int
    command: str
    date: str
    training_s: float
    split: str
    sources: dict[str, int]  # training rows by source and version
    networks: tuple[NetworkCard, ...]
    plugin: str = ""  # digest of the file of a family of the user's own


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """A card and its networks, in the same order."""

    card: Card
    networks: tuple[Network, ...]

    @property
    def has_middle(self) -> bool:
        """Whether the middle of the measured kernels stands for one that nobody measured.

        Memory-bound kernels differ by several times in what they move, which the analytical estimate knows of each.
        """
        return not family_named(self.card.family.removesuffix(_TABLES)).is_memory_bound


def of_tables(family: str) -> str:
    """The name of the larger weights of a family, which measured tables stand on: slower, and nearer to measured."""
    return f"{family}{_TABLES}"


def of_kernel(family: str, kernel: str) -> str:
    """The name of the weights of one kernel, which the family's own do not know: `gemm.torch_fp32`."""
    return f"{family}.{kernel}"


def family_in(name: str) -> str:
    """The family in the card of weights of this name: `gemm` of `gemm.torch_fp32`; those of tables keep their name."""
    return name if name.endswith(_TABLES) else name.partition(".")[0]


def path_of(name: str) -> Path:
    """Shipped weights by name: a family, `of_tables` or `of_kernel` of one, whether there are any or not."""
    return FOLDER / f"{name}.safetensors"


@cache
def shipped(name: str) -> Weights | None:
    """The weights that come with the package under a name (see `path_of`), or None where there are none, as of families
    of the user's own.

    Raises:
        FileFormatError: they are damaged.
    """
    if family_in(name) in LOADED:
        return None
    path = path_of(name)
    there = path.is_file() or path.with_suffix(".json").is_file()  # one alone is damage, which `read` tells
    return read(path, family_in(name), own=False) if there else None


def serving(family: str, kernel: str) -> Weights | None:
    """The shipped weights for a kernel of a family: its own where there are any, else the family's.

    Raises: as `shipped`.
    """
    return shipped(of_kernel(family, kernel)) or shipped(family)


def read(path: Path, family: str, *, own: bool = True) -> Weights:
    """The weights in a file and the card beside it.

    Weights of a user's `own` are held against the inputs that calls have; the tests do it for those of the package,
    since it takes as long as a cold answer may not.

    Raises:
        FileFormatError: either is missing, damaged, of another version or family, or they do not belong together.
    """
    card, data = _card(path.with_suffix(".json"), family, own), _bytes(path)
    if sha256(data).hexdigest() != card.sha256:
        raise FileFormatError(
            f"{path}: damaged, or not the weights that {path.stem}.json describes: the digest differs"
        )
    arrays = _arrays(path, data)
    if _noted(data) != card_digest(card):
        raise FileFormatError(
            f"{path.with_suffix('.json')}: not the card that was written with {path.name}, or changed; "
            f"right would be both files as they were written: bring them back, or train the weights again"
        )
    try:
        return Weights(card=card, networks=tuple(_network(one, arrays) for one in card.networks))
    except (KeyError, ValueError, IndexError) as wrong:
        raise FileFormatError(f"{path}: arrays are missing or do not fit together ({wrong})") from None


def read_own(path: Path) -> Weights:
    """The weights of a user, of whichever family the card names.

    Raises:
        FileFormatError: as `read`; and where the file's name is not that of weights, or there is no such family.
    """
    if path.suffix != ".safetensors":
        raise FileFormatError(f"{path}: should end in .safetensors, with the card as .json beside it")
    if not path.is_file():
        raise FileFormatError(f"{path}: there is no such file; right would be what `synperf train --out` wrote")
    card_path = path.with_suffix(".json")
    family = _document(card_path).get("family")
    if family not in [*families()]:  # it may be anything that JSON holds
        raise FileFormatError(f"{card_path}: family is {family!r}, right would be one of {', '.join(families())}")
    return read(path, family)


def card_digest(card: Card) -> str:
    """The digest of a card without its notes and that of its arrays, which the arrays' file carries."""
    left_out = (*NOTES, "sha256", *(() if card.plugin else ("plugin",)))
    fields = {name: value for name, value in msgspec.structs.asdict(card).items() if name not in left_out}
    return sha256(msgspec.json.encode(fields)).hexdigest()


def serialize(card: Card, arrays: dict[str, np.ndarray]) -> tuple[Card, bytes]:
    """The card with the digest of its arrays, and the bytes of the arrays with that of the card."""
    from safetensors.numpy import save

    data = save(arrays, {"card": card_digest(card)})
    return msgspec.structs.replace(card, sha256=sha256(data).hexdigest()), data


def _noted(data: bytes) -> str:
    """The digest of the card in the header of a safetensors file."""
    length = int.from_bytes(data[:8], "little")
    header: Any = msgspec.json.decode(data[8 : 8 + length])
    return str(header.get("__metadata__", {}).get("card", ""))


def _card(path: Path, family: str, own: bool) -> Card:
    document = _document(path)
    versions = {"format": FORMAT, "inputs_version": INPUTS_VERSION, "family": family}
    for field, right in versions.items():
        given = document.get(field)
        if given != right:
            raise FileFormatError(f"{path}: {field} is {given!r}, right would be {right!r}; train the weights again")
    try:
        card = msgspec.convert(document, Card)
    except msgspec.ValidationError as wrong:
        raise FileFormatError(f"{path}: not a card of weights ({wrong})") from None
    kind = family.removesuffix(_TABLES)
    said = [one for network in card.networks for one in _mismatches(network, len(family_named(kind).shape))]
    if own:
        said += [one for n in card.networks for one in _other_inputs(n, input_names(kind, n.variant))]
    if said:
        raise FileFormatError(f"{path}: the card does not match what answers need: {said[0]}; train the weights again")
    return card


def _document(path: Path) -> dict[str, Any]:
    """The JSON object of a card."""
    try:
        return msgspec.json.decode(_bytes(path), type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
        raise FileFormatError(f"{path}: not the JSON of a card ({wrong})") from None


def _other_inputs(network: NetworkCard, names: tuple[str, ...]) -> Iterator[str]:
    """Inputs that calls do not have, or that stand in another order."""
    unknown, missing = sorted({*network.inputs} - {*names}), sorted({*names} - {*network.inputs})
    if unknown:
        yield f"{network.name} has an input {unknown[0]!r}, which no call has"
    elif missing:
        yield f"{network.name} has no input {missing[0]!r}, which every call has"
    elif network.inputs != names:
        yield f"{network.name} has its inputs in another order"


def _mismatches(network: NetworkCard, num_extents: int) -> Iterator[str]:
    """What else an answer would stumble over: no scope, times that no regime is of, and a nearness to nothing."""
    if network.scope not in (KNOWN, GENERAL):
        yield f"{network.name} is {network.scope!r}, neither {KNOWN} nor {GENERAL}"
    if "" not in network.regimes:
        yield f"{network.name} has no regimes for groups that nothing was held out of"
    for group, regimes in network.regimes.items():
        ends = [regime.up_to_s for regime in regimes]
        if not ends or sorted(set(ends)) != ends:
            yield f"{network.name} has no rising regimes for {group or 'groups that nothing was held out of'}"
    if network.nearness is not None:
        yield from (f"{network.name} has a nearness {said}" for said in _not_near(network.nearness, num_extents))


def _not_near(nearness: Nearness, num_extents: int) -> Iterator[str]:
    """What is wrong of a nearness: shapes that are none of the family, or distances that do not rise."""
    if not nearness.shapes or any(len(shape) != num_extents or min(shape) < 1 for shape in nearness.shapes):
        yield f"that is not to shapes of {num_extents} extents"
    if nearness.growth < 0 or not 0 <= nearness.least <= nearness.usual <= nearness.most:
        yield "whose distances or growth are not in order"


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as wrong:
        raise FileFormatError(f"{path}: {wrong.strerror}") from None


def _arrays(path: Path, data: bytes) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError  # 10 ms that answers without weights need not pay
    from safetensors.numpy import load

    try:
        return load(data)
    except (SafetensorError, ValueError, KeyError, TypeError) as wrong:
        raise FileFormatError(f"{path}: not a safetensors file ({wrong})") from None


def _network(card: NetworkCard, arrays: dict[str, np.ndarray]) -> Network:
    own = {name: arrays[f"{card.name}.{name}"] for name in ARRAYS}
    floats = {name: value.astype(np.float32) for name, value in own.items() if name != "encoded"}
    layers = range(card.num_layers)
    found = Network(
        inputs=card.inputs,
        groups=card.groups,
        encoded=own["encoded"].astype(np.intp),
        weights=tuple(arrays[f"{card.name}.weight_{i}"].astype(np.float32) for i in layers),
        biases=tuple(arrays[f"{card.name}.bias_{i}"].astype(np.float32) for i in layers),
        **floats,
    )
    _check(found)
    return found


def _check(n: Network) -> None:
    """That shapes fit: else ValueError, which `read` turns into a sentence."""
    num_inputs, num_groups = len(n.inputs), len(n.groups)
    width = num_inputs + n.knots.shape[0] * (n.knots.shape[1] - 1)
    sizes = [width, *(len(bias) for bias in n.biases)]
    expected = {
        "low": (num_inputs,), "high": (num_inputs,), "group_low": (num_groups, num_inputs),
        "group_high": (num_groups, num_inputs), "out_low": (num_groups,), "out_high": (num_groups,),
        "shift": (num_groups, sizes[1]), "encoded": (len(n.knots),),
    }  # fmt: skip
    wrong = [name for name, shape in expected.items() if getattr(n, name).shape != shape]
    wrong += [f"weight_{i}" for i, w in enumerate(n.weights) if w.shape != (sizes[i], sizes[i + 1])]
    ranges = (n.low, n.high, n.group_low, n.group_high, n.out_low, n.out_high)
    everything = (*ranges, n.knots, n.shift, *n.weights, *n.biases)
    if wrong or sizes[-1] != 1 or not all(np.isfinite(array).all() for array in everything):
        raise ValueError(f"shapes or values of {', '.join(wrong) or 'the arrays'}")
    if not (np.diff(n.knots, axis=1) > 0).all() or not ((n.encoded >= 0) & (n.encoded < num_inputs)).all():
        raise ValueError("knots that do not rise, or of no input")


def tensors(name: str, n: Network) -> dict[str, np.ndarray]:
    """The arrays of a network as the file holds them: layers in half precision, ranges in single."""
    own = {f"{name}.{field}": getattr(n, field) for field in ARRAYS}
    own |= {f"{name}.weight_{i}": w.astype(np.float16) for i, w in enumerate(n.weights)}
    own |= {f"{name}.bias_{i}": b.astype(np.float32) for i, b in enumerate(n.biases)}
    own[f"{name}.encoded"] = n.encoded.astype(np.int32)
    return {key: np.ascontiguousarray(value) for key, value in own.items()}
