"""The page of a trace: complete in itself, well formed, and its numbers are those of the JSON."""

import json
import re
from html.parser import HTMLParser

import pytest

from synperf.analysis.whole import analyze_traces
from synperf.report.analysis import to_dict
from synperf.report.trace_page import to_html

from .analysed import REAL, real, traces
from .page_numbers import rows

VOID = {"meta", "br"}


class Page(HTMLParser):
    """Elements in order, what is not closed well, and the cells of each table."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.links, self.tables, self.five = [], [], [], {}, {}
        self.scripts, self.heads, self._table, self._script = {}, {}, None, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.links += [value for key, value in attrs.items() if key in ("src", "href", "srcset", "data", "action")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self._heads = self.heads.setdefault(attrs["id"], [])
            self._table = self.tables.setdefault(attrs["id"], [])
        if tag == "button" and "th" in self.open:
            self._heads.append("")
        if tag == "tr" and "tbody" in self.open:
            self._table.append([])
        if tag == "td" and "data-value" in attrs:
            self._table[-1].append(json.loads(attrs["data-value"]))
        if tag == "dd" and "data-value" in attrs:
            self.five[attrs["data-name"]] = json.loads(attrs["data-value"])
        if tag == "script":
            self._script = attrs.get("id", "program")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_data(self, data):
        if self.open[-2:] == ["th", "button"]:
            self._heads[-1] = data
        if self.open and self.open[-1] == "script":
            self.scripts[self._script] = data


@pytest.fixture(params=["own", "own of two ranks", *REAL])
def found(request, tmp_path):
    """An analysis."""
    if request.param.startswith("own"):
        return analyze_traces(traces(tmp_path, 1 + request.param.endswith("ranks")))
    return real(request.param)


def test_the_page_is_well_formed_and_asks_for_nothing(found):
    text = to_html(found)
    page = Page(text)
    assert (page.open, page.wrong) == ([], [])
    assert all(link.startswith("#") for link in page.links)
    assert re.findall(r"\w+://", re.sub(r'<script type="application/json".*?</script>', "", text)) == []
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest", text)


def test_links_lead_to_sections(found):
    text = to_html(found)
    assert {link[1:] for link in Page(text).links} == set(re.findall(r'<section id="([^"]+)"', text))


def test_the_json_in_the_page_is_that_of_analyze(found):
    assert json.loads(Page(to_html(found)).scripts["analysis"]) == json.loads(json.dumps(to_dict(found)))


def test_the_numbers_are_those_of_the_json(found):
    page = Page(to_html(found))
    document = json.loads(page.scripts["analysis"])
    ranks = document["ranks"]
    if not ranks:
        assert set(page.five.values()) == {None}  # unknown, which is not 0
        return
    for name, key in (("total", "span_ns"), ("compute", "compute_ns"), ("idle", "idle_ns")):
        assert page.five[name] == sum(one[key] for one in ranks)
    assert page.five["exposed communication"] == sum(one["exposed_comm_ns"] for one in ranks)
    wanted = rows(document)
    assert set(page.tables) == set(wanted)
    for table, cells in page.tables.items():
        for values, row in zip(cells, wanted[table], strict=False):
            known = dict(zip(page.heads[table], values, strict=True))
            assert {head: row[head] for head in known if head != "slow"} == {
                h: v for h, v in known.items() if h != "slow"
            }
            assert all(value in (None, "", []) for head, value in row.items() if head not in known)
    assert page.five["top category"] == max(row[2] for row in page.tables["families"])


def test_warnings_and_findings_are_all_on_the_page(found):
    text = to_html(found)
    assert text.count("<li><h3>") == len(found.findings)
    if found.cautions or found.unseen:
        assert text.index('class="verdict"') < text.index('class="warnings"') < text.index('class="five"')


def test_names_cannot_end_an_element(tmp_path):
    text = to_html(analyze_traces(traces(tmp_path)))
    assert text.count("</script>") == 2
    assert "<b>" not in text
    assert "ampere_sgemm_128x64&lt;/script&gt;&lt;b&gt;" in text


def test_where_there_is_no_gpu_work_the_page_says_so():
    text = to_html(real("cpu_only_no_gpu_events"))
    assert "The trace has no GPU work to judge." in text
    assert "what the GPU did: cpu_only_no_gpu_events.json.gz: the file has no GPU events" in text


def test_a_picture_of_a_device_is_as_high_as_it_is_busy(tmp_path):
    found = analyze_traces(traces(tmp_path))
    (line,), text = found.timelines, to_html(found)
    paths = re.findall(r'<path d="([^"]*)"', text)
    assert len(paths) == 3
    area = 0.0
    for box in re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)H([\d.]+)", paths[0]):
        left, low, high, right = map(float, box)
        area += (right - left) * (low - high)
    span = line.edges_ns[-1] - line.edges_ns[0]
    assert area == pytest.approx(1000 * 100 * sum(line.compute_ns) / span, rel=0.01)
