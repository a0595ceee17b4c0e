"""How rows are split: a case is what is fitted to once, and what is then scored on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from .. import hardware
from ..errors import FieldError, UnknownNameError
from ..hardware import GPU, Calibration
from ..hardware.twins import TWINS, kin
from ..measurements import Rows
from ..training.recipe import by_kernel
from .devices import published
from .selection import (
    LEAVING_OUT_DTYPES,
    ROWS_PER_GROUP,
    SEED,
    IsTest,
    Pool,
    Selection,
    is_paper_shape_test,
    is_random_test,
    is_shard_test,
    is_split_test,
)

RANDOM, NEW_SHAPE, NEW_SHARD, TEST_FILE = "random", "new-shape", "new-shard", "test-file"
UNSEEN_GPU, SIBLING, FEW_SHOT = "unseen-gpu", "sibling", "few-shot"
PAPER_FP8, PAPER_MOE, PAPER_MOE_SHAPES = "paper-fp8", "paper-moe", "paper-moe-shapes"
SPLITS: Mapping[str, str] = {
    RANDOM: "one row in five, by a hash of the call and the engine",
    NEW_SHAPE: "the published split: calls whose weights have a shape that no training row has",
    NEW_SHARD: "expert layers under a (tp, ep) that no training row has",
    TEST_FILE: "the test rows of the files, also those of GPUs that no training row is of",
    UNSEEN_GPU: "GPUs of which no row is fitted to, twins left out together",
    SIBLING: "GPUs of which no row is fitted to, each alone: others that run the same kernels stay",
    FEW_SHOT: "as unseen-gpu, then corrected by few rows of the GPU",
    PAPER_FP8: "the paper's FP8 tables: trained on H20 and H800, tested on these, H100 and H200",
    PAPER_MOE: "the paper's grid of expert layers: trained on its six training GPUs, tested on other numbers of tokens",
    PAPER_MOE_SHAPES: "the same grid: three shapes of experts left out on all eleven GPUs",
}
UNSEEN = (
    TEST_FILE,
    UNSEEN_GPU,
    SIBLING,
    FEW_SHOT,
    PAPER_FP8,
    PAPER_MOE,
)  # splits for which a recipe may not know GPUs by name
LEAVING_OUT = (UNSEEN_GPU, SIBLING, FEW_SHOT)
PAPER = (PAPER_FP8, PAPER_MOE, PAPER_MOE_SHAPES)
PAPER_SEEN = {
    PAPER_FP8: ("h20", "h800"),
    PAPER_MOE: ("h20", "h800", "a100_sxm", "l20", "a40", "rtx_6000_ada"),
}
TEST, SEEN_PART, UNSEEN_PART = "test", "seen", "unseen"
NEW_KERNELS = "unseen-kernel"  # of a GPU with kin that stays: rows of kernels that none of these ran
ALL = "all"
EVERY_ROW = 10**9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """Masks over the rows of a pool: what is fitted to, and the parts that are scored, by name.

    `devices` is what is known of each GPU while fitting and predicting; `held_out` are the GPUs that are left out.
    """

    name: str
    rows: Rows
    train: np.ndarray
    parts: Mapping[str, np.ndarray]
    devices: Mapping[str, GPU]
    held_out: tuple[str, ...] = ()

    def training(self) -> Rows:
        """The rows to fit to."""
        return self.rows.take(self.train)


def check(split: str) -> str:
    """The name of a split.

    Raises:
        UnknownNameError: there is no such split.
    """
    if split not in SPLITS:
        raise UnknownNameError(f"split: {UnknownNameError.among('split', split, SPLITS)}")
    return split


def selection(
    split: str,
    gpus: Iterable[str] = (),
    dtypes: Iterable[str] = (),
    variants: Iterable[str] = (),
    *,
    rows_per_group: int | None = None,
    seed: int = SEED,
    hold_out: Iterable[str] = (),
) -> Selection:
    """A selection for a split: bf16 where GPUs are left out and no format is named, every row of the paper's tables.

    Raises: as `Selection.of`; and FieldError where GPUs are to be left out of a split that leaves none out.
    """
    held, few = tuple(hold_out), ROWS_PER_GROUP if split not in PAPER else EVERY_ROW
    if held and split not in LEAVING_OUT:
        raise FieldError(f"hold_out: {split} leaves no GPU out; right would be {' or '.join(LEAVING_OUT)}")
    return Selection.of(
        gpus,
        tuple(dtypes) or (LEAVING_OUT_DTYPES if split in LEAVING_OUT else ()),
        tuple(variants),
        rows_per_group=few if rows_per_group is None else rows_per_group,
        seed=seed,
        hold_out=held,
    )


def test_of(split: str) -> IsTest:
    """What tells test rows."""
    rules = {RANDOM: is_random_test, NEW_SHARD: is_shard_test, PAPER_MOE_SHAPES: is_paper_shape_test}
    return rules.get(split, is_split_test)


def cases(split: str, pool: Pool, selection: Selection) -> Iterator[Case]:
    """Every case of a split, one at a time.

    Raises:
        FieldError: there are no rows to fit to, or none to score.
    """
    if split in (NEW_SHAPE, TEST_FILE):
        _require_both(split, pool)
    if split in LEAVING_OUT:
        for held in held_out_sets(split, pool.gpus(), selection.hold_out):
            yield _leaving_out(pool, held, by_kin=split == SIBLING)
    elif split in PAPER_SEEN:
        yield _paper(pool, PAPER_SEEN[split])
    elif split == TEST_FILE:
        yield _checked(ALL, pool, pool.fit, {TEST: pool.test}, _devices(pool))
    else:
        yield _seen(pool)


def _require_both(split: str, pool: Pool) -> None:
    """Checks that some rows are marked as test rows, and others are not.

    Raises:
        FieldError: all are, or none.
    """
    if pool.test.any() and pool.fit.any():
        return
    what = "all are test rows, and none are left to fit to" if pool.test.any() else "none are test rows"
    raise FieldError(
        f"rows: {what}; right for {split} would be a column is_test that is true in some rows, or --split {RANDOM}"
    )


def case_names(split: str, pool: Pool, selection: Selection) -> tuple[str, ...]:
    """Names of the cases, in order.

    Raises:
        FieldError: GPUs are to be left out, and none would be left.
    """
    if split not in LEAVING_OUT:
        return (ALL,)
    return tuple("+".join(held) for held in held_out_sets(split, pool.gpus(), selection.hold_out))


def held_out_sets(split: str, gpus: tuple[str, ...], hold_out: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Which GPUs are left out together: those named; else those with kin, each alone; else twins, and the others alone.

    Raises:
        FieldError: a named GPU has no rows, none would be left to fit to, or of `sibling` none has kin that stays.
    """
    missing = [gpu for gpu in hold_out if gpu not in gpus]
    if missing:
        raise FieldError(f"hold_out: {missing[0]} has no rows here; those that have: {', '.join(gpus)}")
    if split == SIBLING:
        return [_kin_stays(gpus, hold_out)] if hold_out else _with_kin(gpus)
    twins = [tuple(gpu for gpu in group if gpu in gpus) for group in TWINS]
    alone = [(gpu,) for gpu in gpus if not any(gpu in group for group in TWINS)]
    sets = [tuple(sorted(hold_out))] if hold_out else sorted(group for group in (*twins, *alone) if group)
    if any(set(held) == set(gpus) for held in sets):
        raise FieldError(
            f"gpu: leaving out {' and '.join(sets[0])} leaves no GPU to fit to; right would be rows of another one too"
        )
    return sets


