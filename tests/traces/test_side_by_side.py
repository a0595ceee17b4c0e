"""Files of several ranks are read side by side, with the same result."""

from synperf.analysis import analyze
from synperf.traces import side_by_side

from .kineto_files import write
from .test_kineto import EVENTS


def test_several_processes_give_what_one_gives(tmp_path, monkeypatch):
    monkeypatch.setattr(side_by_side, "_WORTH_BYTES", 0)
    paths = [write(tmp_path, EVENTS, f"{rank}.json", distributedInfo={"rank": rank}) for rank in range(3)]
    told = []
    found = analyze(paths, workers=2, progress=lambda *state: told.append(state))
    assert found == analyze(paths)
    whole = sum(path.stat().st_size for path in paths)
    assert [(name, total) for name, _, total in told] == [(f"{rank}.json", whole) for rank in range(3)]
