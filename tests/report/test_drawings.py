"""Drawings of attention, MLA and expert layers: the numbers are those of `explain`, and no texts overlap."""

import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

import synperf
from synperf.kernels import family
from synperf.kernels.moe_call import MOST_EXPERTS
from synperf.kernels.one_by_one import MOST_LISTED, Order
from synperf.report import axis, drawings, explanations, svg
from synperf.report.text import number
from synperf.units import format_time

SVG = "{http://www.w3.org/2000/svg}"
HEADS = {"heads": 32, "kv_heads": 8, "head_dim": 128}
MANY = np.random.default_rng(0).integers(1, 30_000, 4096).tolist()
LAYER = {"hidden": 4096, "inter": 2048, "topk": 8}

TILES = {
    "causal": (synperf.Attention(batch=4, q_len=4096, kv_len=4096, **HEADS), "h100_sxm"),
    "in order": (synperf.Attention(batch=4, q_len=4096, kv_len=4096, **HEADS), "a100_sxm"),
    "no tensor cores": (synperf.Attention(q_len=999, kv_len=999, heads=16, head_dim=64, dtype="fp16"), "p100_pcie"),
    "split": (synperf.Attention(batch=8, q_len=1, kv_len=8192, **HEADS), "h100_sxm"),
    "requests that differ": (synperf.Attention(q_lens=[512, 1, 1], kv_lens=[4096, 900, 12_000], **HEADS), "h100_sxm"),
    "differ, in order": (synperf.Attention(q_lens=[512, 1, 1], kv_lens=[4096, 900, 12_000], **HEADS), "a100_sxm"),
    "many parts": (synperf.Attention(q_len=1, kv_len=10**6, heads=8, kv_heads=1, head_dim=128), "h100_sxm"),
    "one SM busy": (synperf.Attention(q_len=1, kv_len=16, heads=1, head_dim=128), "h100_sxm"),
    "4096 requests": (synperf.Attention(q_len=1, kv_lens=MANY, **HEADS), "h100_sxm"),
    "4096 in order": (synperf.Attention(q_len=1, kv_lens=MANY, **HEADS), "l40s"),
    "too many": (synperf.Attention(batch=4096, q_len=32_768, kv_len=32_768, **HEADS), "h100_sxm"),
    "mla decode": (synperf.Mla(batch=64, q_len=1, kv_len=4096, heads=128), "h100_sxm"),
    "mla prefill": (synperf.Mla(batch=4, q_len=4096, kv_len=4096, heads=16), "h100_sxm"),
    "mla of two steps": (synperf.Mla(q_len=1, kv_len=100, heads=16), "h100_sxm"),
    "mla module": (synperf.Mla(batch=64, q_len=1, kv_len=4096, heads=16, proj_dtype="fp8"), "h100_sxm"),
}  # fmt: skip
EXPERTS = {
    "power law": synperf.FusedMoe(tokens=256, experts=256, ep=8, distribution="power_law_1.2", **LAYER),
    "512": synperf.FusedMoe(tokens=4096, experts=512, distribution="power_law_1.2", **LAYER),
    "one": synperf.FusedMoe(tokens=5, hidden=4096, inter=2048, experts=1, topk=1),
    "balanced ranks": synperf.FusedMoe(tokens=37, experts=64, ep=4, **LAYER),
    "given": synperf.FusedMoe(
        tokens=20, hidden=64, inter=64, experts=4, topk=2, ep=2, tokens_per_expert=[20, 0, 17, 3]
    ),
    "a rank per expert": synperf.FusedMoe(tokens=2**31 - 1, experts=MOST_EXPERTS, ep=MOST_EXPERTS, **LAYER),
    "groups": synperf.GroupedGemm(m_per_group=(128, 0, 300, 64), n=4096, k=7168),
    "one row": synperf.GroupedGemm(m_per_group=(1,), n=1, k=1),
}
ALL = {**TILES, **{name: (call, "h200_sxm") for name, call in EXPERTS.items()}}


def explained(name):
    return synperf.explain(*ALL[name], origin="analytical")


def drawn(x):
    return ElementTree.fromstring(drawings.drawing(x))


def words(root):
    """All text of the drawing as one line: sentences are cut where lines end."""
    return " ".join(element.text for element in root.iter(f"{SVG}text"))