def _with_kin(gpus: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Each GPU that another one among these runs the same kernels as.

    Raises:
        FieldError: there is none.
    """
    kins = {gpu: _kin(gpu) for gpu in gpus}
    found: list[tuple[str, ...]] = [(gpu,) for gpu in gpus if list(kins.values()).count(kins[gpu]) > 1]
    if not found:
        raise FieldError(f"gpu: none of {', '.join(gpus)} runs the kernels of another; right would be {UNSEEN_GPU}")
    return found


def _kin_stays(gpus: tuple[str, ...], held: tuple[str, ...]) -> tuple[str, ...]:
    """The GPUs to leave out, in order.

    Raises:
        FieldError: no GPU that stays runs the same kernels as one of them.
    """
    stay = {_kin(gpu) for gpu in gpus if gpu not in held}
    for gpu in held:
        if _kin(gpu) not in stay:
            raise FieldError(
                f"hold_out: no GPU that stays among these rows runs the kernels of {gpu}; right would be "
                f"--split {UNSEEN_GPU}, or rows of one that does"
            )
    return tuple(sorted(held))


def _kin(gpu: str) -> str:
    return kin(hardware.gpu(gpu).compute_capability)


def _seen(pool: Pool) -> Case:
    """Every GPU is fitted to. Test rows of a GPU, engine, kernel and format without training rows are not scored."""
    test = pool.test.copy()
    for _, index in by_kernel(pool.rows):
        if not pool.fit[index].any():
            test[index] = False
    return _checked(ALL, pool, pool.fit, {TEST: test}, _devices(pool))


def _devices(pool: Pool) -> dict[str, GPU]:
    return {key: hardware.gpu(key) for key in pool.gpus()}


def _leaving_out(pool: Pool, held: tuple[str, ...], *, by_kin: bool) -> Case:
    """The GPUs `held` are left out. `by_kin` sets rows of kernels that no kin ran apart, as nothing tells of these."""
    away = pool.of(held)
    train = pool.fit & ~away
    known = np.isin(pool.rows.fields["dtype"].astype(str), sorted(set(pool.rows.fields["dtype"][train])))
    unseen = pool.whole & away & known
    alike = _run_by_kin(pool, train) if by_kin else np.ones(len(train), dtype=bool)
    parts = {UNSEEN_PART: unseen & alike, SEEN_PART: pool.test & ~away & known, NEW_KERNELS: unseen & ~alike}
    return _checked("+".join(held), pool, train, parts, published(pool.gpus(), held), held)


def _run_by_kin(pool: Pool, train: np.ndarray) -> np.ndarray:
    """(rows,) whether kin of a row's GPU ran its engine, kernel and format in a training row."""
    found = np.zeros(len(train), dtype=bool)
    run: dict[tuple[str, ...], set[str]] = {}
    labels = list(by_kernel(pool.rows))
    for (gpu, *kernel), index in labels:
        if train[index].any():
            run.setdefault(tuple(kernel), set()).add(_kin(gpu))
    for (gpu, *kernel), index in labels:
        found[index] = _kin(gpu) in run.get(tuple(kernel), ())
    return found


def _paper(pool: Pool, seen: tuple[str, ...]) -> Case:
    """Published figures alone: what is recorded of some of these GPUs comes from other tables, and is taken away."""
    devices = {key: _bare(hardware.gpu(key)) for key in pool.gpus()}
    return _checked(ALL, pool, pool.fit & pool.of(seen), {TEST: pool.test}, devices)


def _bare(gpu: GPU) -> GPU:
    return replace(gpu, calibration=Calibration())


def _checked(
    name: str,
    pool: Pool,
    train: np.ndarray,
    parts: Mapping[str, np.ndarray],
    devices: Mapping[str, GPU],
    held: tuple[str, ...] = (),
) -> Case:
    scored = {part: mask for part, mask in parts.items() if mask.any()}
    if not train.any():
        raise FieldError(f"rows: {name}: there are none to fit to")
    if not scored or (held and UNSEEN_PART not in scored):
        raise FieldError(f"rows: {name}: there are none to score")
    assert not any((train & mask).any() for mask in scored.values())
    return Case(name=name, rows=pool.rows, train=train, parts=scored, devices=devices, held_out=held)
