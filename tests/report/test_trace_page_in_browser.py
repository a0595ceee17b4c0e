"""The page in a browser, where there is one: it asks for nothing, nothing goes wrong, its numbers are the JSON's."""

import json
import re
import shutil
from pathlib import Path

import pytest

from ..cli.runner import invoke
from ..traces.shared_files import real
from .page_numbers import number, rows

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
OWN = {
    "training": ["training.json"],
    "four ranks": [f"rank{rank}.json" for rank in range(4)],
    "decoding with graphs": ["decode.json"],
}
REAL = {
    "ResNet-50": ["resnet50_v100_dataloader0.json.gz"],
    "DLRM": [f"dlrm_v100_8ranks/rank{rank}.json.gz" for rank in range(8)],
    "SGLang": ["sglang_decode_hipgraph_mi300.json.gz"],
}
MOST = 100  # rows of a table on the page
ROWS = """() => Object.fromEntries([...document.querySelectorAll("table")].map((table) => [table.id, {
    heads: [...table.tHead.rows[0].cells].map((cell) =>
        cell.className === "picture" ? "picture" : cell.innerText.trim()),
    rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) =>
        ({ value: cell.dataset.value, text: cell.innerText, kind: cell.className }))),
}]))"""
COLOURS = """() => ["body", ".soft", ".five dd", "a", ".note"].map((name) => {
    const one = document.querySelector(name);
    return [getComputedStyle(one).color, getComputedStyle(document.body).backgroundColor];
})"""


