"""A file of one's own in every command that takes a family."""

import csv
import json
import shutil

import pytest

import synperf
from synperf.estimators import weights
from synperf.measurements import read_file
from synperf.units import format_percent

from ..kernels.own_files import PLAIN, install, returning, write
from .runner import assert_refused, invoke

pytestmark = pytest.mark.usefixtures("own_families")
CALL = ("mine.py", "rows=4096", "dim=512", "--gpu", "h100_sxm")


def write_rows(path, floor_us=4.0, count=40):
    """Rows of a made-up kernel: a launch, and bytes at half the bandwidth."""
    lines = ["rows,dim,time_us"]
    for i in range(count):
        rows, dim = 2 ** (4 + i % 14), 128 * (1 + i % 9)
        lines.append(f"{rows},{dim},{floor_us + rows * dim * 3 / 1.6e6:.3f}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    write_rows(tmp_path / "rows.csv")
    return tmp_path


def shown(*arguments):
    seen = invoke(*arguments, "--json")
    assert seen.code == 0, seen
    return json.loads(seen.out)


@pytest.mark.usefixtures("here")
def test_predict_and_explain_answer_from_the_analytical_estimator_and_say_so():
    answer = shown("predict", *CALL)
    names = ("family", "engine", "kernel", "origin")
    assert [answer[name] for name in names] == ["mine", "own", "mine", "analytical"]
    assert answer["params"] == {"rows": 4096, "dim": 512, "dtype": "bf16", "engine": None, "kernel": None}
    assert "family: of your own, mine.py; no measured rows of it come with synperf" in answer["assumptions"]
    explained = shown("explain", *CALL)
    assert (explained["time_s"], explained["tasks"], explained["grid"]) == (answer["time_s"], 4096, [4096, 1, 1])
    assert "tiles       4,096, by mine.py\n" in invoke("explain", *CALL, "--took", "30us", "--svg", "x.svg").out


def test_a_table_may_mix_it_with_other_families_by_its_name(here):
    (here / "calls.csv").write_text("family,m,n,k,rows,dim\ngemm,64,64,64,,\nmine,,,,4096,512\n,,,,1,512\n")
    seen = invoke("predict", "mine.py", "--calls", "calls.csv", "--gpu", "h100_sxm")
    rows = list(csv.DictReader(seen.out.splitlines()))
    assert [row["family"] for row in rows] == ["gemm", "mine", "mine"]
    assert float(rows[1]["time_s"]) == shown("predict", *CALL)["time_s"]
    assert invoke("predict", "mine.py", "--calls", "calls.csv", "--gpu", "h100_sxm", "--out", "out.jsonl").code == 0
    assert json.loads((here / "out.jsonl").read_text().splitlines()[1])["family"] == "mine"


def test_a_table_names_no_file(here):
    (here / "calls.csv").write_text("family,rows,dim\nmine.py,4096,512\n")
    seen = invoke("predict", "--calls", "calls.csv", "--gpu", "h100_sxm")
    assert_refused(seen)
    assert "calls.csv row 1 (line 2): family: 'mine.py' is a path, and tables run no file" in seen.err


def test_the_row_of_a_table_that_a_file_cannot_take_is_named(here):
    write(here, PLAIN.replace("    return {", "    assert params.dim > 1, 'dim is 1'\n    return {"))
    (here / "calls.csv").write_text("rows,dim\n8,8\n8,1\n")
    seen = invoke("predict", "mine.py", "--calls", "calls.csv", "--gpu", "h100_sxm")
    assert_refused(seen)
    assert seen.err == "synperf: calls.csv row 2 (line 3): mine.py:7: AssertionError: dim is 1\n"


def test_what_a_file_prints_is_not_on_standard_output(here):
    write(here, "print('loaded')\n" + PLAIN.replace("    return {", "    print('asked')\n    return {"))
    seen = invoke("predict", *CALL, "--json")
    assert json.loads(seen.out)["family"] == "mine"
    assert seen.err.startswith("loaded\nasked\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 / 0\n", "mine.py:1: ZeroDivisionError: division by zero"),
        ("def\n", "mine.py:1: not Python (invalid syntax)"),
        (returning("None"), "mine.py:7: decompose gives None"),
        (returning("1 / 0"), "mine.py:7: ZeroDivisionError"),
    ],
)
def test_a_wrong_file_is_one_sentence_in_every_command(text, said, here):
    write(here, text)
    for command in (
        ("predict", *CALL),
        ("explain", *CALL),
        ("predict", "mine.py", "--calls", "rows.csv", "--gpu", "h100_sxm"),
        ("evaluate", "mine.py", "--rows", "rows.csv", "--gpu", "h100_sxm"),
        ("calibrate", "rows.csv", "--family", "mine.py", "--gpu", "h100_sxm"),
    ):
        seen = invoke(*command)
        assert_refused(seen)
        assert said in seen.err


