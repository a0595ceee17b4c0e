"""Which measured rows an evaluation fits to and scores on: a part of every GPU, engine, kernel and format."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

from .. import hardware
from ..errors import FieldError, UnknownNameError
from ..hardware import DType
from ..measurements import Rows
from ..training.recipe import by_kernel, by_part

RANDOM_MODULUS = 5
_PAPER_SHAPE = ("experts", "topk", "hidden", "inter")
PAPER_SHAPES = ((8, 2, 1024, 512), (64, 6, 3584, 1536), (128, 6, 4096, 2048))
ROWS_PER_GROUP = 8000  # more hardly help a network that is to compare recipes
SEED = 42
LEAVING_OUT_DTYPES = ("bf16",)  # of splits that leave GPUs out, where no format is named


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What of the rows is used; nothing named is everything.

    At most `rows_per_group` rows of every GPU, engine, kernel and format are fitted to, and as many scored on.
    `hold_out` are GPUs that are left out together, in the place of every measured one with its twins.
    """

    gpus: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    rows_per_group: int = ROWS_PER_GROUP
    seed: int = SEED
    hold_out: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        gpus: Iterable[str] = (),
        dtypes: Iterable[str] = (),
        variants: Iterable[str] = (),
        *,
        rows_per_group: int = ROWS_PER_GROUP,
        seed: int = SEED,
        hold_out: Iterable[str] = (),
    ) -> Selection:
        """A selection by names as a user writes them; each GPU and format counts once.

        Raises:
            UnknownNameError: no such GPU or format.
            FieldError: `rows_per_group` or `seed` is out of range.
        """
        if rows_per_group < 1:
            raise FieldError(f"rows_per_group: must be at least 1, got {rows_per_group}")
        if seed < 0:
            raise FieldError(f"seed: must be at least 0, got {seed}")
        return cls(
            gpus=_keys(gpus),
            dtypes=tuple(dict.fromkeys(map(_dtype, dtypes))),
            variants=tuple(dict.fromkeys(variants)),
            rows_per_group=rows_per_group,
            seed=seed,
            hold_out=_keys(hold_out),
        )


def _keys(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(hardware.gpu(name).key for name in names))


def _dtype(name: str) -> str:
    known = [str(dtype) for dtype in DType]
    if name not in known:
        raise UnknownNameError.among("format", name, known)
    return name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """Selected rows, and which of them may be fitted to (`fit`), are test rows (`test`), or stand for all (`whole`).

    No row is in both `fit` and `test`; `whole` is a sample of both, for GPUs of which nothing is fitted.
    """

    rows: Rows
    fit: np.ndarray
    test: np.ndarray
    whole: np.ndarray

    def gpus(self) -> tuple[str, ...]:
        """Keys of the GPUs, in order."""
        return tuple(sorted(set(self.rows.gpu)))

    def of(self, gpus: Iterable[str]) -> np.ndarray:
        """Mask of the rows of some GPUs."""
        mask: np.ndarray = np.isin(self.rows.gpu.astype(str), sorted(gpus))
        return mask


IsTest = Callable[[Rows], np.ndarray]  # (rows,) whether a row is scored on and never fitted to


def pool(parts: Iterable[Rows], selection: Selection, is_test: IsTest) -> Pool:
    """The selected rows of all parts, of which one at a time is in memory whole. Biased rows are never among them.

    Raises:
        FieldError: no row is left.
    """
    kept, formats = list[Pool](), set[str]()
    for part in parts:
        used = usable(part, selection)
        if len(used):
            kept.append(_sample(used, selection, is_test))
        else:
            formats |= set(usable(part, replace(selection, dtypes=(), variants=())).fields["dtype"].tolist())
    if not kept:
        raise FieldError(f"rows: none are {_left(selection, sorted(formats))}")
    masks = {name: np.concatenate([getattr(one, name) for one in kept]) for name in ("fit", "test", "whole")}
    assert not (masks["fit"] & masks["test"]).any()
    return Pool(rows=Rows.join([one.rows for one in kept]), **masks)


