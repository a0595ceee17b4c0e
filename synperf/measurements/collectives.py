"""Measured messages as calls of collectives: the tables of aiconfigurator-core, PipeWeave's and Vidur's. Needs polars.

What is renamed and set aside, and why, is in collectives.toml. The fields of a row are those of the call: bytes, ranks,
nodes, topk (0 where the operation has none), link, network and dtype.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..errors import FieldError
from .aiconfigurator import folder
from .merging import merged
from .schema import Rows, is_call_test

NUMBERS = ("bytes", "ranks", "nodes", "topk")
_LABELS = ("gpu", "family", "engine", "version", "kernel", "kernel_source", "source", "link", "network", "dtype")
_KEY = ("gpu", "engine", "kernel", "family", "link", "network", "dtype")
_FILES = ("pipeweave_collective.parquet", "vidur_allreduce.parquet", "vidur_sendrecv.parquet")
_PIPEWEAVE = {
    "A100": "a100_sxm", "H100": "h100_sxm", "H20": "h20", "H800": "h800", "RTX_6000_Ada": "rtx_6000_ada",
    "RTX_PRO_6000_S": "rtx_pro_6000_server",
}  # fmt: skip


def read(data: Path | None = None, root: Path | None = None) -> tuple[Rows, Counter[str]]:
    """All measured messages, the newest version of each library on each GPU, and how many were set aside, by reason.

    `data` is the folder of PipeWeave's and Vidur's files, which are left out without it; `root` that of the tables of
    aiconfigurator-core.

    Raises:
        MissingExtraError: the extra [data] is not installed.
        FieldError: the folder lacks one of the files.
    """
    parts = [*_tables(root or folder()), *(_profiles(data) if data is not None else ())]
    table = _newest(pl.concat(parts))
    dropped = Counter(dict(table["dropped"].drop_nulls().value_counts().iter_rows()))
    shared = [name for name in _LABELS if name != "source"]
    kept = table.filter(pl.col("dropped").is_null()).with_columns(source=pl.col("source").first().over(shared))
    split = kept.select("bytes", "ranks", "nodes", "link", "dtype", "topk").iter_rows()
    return _rows(kept.with_columns(is_test=pl.Series(is_call_test(split)))), dropped


def _rows(table: pl.DataFrame) -> Rows:
    """Rows of the schema, messages of one call merged."""
    parts = table.partition_by(*_LABELS, as_dict=True)
    return Rows.join([_merged(parts[values], dict(zip(_LABELS, values, strict=True))) for values in sorted(parts)])


def _merged(part: pl.DataFrame, values: dict[str, Any]) -> Rows:
    numbers = {name: part[name].to_numpy() for name in NUMBERS}
    columns = (part["time_s"].to_numpy(), part["is_test"].to_numpy(), np.zeros(len(part), dtype=bool))
    return merged(values, numbers, *columns)


def _newest(table: pl.DataFrame) -> pl.DataFrame:
    """Sets aside what an older version of a library took on the same GPU and link."""
    key = [*_KEY, "source_kind"]
    table = table.with_columns(release=pl.col("version").map_elements(_release, return_dtype=pl.String))
    used = pl.col("dropped").is_null()
    newest = pl.col("release").filter(used).max().over(key)
    older = used & (pl.col("release") < newest)
    reason = pl.when(older).then(pl.lit(_rules()["reasons"]["older"])).otherwise("dropped")
    return table.with_columns(dropped=reason)


def _release(version: str) -> str:
    """Text that orders versions by their numbers."""
    numbers = "".join(c if c.isdigit() else " " for c in version.partition("+")[0]).split()
    return ".".join(number.zfill(8) for number in numbers)


def _tables(root: Path) -> Iterator[pl.DataFrame]:
    readers = {
        "comm/*/*/nccl_perf.parquet": _nccl,
        "comm/*/*/custom_allreduce_perf.parquet": _custom,
        "comm/*/*/moe_a2a_perf.parquet": _experts,
        "comm/*/*/wideep_deepep_ll_perf.parquet": _deepep,
        "comm/*/*/wideep_deepep_normal_perf.parquet": _deepep,
        "comm/*/*/trtllm_alltoall_perf.parquet": _alltoall,
        "comm/*/*/oneccl_perf.parquet": _oneccl,
    }
    for gpu in sorted(path for path in root.iterdir() if path.is_dir()):
        for files, reader in readers.items():
            for path in sorted(gpu.glob(files)):
                table = pl.read_parquet(path)
                if "version" not in table.columns:
                    table = table.with_columns(version=pl.lit(path.parent.name))
                yield _labelled(reader(table, gpu.name), path.relative_to(root))


def _labelled(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Adds what the folders say, and the columns that most sources lack."""
    gpu, rules = path.parts[0], _rules()
    key = f"{gpu}/{path.parts[2]}/{path.parts[3]}"
    link = rules["another_host"].get(key, rules["links"].get(gpu, ""))
    maker = pl.lit(None if gpu in rules["links"] else rules["reasons"]["maker"], dtype=pl.String)
    table = table.with_columns(
        gpu=pl.lit(gpu),
        source=pl.lit(path.as_posix()),
        source_kind=pl.lit("tables"),
        link=pl.lit(link),
        network=pl.when(pl.col("nodes") > 1).then(pl.lit(rules["network"].get(gpu, ""))).otherwise(pl.lit("")),
        dropped=pl.coalesce("dropped", maker),
    )
    return _ordered(table)


