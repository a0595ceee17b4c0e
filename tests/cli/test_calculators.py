"""What every calculator has: an example in its help that runs, a page with that example and its drawing."""

import json
import re
import shlex
from inspect import getdoc
from pathlib import Path

import pytest

from synperf.cli import app
from synperf.cli.app import calculators, groups, summary
from synperf.cli.parsed import function

from .runner import invoke

DOCS = Path(__file__).parents[2] / "docs"
SECTIONS = ("## Formula", "## Source", "## Example", "## Python")


def example(name: str) -> list[str]:
    """The arguments of the command in the help of a calculator, the last thing that it says."""
    said = " ".join((getdoc(function(name)) or "").split())
    return shlex.split(re.search(rf"For example: synperf ({name} .*)$", said)[1])


def page(name: str) -> str:
    return (DOCS / "calculators" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", calculators())
def test_the_example_of_the_help_is_that_of_the_page_and_prints_what_is_shown_there(name):
    code, shown = re.search(
        r"## Example\n\n```sh\nsynperf (.*?)\n```\n\n```text\n(.*?)```", page(name), re.DOTALL
    ).groups()
    assert shlex.split(code.replace("\\\n", " ")) == example(name)
    seen = invoke(*example(name))
    assert (seen.code, seen.err) == (0, "")
    assert seen.out == shown


@pytest.mark.parametrize("name", calculators())
def test_the_json_of_the_example_says_why(name):
    found = json.loads(invoke(*example(name), "--json").out)
    assert found["why"]
    assert all(isinstance(one, str) and one for one in found["why"])


@pytest.mark.parametrize("name", calculators())
def test_the_page_has_its_sections_and_the_drawing_of_the_example(name, tmp_path):
    places = [page(name).index(f"{head}\n") for head in SECTIONS]
    assert places == sorted(places)
    picture = f"../drawings/{name}.svg"
    assert f"]({picture})" in page(name)
    drawn = tmp_path / "drawn.svg"
    assert invoke(*example(name), "--svg", str(drawn)).code == 0
    assert drawn.read_text(encoding="utf-8") == (DOCS / "calculators" / picture).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", calculators())
def test_the_page_shows_the_function_in_python(name):
    assert re.search(
        rf"::: synperf\.(calculators\.|serving\.|scheduling\.|collectives\.)?{name.replace('-', '_')}\.",
        page(name).split("## Python\n")[1],
    )


def test_the_page_of_all_leads_to_each_with_its_question():
    text = (DOCS / "calculators.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \[`([a-z-]+)`\]\(calculators/\1\.md\) \| (.*) \|$", text, re.MULTILINE))
    assert rows == {name: summary(name) for name in calculators()}


def test_the_page_and_the_help_have_them_by_the_kind_of_question():
    """The kind is the folder of a command's file, so no file stands beside these folders."""
    text = (DOCS / "calculators.md").read_text(encoding="utf-8")
    sections = {
        part.partition("\n")[0].lower().replace(" ", "_"): set(re.findall(r"\(calculators/([a-z-]+)\.md\)", part))
        for part in text.split("\n## ")[1:]
    }
    assert sections == {group: set(some) for group, some in groups().items()}
    shown = invoke("--help").out
    for group, some in groups().items():
        lines = shown.split(f"\nCalculators, {group.replace('_', ' ')}:\n")[1].split("\n\n")[0].splitlines()
        assert [line.split()[0] for line in lines] == list(some)
    assert [path.name for path in Path(app.__file__).parent.glob("commands/calculators/*.py")] == ["__init__.py"]
