"""Measured messages as calls: sizes in bytes, links, and what is set aside."""

import pytest

pytest.importorskip("polars", reason="needs the extra [data]")

import polars as pl

from synperf.errors import FieldError
from synperf.measurements import collectives

NCCL = {
    "framework": "TRTLLM", "version": "2.29.2", "device": "NVIDIA H200", "op_name": "all_reduce",
    "kernel_source": "NCCL", "nccl_dtype": "half", "num_gpus": 8, "message_size": 1024, "latency": 0.5,
}  # fmt: skip
CUSTOM = {
    "framework": "vLLM", "version": "0.24.0", "device": "NVIDIA H200", "op_name": "all_reduce", "num_gpus": 2,
    "kernel_source": "vLLM_custom_graph", "allreduce_dtype": "bfloat16", "message_size": 128, "latency": 0.25,
}  # fmt: skip
EXPERTS = {
    "framework": "vLLM", "version": "0.24.0", "kernel_source": "deepep", "comm_backend": "deepep_ht",
    "phase": "dispatch", "comm_dtype": "default", "ep_size": 8, "node_num": 1, "hidden_size": 1000, "topk": 8,
    "num_experts": 256, "num_tokens": 10, "latency": 500.0,
}  # fmt: skip
DEEPEP = {
    "framework": "sglang", "version": "0.5.0", "device": "NVIDIA H200", "kernel_source": "deepep", "node_num": 2,
    "hidden_size": 1000, "num_token": 10, "num_topk": 8, "num_experts": 256, "dispatch_sms": 20, "combine_sms": 20,
    "dispatch_transmit_us": 400.0, "dispatch_notify_us": 100.0, "combine_transmit_us": 300.0, "combine_notify_us": 0.0,
}  # fmt: skip
PROFILE = {"size_bytes": 4096, "num_workers": 2, "devices_per_node": 2, "op": "all_reduce", "median_ms": 1.0}


def put(root, inner, *rows):
    path = root / inner
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(list(rows)).write_parquet(path)


def read(root, data=None):
    return collectives.read(data, root)


def read_profiles(data):
    """Without the tables of a package."""
    (data / "tables").mkdir()
    return collectives.read(data, data / "tables")


def one(rows, name):
    (value,) = set(rows.column(name).tolist())
    return value


def test_the_size_of_nccl_is_a_number_of_elements(tmp_path):
    put(tmp_path, "h200_sxm/comm/nccl/2.29.2/nccl_perf.parquet", NCCL, NCCL | {"nccl_dtype": "int8"})
    rows, dropped = read(tmp_path)
    by_dtype = dict(zip(rows.column("dtype").tolist(), rows.column("bytes").tolist(), strict=True))
    assert by_dtype == {"bf16": 2048, "int8": 1024}
    assert (one(rows, "link"), one(rows, "network"), one(rows, "ranks")) == ("nvlink4", "", 8)
    assert rows.time_s.tolist() == [0.5e-3, 0.5e-3]
    assert not dropped


def test_the_newest_version_answers_and_older_rows_are_counted(tmp_path):
    put(tmp_path, "h200_sxm/comm/nccl/2.9.1/nccl_perf.parquet", NCCL | {"version": "2.9.1"})
    put(tmp_path, "h200_sxm/comm/nccl/2.29.2/nccl_perf.parquet", NCCL)
    rows, dropped = read(tmp_path)
    assert one(rows, "version") == "2.29.2"
    assert sum(dropped.values()) == 1


def test_rows_of_one_version_in_two_folders_are_samples_of_one(tmp_path):
    put(tmp_path, "h200_sxm/comm/nccl/2.26/nccl_perf.parquet", NCCL | {"latency": 0.3})
    put(tmp_path, "h200_sxm/comm/nccl/2.29.2/nccl_perf.parquet", NCCL)
    rows, _ = read(tmp_path)
    assert (len(rows), rows.samples.tolist()) == (1, [2])
    assert rows.time_s == pytest.approx(0.4e-3)


def test_rows_without_a_graph_and_of_another_topology_are_set_aside(tmp_path):
    put(
        tmp_path,
        "h200_sxm/comm/vllm/0.24.0/custom_allreduce_perf.parquet",
        CUSTOM,
        CUSTOM | {"kernel_source": "vLLM_custom_eager"},
    )
    put(tmp_path, "gb200/comm/vllm/0.24.0/custom_allreduce_perf.parquet", CUSTOM, CUSTOM | {"num_gpus": 4})
    rows, dropped = read(tmp_path)
    assert sorted(zip(rows.gpu.tolist(), rows.column("ranks").tolist(), strict=True)) == [("gb200", 4), ("h200_sxm", 2)]
    assert one(rows, "bytes") == 256
    assert sorted(dropped.values()) == [1, 1]


def test_tokens_count_once_in_the_bytes_of_an_expert_layer(tmp_path):
    put(tmp_path, "h200_sxm/comm/vllm/0.24.0/moe_a2a_perf.parquet", EXPERTS)
    rows, _ = read(tmp_path)
    assert (one(rows, "bytes"), one(rows, "topk"), one(rows, "kernel")) == (10 * 1000 * 2, 8, "deepep_ht")
    assert rows.family.tolist() == ["moe_dispatch"]
    assert rows.time_s == pytest.approx([500e-6])


def test_deepep_dispatches_bytes_and_combines_bf16_between_nodes(tmp_path):
    put(
        tmp_path,
        "h200_sxm/comm/sglang/0.5.6/wideep_deepep_normal_perf.parquet",
        DEEPEP,
        DEEPEP | {"dispatch_sms": 4, "combine_sms": 4},
    )
    rows, dropped = read(tmp_path)
    found = {
        (f, b): t
        for f, b, t in zip(rows.family.tolist(), rows.column("bytes").tolist(), rows.time_s.tolist(), strict=True)
    }
    assert found == {("moe_dispatch", 10_000): pytest.approx(500e-6), ("moe_combine", 20_000): pytest.approx(300e-6)}
    assert (one(rows, "ranks"), one(rows, "nodes"), one(rows, "network")) == (16, 2, "infiniband_ndr")
    assert sum(dropped.values()) == 2


def test_profiles_are_nccl_launch_by_launch(tmp_path):
    put(tmp_path, "pipeweave_collective.parquet", PROFILE | {"gpu": "H20"})
    nodes = [
        {"node": "a100_dgx"}, {"node": "a100_dgx", "devices_per_node": 1}, {"node": "a100_pairwise_nvlink"},
        {"node": "a100_pairwise_nvlink", "num_workers": 4, "devices_per_node": 4},
    ]  # fmt: skip
    put(tmp_path, "vidur_allreduce.parquet", *(PROFILE | node for node in nodes))
    put(tmp_path, "vidur_sendrecv.parquet", PROFILE | {"op": "send_recv", "node": "h100_pairwise_nvlink"})
    rows, dropped = read_profiles(tmp_path)
    places = sorted(zip(rows.gpu.tolist(), rows.column("link").tolist(), rows.column("ranks").tolist(), strict=True))
    assert places == [
        ("a100_pcie", "nvlink_bridge", 2),
        ("a100_pcie", "pcie4", 4),
        ("a100_sxm", "nvlink3", 2),
        ("h20", "nvlink4", 2),
    ]
    assert (one(rows, "kernel"), one(rows, "engine")) == ("nccl_eager", "torch")
    assert len(dropped) == 2


def test_a_folder_without_the_profiles_gets_one_sentence(tmp_path):
    with pytest.raises(FieldError, match=r"data: pipeweave_collective\.parquet is not in"):
        read(tmp_path, tmp_path)
