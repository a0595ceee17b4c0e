"""The check list, answered from a description."""

import pytest

from synperf import FieldError, FileFormatError
from synperf.analysis.checklist import items
from synperf.calculators.checklist import _how, checklist, fields, read_description, template
from synperf.calculators.checklist_rules import RULES
from synperf.errors import UnknownNameError

from ..cli.runner import assert_refused, invoke

GOOD = {
    "block_size": 256, "coalescing_efficiency": 0.95, "branch_efficiency": 0.99, "uses_shared_memory": True,
    "exposed_copy_share": 0.0, "grid_ctas": 1000, "gpu": "h100_sxm", "dtype": "bf16", "transposes": 0,
    "unfused_share": 0.01, "gemm_n": 4096, "gemm_k": 4096, "temporaries_share": 0.02, "registers_per_thread": 128,
    "first_over_median": 1.1, "memory_bound_share": 0.2, "launch_idle_share": 0.0, "synchronisation_share": 0.0,
    "reserved_bytes": 10e9, "allocated_bytes": 9e9, "quality_loss": 0.0, "exposed_communication_share": 0.01,
    "message_bytes": 100_000_000, "ranks": 8, "algorithm": "ring", "rank_times": [1.0, 1.01], "late_share": 0.01,
    "racks": 1, "gradients_overlap": True, "roofline_share": 0.7, "largest_kernel_share": 0.3, "batching": "continuous",
}  # fmt: skip
BAD = {
    "block_size": 100, "coalescing_efficiency": 0.5, "branch_efficiency": 0.5, "uses_shared_memory": False,
    "exposed_copy_share": 0.1, "grid_ctas": 10, "dtype": "fp32", "transposes": 3, "unfused_share": 0.2, "gemm_n": 1001,
    "temporaries_share": 0.3, "registers_per_thread": 255, "first_over_median": 12, "memory_bound_share": 0.9,
    "launch_idle_share": 0.2, "synchronisation_share": 0.2, "allocated_bytes": 4e9, "quality_loss": 0.1,
    "exposed_communication_share": 0.3, "message_bytes": 4096, "rank_times": [1.0, 2.0], "late_share": 0.2, "racks": 2,
    "gradients_overlap": False, "roofline_share": 0.2, "largest_kernel_share": 0.01, "batching": "static",
}  # fmt: skip


def test_there_are_six_items_in_each_of_four_groups_and_sixteen_traps():
    found = checklist({})
    of = [one.group for one in found.checks if one.kind == "item"]
    assert [of.count(group) for group in ("gpu", "tensor", "inference", "distributed")] == [6, 6, 6, 6]
    assert len(found.checks) == 24 + 16
    assert found.unknown == 40


def test_a_block_of_a_hundred_threads_fails_the_first_item():
    first = checklist({"block_size": 100}).checks[0]
    assert (first.key, first.state) == ("block_size", "fail")
    assert first.reason == "100 threads of a CTA: 28 of 128 lanes idle; right would be a multiple of 32"


def test_a_small_message_on_a_ring_is_told_with_both_times():
    found = checklist({"message_bytes": 4096, "ranks": 8, "algorithm": "ring"})
    trap = next(one for one in found.checks if one.key == "small_messages_on_a_ring")
    assert trap.state == "fail"
    assert trap.reason == "4.1 kB over 8 ranks: 70.1 µs on a ring, 30.2 µs on a tree"
    assert checklist({"message_bytes": 4096, "ranks": 8, "algorithm": "tree"}).failed == 0


def test_transposes_are_counted():
    assert "3 layout conversions between layers" in checklist({"transposes": 3}).why[0]


def test_a_good_description_passes_all():
    found = checklist(GOOD)
    assert [one.key for one in found.checks if one.state != "pass"] == []
    assert set(GOOD) == set(fields())


@pytest.mark.parametrize("name", sorted(BAD))
def test_each_field_can_fail_what_asks_for_it(name):
    found = checklist(GOOD | {name: BAD[name]})
    failed = [one.key for one in found.checks if one.state == "fail"]
    assert failed
    assert all(name in (_how(key).get("fields") or [_how(key)["field"]]) for key in failed)


def test_every_item_has_a_rule():
    assert {_how(item["key"])["rule"] for item in items()} == set(RULES)


def test_tables_are_for_order_alone():
    assert checklist({"gpu_part": {"block_size": 128}}).passed == 1
    with pytest.raises(FieldError, match="block_size is described twice"):
        checklist({"block_size": 128, "more": {"block_size": 64}})


@pytest.mark.parametrize(
    ("described", "said"),
    [
        ({"block_size": 0}, "block_size"),
        ({"coalescing_efficiency": 80}, "coalescing_efficiency must be a share from 0 to 1, got 80"),
        ({"coalescing_efficiency": "much"}, "coalescing_efficiency must be a number"),
        ({"uses_shared_memory": "perhaps"}, "uses_shared_memory"),
        ({"rank_times": []}, "rank_times"),
        ({"rank_times": 3}, "rank_times must be a list"),
        ({"message_bytes": 1, "ranks": 1, "algorithm": "ring"}, "ranks must be 2 or more"),
        ({"reserved_bytes": 1, "allocated_bytes": 2}, "allocated_bytes"),
        ({"batching": ""}, "batching"),
        ({"transposes": float("nan")}, "transposes"),
    ],
)
def test_bad_values_are_named(described, said):
    with pytest.raises(FieldError, match=said):
        checklist(described)


def test_an_unknown_field_is_named_with_its_nearest():
    with pytest.raises(UnknownNameError, match="no field named 'blok_size'; nearest: block_size"):
        checklist({"blok_size": 32})


def test_a_file_describes(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text("[kernel]\nblock_size = 100\n", encoding="utf-8")
    assert "1 fail" in invoke("checklist", str(path)).out
    assert "0 fail, 1 pass" in invoke("checklist", str(path), "--set", "block_size=64").out
    path.write_text("block_size = = 3", encoding="utf-8")
    with pytest.raises(FileFormatError, match="not TOML"):
        read_description(path)
    assert_refused(invoke("checklist", str(path)))
    assert_refused(invoke("checklist", str(tmp_path)))
    assert_refused(invoke("checklist", str(tmp_path / "none.toml")))
    assert_refused(invoke("checklist"))


def test_the_template_is_a_description_with_every_field(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(template(), encoding="utf-8")
    assert read_description(path) == {}
    assert all(f"# {name} =" in template() for name in fields())