def _left(selection: Selection, formats: list[str]) -> str:
    """What no row is of, and what would be right; `formats` are those of the rows of the GPUs."""
    if not formats:
        return "left of these GPUs, or all were chosen by an error; right would be rows of others"
    usual = " (the one of splits that leave GPUs out)" if selection.dtypes == LEAVING_OUT_DTYPES else ""
    right = " ".join(f"--dtype {name}" for name in formats)
    return f"of {' or '.join(selection.dtypes)}{usual}, but of {' and '.join(formats)}; right would be {right}"


def usable(rows: Rows, selection: Selection, *, biased: bool = False) -> Rows:
    """The rows of the selected GPUs, formats and variants, without those that were chosen by an error, or those alone.

    Raises:
        UnknownNameError: no row is of a variant.
    """
    chosen = rows.biased == biased
    if selection.gpus:
        chosen &= np.isin(rows.gpu.astype(str), selection.gpus)
    if selection.dtypes:
        chosen &= np.isin(rows.fields["dtype"].astype(str), selection.dtypes)
    used = rows.take(chosen)
    return _of_variants(used, selection.variants) if selection.variants and len(used) else used


def _of_variants(rows: Rows, wanted: tuple[str, ...]) -> Rows:
    """The rows of some variants: kinds of calls that have networks of their own, such as prefill and decode."""
    parts = [(name.partition(".")[2], index) for name, index in by_part(rows)]
    known = sorted({variant for variant, _ in parts})
    for name in wanted:
        if name not in known:
            raise UnknownNameError(f"variant: {UnknownNameError.among('variant', name, known)}")
    return rows.take(np.sort(np.concatenate([index for variant, index in parts if variant in wanted])))


def _sample(rows: Rows, selection: Selection, is_test: IsTest) -> Pool:
    """At most `rows_per_group` rows of each kind, the first ones of an order that is drawn for each group by itself."""
    test, whole = is_test(rows), np.zeros(len(rows), dtype=bool)
    fitted, scored = whole.copy(), whole.copy()
    for label, index in by_kernel(rows):
        order = np.random.default_rng([selection.seed, crc32(".".join(label).encode())]).permutation(index)
        whole[order[: selection.rows_per_group]] = True
        fitted[order[~test[order]][: selection.rows_per_group]] = True
        scored[order[test[order]][: selection.rows_per_group]] = True
    kept = whole | fitted | scored
    return Pool(rows=rows.take(kept), fit=fitted[kept], test=scored[kept], whole=whole[kept])


def is_random_test(rows: Rows) -> np.ndarray:
    """One row in five, whatever the GPU: crc32 of `{engine}x{fields of the call}` leaves no remainder by 5.

    The fields are in the order of the family, decimal, joined by `x`: `vllmx128x4096x4096x1xbf16`. A call is a test
    row on every GPU or on none.
    """
    columns = [rows.engine, *rows.fields.values()]
    calls = zip(*(column.tolist() for column in columns), strict=True)
    held = [crc32("x".join(map(str, call)).encode()) % RANDOM_MODULUS == 0 for call in calls]
    return np.array(held, dtype=bool)


def is_shard_test(rows: Rows) -> np.ndarray:
    """Whether the crc32 of `{tp}x{ep}` leaves no remainder by 5: whole shards, of expert layers.

    Raises:
        FieldError: the calls have no shards.
    """
    if not {"tp", "ep"} <= rows.fields.keys():
        raise FieldError(f"split: calls of {rows.family[0]} have no tp and ep; right would be another split")
    shards = zip(rows.fields["tp"].astype(int).tolist(), rows.fields["ep"].astype(int).tolist(), strict=True)
    return np.array([crc32(f"{tp}x{ep}".encode()) % RANDOM_MODULUS == 0 for tp, ep in shards], dtype=bool)


def is_paper_shape_test(rows: Rows) -> np.ndarray:
    """Whether an expert layer has one of three shapes, small, middle and large, of the paper's thirteen.

    Raises:
        FieldError: the calls are of another family.
    """
    if any(name not in rows.fields for name in _PAPER_SHAPE):
        raise FieldError(f"split: calls of {rows.family[0]} have no experts; right would be another split")
    columns = (rows.fields[name].astype(int).tolist() for name in _PAPER_SHAPE)
    return np.array([shape in PAPER_SHAPES for shape in zip(*columns, strict=True)], dtype=bool)


def is_split_test(rows: Rows) -> np.ndarray:
    """The published split: new shapes of weights, or the rows of a file of test rows."""
    return rows.is_test