def boxes(root):
    """(left, top, right, bottom, text) of each text that is not turned, as wide as the writer takes it to be."""
    for t in root.iter(f"{SVG}text"):
        if t.get("transform"):
            continue
        x, y, size = (float(t.get(key)) for key in ("x", "y", "font-size"))
        width = svg.width_of(t.text, size, bold=t.get("font-weight") is not None)
        left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[t.get("text-anchor")] * width
        yield left, y - 0.75 * size, left + width, y + 0.2 * size, t.text


@pytest.mark.parametrize("name", ALL)
def test_no_text_lies_on_another_or_outside(name):
    root = drawn(explained(name))
    found = list(boxes(root))
    width, height = float(root.get("width")), float(root.get("height"))
    assert width == 980
    assert [t for left, top, right, bottom, t in found if left < 0 or top < 0 or right > width or bottom > height] == []
    overlapping = [
        (a[4], b[4])
        for a, b in combinations(found, 2)
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]  # fmt: skip
    assert overlapping == []


@pytest.mark.parametrize("name", ALL)
def test_shapes_lie_inside_and_the_file_stays_small(name):
    text = drawings.drawing(explained(name))
    root = ElementTree.fromstring(text)
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
        assert min(x, y, w, h) >= 0
        assert x + w <= 980.1
        assert y + h <= float(root.get("height")) + 0.1
    assert len(text) < 250_000


@pytest.mark.parametrize("name", ALL)
def test_every_time_beside_the_pipes_is_one_that_explain_gives(name):
    x = explained(name)
    said = words(drawn(x))
    document = explanations.to_dict(x)
    for pipe in document["pipes"].values():
        assert format_time(pipe["gpu_s"]) in said
        assert format_time(pipe["sm_max_s"]) in said
    assert f"{document['limiter']}, limit" in said
    assert format_time(document["launch_floor_s"]) in said


@pytest.mark.parametrize("name", TILES)
def test_the_imbalance_is_that_of_explain_and_the_tiles_are_its_steps(name):
    x = explained(name)
    listed = family(x.estimate.family).listed(x.call, x.gpu)
    document = explanations.to_dict(x)
    assert f"Imbalance {document['imbalance']:.3g}: " in words(drawn(x))
    assert listed.busiest / (listed.total / x.gpu.num_sms) == pytest.approx(document["imbalance"])
    assert (listed.num_tiles, listed.busiest) == (document["tiles"], document["facts"]["busiest_sm_steps"])
    if listed.lengths is not None:
        assert (len(listed.lengths), listed.lengths.sum()) == (document["tiles"], document["facts"]["steps"])
        assert listed.lengths.max() == document["facts"]["longest_tile_steps"]


@pytest.mark.parametrize("name", TILES)
def test_the_busiest_row_is_as_busy_as_the_text_says(name):
    x = explained(name)
    listed = family(x.estimate.family).listed(x.call, x.gpu)
    placed, said = listed.place(x.gpu.num_sms), words(drawn(x))
    if placed is None:
        assert listed.num_tiles > MOST_LISTED
        assert "too many to place one by one" in said
        return
    assert placed.loads.sum() == pytest.approx(listed.total)
    if listed.order is Order.EVENLY:
        assert placed.imbalance == pytest.approx(x.features.load.imbalance)
        return
    assert f"imbalance {placed.imbalance:.3g}." in said
    if listed.order is Order.LONGEST_FIRST:
        assert placed.imbalance == pytest.approx(x.features.load.imbalance, rel=0.02)


def test_rows_are_as_long_as_the_work_of_their_sm():
    root = drawn(explained("requests that differ"))
    right = max(
        float(x) + float(width)
        for path in root.iter(f"{SVG}path")
        for x, width in re.findall(r"M([\d.]+) [\d.]+h([\d.]+)", path.get("d"))
    )
    busiest = next(float(line.get("x1")) for line in root.iter(f"{SVG}line") if line.get("stroke") == "#c62828")
    assert right == pytest.approx(busiest, abs=1)  # placed longest first, as the closed form has it


