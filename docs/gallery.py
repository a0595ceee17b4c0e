"""Takes the pictures of gallery.md from pages of real traces: `python docs/gallery.py FOLDER [TO]`.

FOLDER has the public traces under the names below; the sources are in gallery.md. It needs playwright and a Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import synperf
from synperf.report.trace_page import to_html

PICTURES = Path(__file__).with_name("pictures")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDE, PHONE, HIGH = 1000, 360, 800  # pixels


@dataclass(frozen=True)
class Picture:
    """A part of the page of some traces: a section, or what is seen first; the rest below `high` is cut off."""

    name: str
    traces: str
    section: str = ""
    theme: str = "light"
    wide: int = WIDE
    high: int = HIGH


GALLERY = (
    Picture("resnet50_first", "resnet50_v100_dataloader0.json.gz"),
    Picture("resnet50_timeline", "resnet50_v100_dataloader0.json.gz", "timeline"),
    Picture("resnet50_steps", "resnet50_v100_dataloader0.json.gz", "steps", "dark"),
    Picture("dlrm_phone", "dlrm_v100_8ranks/*.json.gz", theme="dark", wide=PHONE, high=1100),
    Picture("dlrm_timeline", "dlrm_v100_8ranks/*.json.gz", "timeline", "dark", high=900),
    Picture("dlrm_collectives", "dlrm_v100_8ranks/*.json.gz", "collectives"),
    Picture("qwen_memory", "qwen05b_h100_infer.json.gz", "memory"),
    Picture("qwen_operators", "qwen05b_h100_infer.json.gz", "operators", high=600),
    Picture("sglang_idle", "sglang_decode_hipgraph_mi300.json.gz", "idle", "dark", high=500),
)


def take(browser: Browser, page: Path, one: Picture, to: Path) -> None:
    """One picture, as a PNG."""
    size = {"width": one.wide, "height": HIGH}
    context = browser.new_context(viewport=size, color_scheme=one.theme, offline=True)
    shown = context.new_page()
    shown.goto(page.as_uri())
    box = shown.locator(f"#{one.section}-section" if one.section else "body").bounding_box()
    assert box is not None
    clip = {"x": 0, "y": box["y"], "width": one.wide, "height": min(box["height"] + 8, one.high)}
    shown.screenshot(path=to / f"{one.name}.png", full_page=True, clip=clip)
    context.close()


def main(folder: Path, to: Path) -> None:
    """All pictures."""
    program = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as work:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for traces in dict.fromkeys(one.traces for one in GALLERY):
            page = Path(work) / "page.html"
            page.write_text(to_html(synperf.analyze(sorted(folder.glob(traces)))), encoding="utf-8")
            for one in (one for one in GALLERY if one.traces == traces):
                take(browser, page, one, to)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else PICTURES)
