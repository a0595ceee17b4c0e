"""The drawing of waves over SMs."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.report.svg import document, text
from synperf.report.waves import Waves, render

SVG = "{http://www.w3.org/2000/svg}"


def drawn(**launch):
    return ElementTree.fromstring(render(Waves(**{"ctas_per_sm": 1, "task_s": None} | launch)))


def words(root):
    return [element.text for element in root.iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("num_tasks", "num_sms", "ctas_per_sm", "said"),
    [
        (1, 132, 1, ["132 at once (1 per SM); 1 wave, 0.758 % full", "with 1 task", "131 SMs without work"]),
        (109, 108, 1, ["108 at once (1 per SM); 2 waves, the last 0.926 % full", "107 SMs with 1 task each"]),
        (512, 132, 1, ["busiest: 116 SMs", "with 4 tasks each", "16 SMs with 3 tasks each"]),
        (300, 132, 2, ["264 at once (2 per SM); 2 waves, the last 13.6 % full", "96 SMs with 2 tasks each"]),
        (100_000, 132, 2, ["100,000 tasks over 132 SMs", "370 more", "full waves", "with 758 tasks each"]),
        (20, 10, 1, ["10 at once (1 per SM); 2 waves, the last 100 % full", "busiest: 10 SMs", "with 2 tasks each"]),
    ],
)
def test_the_words_say_what_the_picture_shows(num_tasks, num_sms, ctas_per_sm, said):
    found = words(drawn(num_tasks=num_tasks, num_sms=num_sms, ctas_per_sm=ctas_per_sm))
    assert [line for line in said if line not in found] == []


def test_the_tail_covers_the_share_of_rows_that_runs_it():
    shapes = list(drawn(num_tasks=15, num_sms=10).iter(f"{SVG}rect"))
    wave = next(shape for shape in shapes if shape.get("fill") == "#4c78a8")
    tail = next(shape for shape in shapes if shape.get("fill") == "#f58518")
    assert float(tail.get("height")) * 2 == float(wave.get("height"))
    assert float(tail.get("x")) == float(wave.get("x")) + float(wave.get("width")) + 1


def test_times_stand_at_the_ends_of_waves_where_a_task_has_one():
    assert {"34 µs", "68 µs", "102 µs", "136 µs"} <= set(words(drawn(num_tasks=512, num_sms=132, task_s=34e-6)))
    assert {"0", "1", "2", "3", "4"} <= set(words(drawn(num_tasks=512, num_sms=132)))


def test_it_says_how_to_read_it_and_what_it_does_not_show():
    found = words(drawn(num_tasks=5, num_sms=2))
    assert any(line.startswith("Each row is an SM") for line in found)
    assert any(line.startswith("Not shown: ") for line in found)


@given(st.integers(1, 2**40), st.integers(1, 2000), st.integers(1, 32), st.sampled_from([None, 1e-6]))
def test_any_launch_is_valid_xml_inside_its_frame_and_small(num_tasks, num_sms, ctas_per_sm, task_s):
    root = drawn(num_tasks=num_tasks, num_sms=num_sms, ctas_per_sm=ctas_per_sm, task_s=task_s)
    width, height = float(root.get("width")), float(root.get("height"))
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
        assert x >= 0
        assert y >= 0
        assert w >= 0
        assert h >= 0
        assert x + w <= width + 0.1
        assert y + h <= height + 0.1
    assert len(ElementTree.tostring(root)) < 60_000


@given(st.integers(1, 10**6), st.integers(1, 200), st.integers(1, 8))
def test_the_parts_of_a_launch_add_up(num_tasks, num_sms, ctas_per_sm):
    launch = Waves(num_tasks=num_tasks, num_sms=num_sms, ctas_per_sm=ctas_per_sm)
    assert launch.full * launch.slots + launch.tail == num_tasks
    assert 1 <= launch.tail <= launch.slots
    others = num_sms - launch.num_busiest
    assert launch.num_busiest * launch.most + others * (launch.most - 1) == num_tasks
    assert 0 < launch.tail_width <= 1


def test_text_is_escaped():
    drawing = document(10, 10, "a < b & c", [text(1, 2, '<b> "x"')])
    assert "<title>a &lt; b &amp; c</title>" in drawing
    assert re.search(r">&lt;b&gt; &quot;x&quot;</text>", drawing)
