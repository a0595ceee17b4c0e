"""The documentation says what is: files exist, links lead somewhere, examples run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ..cli.runner import invoke

ROOT = Path(__file__).parents[2]
WHOLE = ("own_kernel.md",)  # pages that a test of their own runs, commands and all
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
ANALYSES = [page for page in PAGES if page.parent.name == "analysis" and page.name != "peers.md"]
# A command, and what it prints.
SHOWN = re.compile(r"^    synperf (.*)\n\n```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


def test_every_stage_of_the_paper_names_a_file_that_exists():
    table = (ROOT / "docs" / "method.md").read_text().split("## The stages of the paper")[1].split("\n## ")[0]
    files = re.findall(r"`(synperf/[^`]+)`", table)
    assert len(files) >= 12
    assert [f for f in files if not (ROOT / f).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_to_files(page):
    links = re.findall(r"\]\((?!https?://)([^)#]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", [p for p in PAGES if p.name not in WHOLE], ids=lambda p: p.name)
def test_python_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(compile(code, str(page), "exec"), {})


@pytest.mark.parametrize(("found", "shown"), [(r"&& synperf (estimate .*)", 0), (r"`synperf (explain [^`]*)`:\n", 1)])
def test_the_readme_shows_what_its_commands_print(found, shown):
    readme = (ROOT / "README.md").read_text()
    command = re.search(found, readme)[1].split()
    run = subprocess.run([sys.executable, "-m", "synperf", *command], capture_output=True, text=True, check=True)
    assert re.findall(r"```text\n(.*?)```", readme, re.DOTALL)[shown] == run.stdout


@pytest.mark.parametrize("name", ["attention", "mla", "moe"])
def test_a_page_shows_the_drawing_that_its_command_writes(name, tmp_path):
    shown = f"drawings/{name}.svg"
    page = (ROOT / "docs" / f"{name}.md").read_text()
    assert f"]({shown})" in page
    command = re.search(rf"    synperf (explain .*) --svg docs/{shown}", page)[1].split()
    assert invoke(*command, "--svg", str(tmp_path / "drawn.svg")).code == 0
    assert (tmp_path / "drawn.svg").read_text(encoding="utf-8") == (ROOT / "docs" / shown).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ANALYSES, ids=lambda p: p.name)
def test_a_page_on_an_analysis_has_its_parts_and_shows_what_its_command_prints(page, monkeypatch):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)", text, re.MULTILINE) == ["What it is", "What it needs", "Example", "How it differs"]
    ((command, shown),) = SHOWN.findall(text)
    monkeypatch.chdir(ROOT)
    out = invoke(*command.split()).out
    for part in shown.split("\n...\n"):
        assert f"{part}\n" in out
        out = out.partition(part)[2]


def test_every_page_is_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("nav:")[1]
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in PAGES if ROOT / "docs" in page.parents}
    assert set(re.findall(r": (\S+\.md)$", nav, re.MULTILINE)) == pages


def test_pictures_are_small_and_in_the_gallery():
    files = sorted((ROOT / "docs" / "pictures").glob("*"))
    shown = re.findall(r"\]\(pictures/([^)]+)\)", (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8"))
    assert sorted(shown) == [file.name for file in files]
    assert max(file.stat().st_size for file in files) < 200_000


def test_the_example_traces_are_what_their_program_writes(tmp_path):
    examples = ROOT / "docs" / "examples"
    subprocess.run([sys.executable, str(examples / "make.py"), str(tmp_path)], check=True)
    made = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    assert made == {file.name: file.read_text(encoding="utf-8") for file in examples.glob("*.json")}


def test_the_changelog_names_this_version_or_what_is_unreleased():
    assert re.search(r"^## (Unreleased|\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
