"""The page in a real browser, where there is one: nothing is wrong with it, and its switch and its tables work."""

import json
import os
import re
import shutil
import subprocess
from html import unescape

import pytest

from synperf.analysis.whole import analyze_traces
from synperf.report.trace_page import to_html

from .analysed import traces

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PROBE = """<script>
const said = [];
addEventListener("error", (event) => said.push(event.message));
const rows = () => [...document.querySelectorAll("#families tbody tr")];
const cells = () => rows().map((row) => JSON.parse(row.cells[2].dataset.value));
const paper = () => getComputedStyle(document.body).backgroundColor;
const seen = { before: paper(), wide: document.documentElement.scrollWidth - innerWidth };
document.getElementById("theme").click();
seen.after = paper();
const head = document.querySelectorAll("#families th button")[2];
head.click();
seen.down = cells();
head.click();
seen.up = cells();
seen.said = said;
seen.asked = performance.getEntriesByType("resource").map((entry) => entry.name);
document.body.dataset.seen = JSON.stringify(seen);
</script></body>"""

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_works_without_a_network(tmp_path, width):
    page = tmp_path / "page.html"
    page.write_text(to_html(analyze_traces(traces(tmp_path, 2))).replace("</body>", PROBE), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    options += [f"--window-size={width},800", "--enable-logging=stderr", "--dump-dom", page.as_uri()]
    done = subprocess.run(
        [BROWSER, *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env=os.environ | {"HOME": str(tmp_path)},
    )
    seen = json.loads(unescape(re.search(r'data-seen="([^"]*)"', done.stdout)[1]))
    assert (seen["said"], seen["asked"]) == ([], [])
    assert "CONSOLE" not in done.stderr
    assert seen["before"] != seen["after"]
    assert seen["down"] == sorted(seen["down"], reverse=True)
    assert seen["up"] == sorted(seen["up"])
    assert seen["wide"] <= 0