@pytest.fixture(scope="module")
def browser():
    with driver.sync_playwright() as playwright:
        yield (started := playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"]))
        started.close()


@pytest.fixture(scope="module", params=[*OWN, *REAL])
def written(request, tmp_path_factory):
    """A page, and the document of `--json`, by one call of the command."""
    own, folder = OWN.get(request.param), tmp_path_factory.mktemp("page")
    files = [EXAMPLES / name for name in own] if own else [real(name) for name in REAL[request.param]]
    seen = invoke("analyze", *map(str, files), "--json", "--html", str(folder / "page.html"))
    assert (seen.code, seen.err) == (0, "")
    return folder / "page.html", json.loads(seen.out)


class Opened:
    """A page without a network: what it asks for beside itself, what goes wrong, and the page."""

    def __init__(self, browser, path, theme="light"):
        self.asked, self.wrong, self.own = [], [], path.as_uri()
        size = {"width": 1280, "height": 800}
        self.context = browser.new_context(viewport=size, color_scheme=theme, offline=True)
        self.page = self.context.new_page()
        self.context.route("**/*", self._only_itself)
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.goto(self.own)

    def _only_itself(self, route):
        if route.request.url == self.own:
            route.continue_()
        else:
            self.asked.append(route.request.url)
            route.abort()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()
        assert (self.asked, self.wrong) == ([], [])


def contrast(one, other):
    """Of two colours, by WCAG 2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_fits_and_can_be_read_in_the_system_s_theme_and_in_the_other(browser, written, theme):
    with Opened(browser, written[0], theme) as one:
        papers = []
        for _ in range(2):
            for wide in (360, 1280):
                one.page.set_viewport_size({"width": wide, "height": 800})
                assert one.page.evaluate("document.documentElement.scrollWidth") <= wide
            pairs = one.page.evaluate(COLOURS)
            assert min(contrast(*pair) for pair in pairs) >= 4.5
            papers.append(luminance(pairs[0][1]))
            one.page.click("#theme")
        assert (papers[0] > papers[1]) == (theme == "light")


def test_what_is_seen_first_is_the_verdict_warnings_and_five_numbers(browser, written):
    with Opened(browser, written[0]) as one:
        parts = [one.page.locator(name) for name in (".verdict", ".warnings", ".five", ".whole")]
        places = [part.bounding_box() for part in parts if part.count()]
        bottoms = [place["y"] + place["height"] for place in places]
        assert bottoms == sorted(bottoms)
        assert bottoms[-1] <= 800


def test_every_number_is_that_of_the_json(browser, written):
    path, found = written
    with Opened(browser, path) as one:
        shown = one.page.evaluate(ROWS)
        assert json.loads(one.page.locator("#analysis").text_content()) == found
    wanted = rows(found)
    assert set(shown) == set(wanted)
    for name, table in shown.items():
        assert len(table["rows"]) == min(len(wanted[name]), MOST)
        for cells, row in zip(table["rows"], wanted[name], strict=False):
            check_row(dict(zip(table["heads"], cells, strict=True)), row)


def check_row(cells, wanted):
    """Values are those of the JSON, and texts say the values; a column that is not on the page has none."""
    assert cells.keys() - {"picture"} <= wanted.keys()
    for head, value in wanted.items():
        if head not in cells:
            assert value in (None, "", [])
        elif head == "slow":  # names with times
            assert [text.rsplit(" ", 2)[0] for text in cells[head]["text"].split(", ") if text] == value
        else:
            assert json.loads(cells[head]["value"]) == value
            check_text(cells[head], head, value)


def check_text(cell, head, value):
    """What stands in a cell says its value; "5 of 8" says how often of how many."""
    text = cell["text"].replace("\xa0", " ")
    if cell["kind"] == "number" and value is not None:
        assert number(text.split(" of ")[0] if head == "last at" else text) == pytest.approx(value, rel=0.006, abs=1e-9)
    elif cell["kind"] in ("long", "short") and isinstance(value, str):
        assert text == value.replace("`", "")


def test_the_five_numbers_and_the_captions_are_sums_of_the_json(browser, written):
    path, found = written
    sums = {
        key: sum(one[key] for one in found["ranks"]) for key in ("span_ns", "compute_ns", "idle_ns", "exposed_comm_ns")
    }
    with Opened(browser, path) as one:
        five = one.page.locator(".five dd[data-value]")
        values = [json.loads(value) for value in five.evaluate_all("all => all.map((one) => one.dataset.value)")]
        texts = five.all_inner_texts()
        captions = one.page.locator("#timeline-section figcaption").all_inner_texts()
    assert values[:4] == list(sums.values())
    assert values[4] == rows(found)["families"][0]["total"]
    assert list(map(number, texts)) == pytest.approx(values, rel=0.006)
    idle = [number(caption.rsplit("idle ")[1]) for caption in captions]
    assert idle == pytest.approx([one["idle_ns"] / one["span_ns"] for one in found["ranks"]], rel=0.006)


def test_findings_and_doubts_are_told_in_the_words_of_the_json(browser, written):
    path, found = written
    with Opened(browser, path) as one:
        text = one.page.locator("body").inner_text().replace("\xa0", " ")
    for finding in found["findings"]:
        for words in (finding["title"], finding["evidence"], finding["advice"]):
            assert words.replace("`", "") in text
    for doubt in [*(one["text"] for one in found["warnings"]), *(one["reason"] for one in found["not_seen"])]:
        assert doubt.replace("`", "") in text


def test_memory_over_time_reaches_its_peak_where_it_is_recorded(browser, written):
    path, found = written
    with Opened(browser, path) as one:
        drawn = one.page.locator("#memory-section figure")
        captions = drawn.locator("figcaption").all_inner_texts()
        tops = drawn.locator("path").evaluate_all("all => all.map((one) => one.getBBox().height)")
    assert len(captions) == len(found["memory"])
    assert tops == pytest.approx([100.0] * len(tops), abs=0.5)


def test_a_click_on_a_head_sorts_and_a_second_one_turns_around(browser, written):
    with Opened(browser, written[0]) as one:
        head = one.page.locator("#families th button").nth(2)
        cells = one.page.locator("#families tbody tr td:nth-child(3)")
        value = "all => all.map((one) => JSON.parse(one.dataset.value))"
        head.click()
        down = cells.evaluate_all(value)
        head.press("Enter")  # by the keyboard too
        up = cells.evaluate_all(value)
    assert (down, up) == (sorted(down, reverse=True), sorted(down))