def test_a_split_is_drawn_with_the_launch_after_it():
    x = explained("split")
    root = drawn(x)
    said = words(root)
    assert "each tile in 2 parts of up to 4,096 keys, added up by a second launch (8.72 µs)" in said
    assert "second launch adds up parts" in said
    assert format_time(x.features.reduction_s) == "8.72 µs"
    steps = max(float(r.get("width")) for r in root.iter(f"{SVG}rect") if r.get("fill") == "#f2b263")
    ticks = [float(r.get("x")) for r in root.iter(f"{SVG}rect") if r.get("height") == "5"]  # 0, 10, 20, ... steps
    per_step_s = x.features.pipes["l2"].sm_max_s / x.launch.facts["busiest_sm_steps"]
    assert steps == pytest.approx(x.features.reduction_s / per_step_s * (ticks[1] - ticks[0]) / 10, rel=0.01)


def test_the_parts_of_a_split_tile_are_as_many_as_explain_says():
    x = explained("split")
    strip = [r for r in drawn(x).iter(f"{SVG}rect") if r.get("height") == "14"]
    assert len(strip) == x.launch.choice["num_splits"] == 2
    assert "64 steps, by the kernel's rule in parts of up to 4,096 keys" in words(drawn(x))


def test_products_and_softmax_have_a_pipe_each():
    for name, products in (("causal", "Q K and P V"), ("no tensor cores", "Q K, P V, softmax")):
        said = words(drawn(explained(name)))
        assert products in said
        assert "exponentials" in said


@pytest.mark.parametrize("name", EXPERTS)
def test_bars_add_up_to_the_rows_of_explain(name):
    x = explained(name)
    listed, facts = family(x.estimate.family).listed(x.call, x.gpu), x.launch.facts
    assert listed.rows.sum() == pytest.approx(facts.get("rank_rows", facts.get("rows")))
    assert listed.rows[0] == pytest.approx(facts.get("hottest_expert_rows", facts.get("hottest_group_rows")))
    assert listed.padded.sum() == pytest.approx(facts["padded_rows"])
    assert listed.ranks[0] / listed.ranks.mean() == pytest.approx(facts.get("rank_rows_over_mean", 1.0))
    assert listed.ranks[0] == pytest.approx(listed.rows.sum())


def test_bars_are_as_high_as_the_rows_of_experts():
    root = drawn(explained("given"))  # rank 0 has 20 and 0 rows, rank 1 has 17 and 3; tiles of 16
    bars = [float(r.get("height")) for r in root.iter(f"{SVG}rect") if r.get("fill") == "#2f6fae"][:-1]
    padding = [float(r.get("height")) for r in root.iter(f"{SVG}rect") if r.get("fill") == "#f2b263"][:-1]
    assert bars[0] / padding[0] == pytest.approx(20 / 12, rel=0.01)
    assert (bars[1], padding[1]) == (0, 0)
    said = words(root)
    assert "Active experts: 1 of 2" in said
    assert "Hottest expert: 20 rows" in said
    assert "Padding: 32 rows in whole tiles of 16" in said
    assert "Busiest rank: 20 rows, 1 times the mean of 2 ranks" in said


def test_where_means_dip_with_more_tokens_the_drawing_says_so():
    call = synperf.FusedMoe(tokens=9, hidden=64, inter=64, experts=8, topk=1, ep=8, distribution="power_law_1.01")
    x = synperf.explain(call, "h100_sxm", origin="analytical")
    listed, facts = family("fused_moe").listed(call, x.gpu), x.launch.facts
    drawn_rows, counted_rows = number(listed.rows.sum()), number(facts["rank_rows"])
    drawn_padded, counted_padded = number(listed.padded.sum()), number(facts["padded_rows"])
    assert listed.rows.sum() < 0.99 * facts["rank_rows"]
    said = f"Bars add up to {drawn_rows} rows, {drawn_padded} in whole tiles: the time counts {counted_rows} and"
    assert f"{said} {counted_padded}, as its loads never fall" in words(drawn(x))


def test_a_gpu_of_very_many_sms_is_drawn_in_rows_that_stand_for_several():
    gpu = synperf.what_if(synperf.gpu("h100_sxm"), ["num_sms=5000"])
    call = synperf.Attention(batch=4, q_len=4096, kv_len=4096, **HEADS)
    root = drawn(synperf.explain(call, gpu, origin="analytical"))
    assert "the busiest of 13 alike" in words(root)
    assert len(ElementTree.tostring(root)) < 250_000


@pytest.mark.parametrize(("most", "count", "expected"), [(528, 5, [0, 200, 400]), (1, 5, [0, 0.2, 0.4, 0.6, 0.8, 1])])
def test_ticks_are_round_numbers(most, count, expected):
    assert axis.ticks(most, count) == pytest.approx(expected)
