"""`synperf evaluate e2e`: what is refused, and what a small file gives."""

import json
from pathlib import Path

import pytest

from synperf.hardware.power import power
from synperf.serving.fitting import static_fit

from ..measurements.static_files import write
from .runner import assert_refused, invoke

LOADS = [
    {"config_id": f"{gpu}{at}", "gpu": gpu, "workload": str(at), "prompt_lens": [100 + 100 * at] * 2}
    for gpu in ("H100", "A100") for at in range(2)
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--rows", "a", "--rows", "b"), "rows: e2e is read from one file, got 2"),
        (("--rows", "a.parquet", "--recipe", "all"), "recipe: is for kernels"),
        (("--rows", "a.parquet"), "rows: no file 'a.parquet'"),
        (("--split", "new-shape"), "no split of serving points named 'new-shape'"),
        (("--gpu", "h21"), "no GPU named 'h21'"),
    ],
)
def test_what_is_wrong_is_one_sentence(arguments: tuple[str, ...], said: str) -> None:
    seen = invoke("evaluate", "e2e", *arguments)
    assert_refused(seen)
    assert said in seen.err


def test_a_small_file_has_its_errors_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_fit, "grid", lambda: [power()])
    path = write(tmp_path / "rows.parquet", *LOADS)
    seen = invoke("evaluate", "e2e", "--rows", str(path), "--split", "gpu-out", "--json")
    assert seen.code == 0
    found = json.loads(seen.out)
    assert list(found["scores"]) == ["gpu-out"]
    assert len(found["rows"]) == 4


def test_a_file_of_another_kind_is_told_what_it_lacks(tmp_path: Path) -> None:
    import polars

    path = tmp_path / "rows.parquet"
    polars.DataFrame({"gpu": ["H100"], "total_ms": [1.0]}).write_parquet(path)
    seen = invoke("evaluate", "e2e", "--rows", str(path))
    assert_refused(seen)
    assert "rows.parquet is no file of measured models; for static batches it lacks config_id" in seen.err
