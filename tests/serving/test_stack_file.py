"""Files of fitted stacks that a user's editor, or a disk, has changed."""

import json
from pathlib import Path

import pytest

from synperf.errors import FileFormatError
from synperf.serving.stack_file import read, shipped, to_json


def changed(folder: Path, change) -> Path:
    document = json.loads(to_json(shipped()))
    change(document)
    path = folder / "own.json"
    path.write_text(json.dumps(document))
    return path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    assert read(changed(tmp_path, lambda _: None)) == shipped()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["levels"][0]["factors"].update(decode_kernels=-1), "decode_kernels of .* must be from 0 to 1000"),
        (lambda d: d["levels"][0]["factors"].update(decode_host_s=1e300), "decode_host_s of .* must be from 0"),
        (lambda d: d["spreads"]["recipe"]["ttft"].update(low=5, high=-2), "the interval of recipe must rise"),
        (lambda d: d["spreads"].pop("stack"), "spreads lack stack"),
        (lambda d: d["measured"][0]["tpot"].pop(), "must have two weights for each load"),
        (lambda d: d["measured"][0]["loads"].__setitem__(0, [0, 1, 1]), "must be from 1 on"),
        (lambda d: d.update(levels=[]), "it has no levels"),
        (lambda d: d["measured"][0]["tpot"].__setitem__(0, 0.125), "damaged, or changed since it was written"),
        (lambda d: d.pop("sha256"), "damaged, or changed since it was written"),
        (lambda d: d.pop("levels"), "no fitted stacks: Object missing required field `levels`"),
    ],
)
def test_numbers_that_cannot_be_are_refused(tmp_path: Path, change, message: str) -> None:
    with pytest.raises(FileFormatError, match=f"^own.json: .*{message}"):
        read(changed(tmp_path, change))