@pytest.mark.usefixtures("here")
def test_what_is_missing_is_one_sentence():
    for command, said in (
        (("predict", "none.py", "rows=1", "--gpu", "h100_sxm"), "none.py: No such file or directory; right would be a"),
        (("predict", "mine.py", "rows=1", "--gpu", "h100_sxm"), "mine: missing dim"),
        (("predict", "mine.py", "rows=1", "dim=0", "--gpu", "h100_sxm"), "dim must be a whole number from 1"),
        (("predict", *CALL, "size=1"), "mine: no field named 'size'"),
        (("predict", *CALL, "--origin", "learned"), "origin: no weights for mine in bf16"),
        (("evaluate", "mine.py"), "no measured"),
    ):
        seen = invoke(*command)
        assert_refused(seen)
        assert said in seen.err


def test_rows_without_a_field_are_refused(here):
    (here / "rows.csv").write_text("rows,time_us\n8,10\n")
    seen = invoke("calibrate", "rows.csv", "--family", "mine.py", "--gpu", "h100_sxm")
    assert_refused(seen)
    assert "rows.csv: no column dim among rows, time_us" in seen.err


@pytest.mark.usefixtures("here")
def test_evaluate_scores_it_and_leaves_the_paper_s_features_to_gemm():
    (total,) = [
        score
        for score in shown("evaluate", "mine.py", "--rows", "rows.csv", "--gpu", "h100_sxm")["scores"]
        if (score["gpu"], score["engine"], score["dtype"]) == ("all", "all", "all")
    ]
    assert total["rows"] == 40
    assert 0.1 < total["estimate"]["mape"] < 0.6
    arguments = ("--rows", "rows.csv", "--gpu", "h100_sxm", "--split", "random", "--recipe")
    assert invoke("evaluate", "mine.py", *arguments, "roofline").code == 0
    seen = invoke("evaluate", "mine.py", *arguments, "paper")
    assert_refused(seen)
    assert "recipe: the paper's features are of Gemm, not of Mine; leave it out" in seen.err


@pytest.fixture
def calibrated(here):
    command = ("calibrate", "rows.csv", "--family", "mine.py", "--gpu", "h100_sxm", "--out", "h100.json")
    assert invoke(*command).code == 0
    return here / "h100.json"


def test_calibrate_corrects_the_launch_floor(calibrated):
    kernel = json.loads(calibrated.read_text())["kernels"]["own.mine.bf16"]
    assert kernel["method"] == "launch floor"
    assert kernel["after"] < 0.8 * kernel["before"]
    short = ("predict", "mine.py", "rows=1", "dim=128", "--gpu", "h100_sxm")
    assert shown(*short, "--calibration", "h100.json")["time_s"] == pytest.approx(4e-6, rel=0.02)
    assert shown(*short)["time_s"] < 3e-6


@pytest.mark.usefixtures("calibrated")
def test_a_calibration_is_of_the_file_that_it_was_made_with(here):
    write(here, PLAIN.replace("4 *", "8 *"))
    seen = invoke("predict", *CALL, "--calibration", "h100.json")
    assert_refused(seen)
    assert "calibration: it was made with another file of mine; calibrate again" in seen.err