def _nccl(table: pl.DataFrame, _: str) -> pl.DataFrame:
    rules = _rules()
    dtype = pl.col("nccl_dtype").replace_strict(rules["dtypes"])
    size = pl.col("message_size") * dtype.replace_strict(rules["bytes"], return_dtype=pl.Float64)
    return _call(
        table, engine=pl.lit("nccl"), kernel=pl.lit("nccl"),
        family=pl.col("op_name").replace_strict(rules["operations"]), dtype=dtype, size=size,
        ranks=pl.col("num_gpus"), time=pl.col("latency") * rules["seconds"]["ms"],
    )  # fmt: skip


def _oneccl(table: pl.DataFrame, gpu: str) -> pl.DataFrame:
    return _nccl(table.with_columns(op_name=pl.lit("all_reduce")), gpu)


def _custom(table: pl.DataFrame, gpu: str) -> pl.DataFrame:
    rules = _rules()
    is_eager = pl.col("kernel_source").str.ends_with("_eager")
    framework = pl.col("framework").str.to_lowercase()
    across = (framework + "/" + pl.col("version")).is_in(rules["across_trays"].get(gpu, []))
    return _call(
        table, engine=framework, kernel=pl.lit("custom_all_reduce"), family=pl.lit("all_reduce"), dtype=pl.lit("bf16"),
        size=pl.col("message_size") * 2, ranks=pl.col("num_gpus"), time=pl.col("latency") * rules["seconds"]["ms"],
        dropped=_first((is_eager, "eager"), (across & (pl.col("num_gpus") == 2), "across_trays")),
    )  # fmt: skip


def _experts(table: pl.DataFrame, _: str) -> pl.DataFrame:
    rules = _rules()
    dtype = pl.col("comm_dtype").replace_strict(rules["dtypes"])
    return _call(
        table, engine=pl.col("framework").str.to_lowercase(),
        kernel=pl.col("comm_backend").replace_strict(rules["experts"]),
        family=pl.col("phase").replace_strict(rules["phases"]), dtype=dtype,
        size=_token_bytes("num_tokens", dtype), ranks=pl.col("ep_size"), nodes=pl.col("node_num"), topk=pl.col("topk"),
        time=pl.col("latency") * rules["seconds"]["us"],
    )  # fmt: skip


def _alltoall(table: pl.DataFrame, _: str) -> pl.DataFrame:
    rules = _rules()
    dtype = pl.col("moe_dtype").replace_strict(rules["dtypes"])
    sent = pl.when(pl.col("op_name") == "alltoall_combine").then(pl.lit("bf16")).otherwise(dtype)
    known = pl.col("op_name").is_in(list(rules["phases"]))
    return _call(
        table, engine=pl.lit("trtllm"), kernel=pl.col("kernel_source").replace_strict(rules["experts"]),
        family=pl.col("op_name").replace_strict(rules["phases"], default="moe_dispatch"), dtype=sent,
        size=_token_bytes("num_tokens", sent), ranks=pl.col("moe_ep_size"), topk=pl.col("topk"),
        time=pl.col("latency") * rules["seconds"]["ms"], dropped=_first((~known, "prepare")),
    )  # fmt: skip


def _deepep(table: pl.DataFrame, gpu: str) -> pl.DataFrame:
    """Both phases of DeepEP's own benchmark: fp8 is dispatched, bf16 combined."""
    rules = _rules()
    is_ll = "dispatch_avg_t_us" in table.columns
    per_node = rules["ranks_per_node"].get(gpu, 8)
    parts = []
    for phase, dtype in (("dispatch", "fp8"), ("combine", "bf16")):
        columns = [f"{phase}_avg_t_us"] if is_ll else [f"{phase}_transmit_us", f"{phase}_notify_us"]
        other = pl.lit(False) if is_ll else pl.col(f"{phase}_sms") != rules["sms"]["default"]
        parts.append(
            _call(
                table, engine=pl.lit("sglang"), kernel=pl.lit("deepep_ll" if is_ll else "deepep_ht"),
                family=pl.lit(rules["phases"][phase]), dtype=pl.lit(dtype),
                size=_token_bytes("num_token", pl.lit(dtype)), ranks=pl.col("node_num") * per_node,
                nodes=pl.col("node_num"), topk=pl.col("num_topk"),
                time=pl.sum_horizontal(columns) * rules["seconds"]["us"],
                dropped=_first((other, "sms"), (_is_other_device(gpu), "device")),
            )
        )  # fmt: skip
    return pl.concat(parts)


def _is_other_device(gpu: str) -> pl.Expr:
    return (pl.lit(gpu == "h200_sxm")) & (pl.col("device") == "NVIDIA H100")


def _profiles(data: Path) -> Iterator[pl.DataFrame]:
    """Medians of three launches that a profiler timed; the layout is that of Vidur."""
    if missing := [name for name in _FILES if not (data / name).is_file()]:
        raise FieldError(f"data: {missing[0]} is not in {data}; right would be the folder that has {', '.join(_FILES)}")
    for name in _FILES:
        table = pl.read_parquet(data / name)
        is_vidur = "node" in table.columns
        yield _ordered((_of_vidur if is_vidur else _of_pipeweave)(table).with_columns(source=pl.lit(name)))


def _of_pipeweave(table: pl.DataFrame) -> pl.DataFrame:
    keys = table.with_columns(key=pl.col("gpu").replace_strict(_PIPEWEAVE)).with_columns(version=pl.lit("pipeweave"))
    return _profiled(keys).with_columns(
        gpu=keys["key"], link=keys["key"].replace_strict(_rules()["links"]), source_kind=pl.lit("pipeweave")
    )


def _of_vidur(table: pl.DataFrame) -> pl.DataFrame:
    nodes = _rules()["nodes"]
    table = table.with_columns(version=pl.lit("vidur"))
    is_pair = pl.col("node").str.contains("pairwise") & (pl.col("op") == "send_recv")
    reason = _first(
        (pl.col("num_workers") > pl.col("devices_per_node"), "across"),
        (is_pair & (pl.col("node") == "a40_pairwise_nvlink"), "not_linked"),
        (is_pair, "copy"),
    )
    gpu, link, beyond = (
        table["node"].replace_strict({name: place[i] for name, place in nodes.items()}) for i in range(3)
    )
    reached = pl.when(table["num_workers"] > 2).then(beyond).otherwise(link)
    return _profiled(table, reason).with_columns(gpu=gpu, link=reached, source_kind=pl.lit("vidur"))


def _profiled(table: pl.DataFrame, dropped: pl.Expr | None = None) -> pl.DataFrame:
    return _call(
        table.with_columns(kernel_source=pl.lit("nccl")), engine=pl.lit("torch"), kernel=pl.lit("nccl_eager"),
        family=pl.col("op"), dtype=pl.lit("bf16"), size=pl.col("size_bytes"), ranks=pl.col("num_workers"),
        time=pl.col("median_ms").cast(pl.Float64) * _rules()["seconds"]["ms"], dropped=dropped,
    ).with_columns(network=pl.lit(""))  # fmt: skip


def _call(
    table: pl.DataFrame, *, engine: pl.Expr, kernel: pl.Expr, family: pl.Expr, dtype: pl.Expr, size: pl.Expr,
    ranks: pl.Expr, time: pl.Expr, nodes: pl.Expr | None = None, topk: pl.Expr | None = None,
    dropped: pl.Expr | None = None,
) -> pl.DataFrame:  # fmt: skip
    """The columns of a call, and in `dropped` why a row is set aside, or null."""
    return table.select(
        engine=engine, kernel=kernel, family=family, dtype=dtype, version=pl.col("version"),
        kernel_source=pl.col("kernel_source"), bytes=size.cast(pl.Int64), ranks=ranks.cast(pl.Int64),
        nodes=(pl.lit(1) if nodes is None else nodes).cast(pl.Int64),
        topk=(pl.lit(0) if topk is None else topk).cast(pl.Int64), time_s=time,
        dropped=pl.lit(None, dtype=pl.String) if dropped is None else dropped,
    )  # fmt: skip


def _token_bytes(tokens: str, dtype: pl.Expr) -> pl.Expr:
    values = pl.col(tokens) * pl.col("hidden_size")
    return values * dtype.replace_strict(_rules()["bytes"], return_dtype=pl.Float64)


def _first(*tests: tuple[pl.Expr, str]) -> pl.Expr:
    """The reason of the first test that a row meets, else null."""
    reasons = _rules()["reasons"]
    return pl.coalesce(*(pl.when(test).then(pl.lit(reasons[name])) for test, name in tests), pl.lit(None, pl.String))


def _ordered(table: pl.DataFrame) -> pl.DataFrame:
    return table.select(*_LABELS, *NUMBERS, "time_s", "source_kind", "dropped")


def systems(rows: Rows) -> Sequence[Rows]:
    """The rows of each curve: of one library, version, operation, format and link of one GPU."""
    return [part for _, part in rows.groups("gpu", "engine", "kernel", "version", "family", "dtype", "link", "network")]


@cache
def _rules() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