def test_calibrate_does_not_replace_the_file_itself(here):
    seen = invoke("calibrate", "rows.csv", "--family", "mine.py", "--gpu", "h100_sxm", "--out", "mine.py")
    assert_refused(seen)
    assert (here / "mine.py").read_text() == PLAIN


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Weights of `mine.py`, with the file and what the command said."""
    pytest.importorskip("torch", reason="training needs the extra [train]")
    folder = tmp_path_factory.mktemp("own")
    write(folder)
    write_rows(folder / "rows.csv", count=100)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        seen = invoke("train", "mine.py", "--rows", "rows.csv", "--gpu", "h100_sxm", "--out", "mine.safetensors")
    assert seen.code == 0, seen
    return folder, seen.err


@pytest.fixture
def with_weights(trained, here):
    for path in trained[0].iterdir():
        shutil.copy(path, here)
    return here


def test_train_takes_the_rows_of_the_files_alone_and_says_the_error(trained, with_weights):
    kind = synperf.load_family("mine.py")
    card = weights.read_own(with_weights / "mine.safetensors").card
    assert (card.family, card.plugin, sum(card.sources.values())) == (kind.name, kind.digest, 100)
    assert card.command.startswith("synperf train mine.py --seed 42 --rows rows.csv --gpu h100_sxm --only-rows")
    held = card.networks[0].held_out["all"]["mape"]
    assert f"bf16: {format_percent(held)} held-out error" in trained[1]
    assert held < 0.1


@pytest.mark.usefixtures("with_weights")
def test_predict_explain_and_python_answer_with_the_weights():
    learned, plain = (shown("predict", *CALL, *more) for more in (("--weights", "mine.safetensors"), ()))
    assert (learned["origin"], plain["origin"]) == ("learned", "analytical")
    true_s = 4e-6 + 4096 * 512 * 3 / 1.6e12
    assert abs(learned["time_s"] / true_s - 1) < 0.1 < abs(plain["time_s"] / true_s - 1)
    assert shown("explain", *CALL, "--weights", "mine.safetensors")["time_s"] == learned["time_s"]
    call = synperf.load_family("mine.py").call_type(rows=4096, dim=512)
    assert synperf.predict(call, "h100_sxm", weights="mine.safetensors").time_s == learned["time_s"]
    table = [{"family": "mine", "rows": 4096, "dim": 512}]
    assert synperf.predict(table, "h100_sxm", weights="mine.safetensors")[0]["origin"] == "learned"
    other = shown("predict", "mine.py", "rows=4096", "dim=512", "--gpu", "a100", "--weights", "mine.safetensors")
    assert other["origin"] == "analytical"


def test_weights_are_of_the_family_and_the_file_that_they_were_trained_with(with_weights):
    write(with_weights, PLAIN, "other.py")
    write(with_weights, PLAIN.replace("4 *", "8 *"), "changed.py")
    changed = (with_weights / "changed.py").read_text() + '\n\nNAME = "mine"\n'
    (with_weights / "changed.py").write_text(changed)
    for file, said in (
        ("other.py", "family is 'mine', right would be one of attention"),
        ("changed.py", "weights: they were trained with another file of mine; train them again"),
    ):
        seen = invoke("predict", file, *CALL[1:], "--weights", "mine.safetensors")
        assert_refused(seen)
        assert said in seen.err
    seen = invoke("predict", "gemm", "m=1", "n=1", "k=1", "--gpu", "h100_sxm", "--weights", "mine.safetensors")
    assert_refused(seen)
    gemm = weights.path_of("gemm")
    for path in (gemm, gemm.with_suffix(".json")):
        shutil.copy(path, with_weights)
    seen = invoke("predict", "other.py", *CALL[1:], "--weights", "gemm.safetensors")
    assert_refused(seen)
    assert "weights: they are of gemm, not of other" in seen.err


def test_no_weights_of_the_package_are_of_a_family_of_ones_own(with_weights, monkeypatch):
    monkeypatch.setattr(weights, "FOLDER", with_weights)
    weights.shipped.cache_clear()
    assert shown("predict", *CALL)["origin"] == "analytical"
    weights.shipped.cache_clear()


@pytest.mark.usefixtures("here")
def test_train_without_rows_is_refused():
    pytest.importorskip("torch", reason="training needs the extra [train]")
    seen = invoke("train", "mine.py", "--out", "x.safetensors")
    assert_refused(seen)
    assert "rows: none are named, and none of mine are installed; right would be --rows FILE" in seen.err


@pytest.mark.usefixtures("here")
def test_rows_are_read_by_the_path_in_python_too():
    rows = read_file("rows.csv", "mine.py", gpu="h100_sxm")
    assert (len(rows), rows.labels()) == (40, ("family", "engine", "kernel", "dtype"))


def test_kernels_lists_what_packages_offer_and_says_which_are_broken(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch)
    seen = invoke("kernels")
    assert seen.code == 0
    assert "theirs: A row for each CTA\n\nrequired  rows dim\n" in seen.out
    assert "own       theirs (" in seen.out
    assert "their_broken_kernels.py:2: ZeroDivisionError" in seen.err
    assert "the entry point number is {'rows'" in seen.err
