"""`synperf train` on rows of a user's own, and `--weights` with what it wrote."""

import csv
import json
import os

import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

import synperf
from synperf.errors import FieldError, FileFormatError
from synperf.estimators.weights import read, read_own
from synperf.measurements import read_file
from synperf.training.learned import shipped
from synperf.training.learned.settings import Settings
from synperf.units import format_percent

from ..training.learned.toy_rows import rows
from .runner import assert_refused, invoke

FEW = Settings(hidden=(16, 8), pieces=3, epochs=30, batch=64)
CALL = ("gemm", "m=512", "n=1024", "k=1024", "engine=vllm", "--gpu", "l40s")


def write_rows(path, chosen, *, gpu=True):
    head = ["m", "n", "k", "engine", "time_us", *(["gpu"] if gpu else [])]
    columns = [*(chosen.fields[name].astype(int) for name in "mnk"), chosen.engine, 1e6 * chosen.time_s]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *zip(*columns, *([chosen.gpu] if gpu else []), strict=True)])
    return path


def held_out(path):
    """What the card says of the error on rows that are held out, in a line."""
    known = read_own(path).card.networks[0]
    held = known.held_out["all"]
    return f"bf16: {format_percent(held['mape'])} held-out error over {held['rows']:.0f} rows, {known.rows} fitted to"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """`mine.csv` of two GPUs, `alone.csv` of one that no column names, and the weights that the first made."""
    found = tmp_path_factory.mktemp("train")
    kept = rows().take(~rows().is_test)
    write_rows(found / "mine.csv", kept)
    write_rows(found / "alone.csv", kept.take(kept.gpu == "l40s"), gpu=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(found)
        patch.setattr(shipped.Training, "_settings", lambda *_: FEW)
        seen = invoke("train", "gemm", "--rows", "mine.csv", "--only-rows", "--out", "mine.safetensors")
    assert (seen.code, seen.out) == (0, "")
    made, error = seen.err.splitlines()
    assert made.startswith("synperf: mine.safetensors: ")
    assert error == f"synperf: {held_out(found / 'mine.safetensors')}"
    assert not list(found.glob("*.tables.*"))
    return found


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(shipped.Training, "_settings", lambda *_: FEW)
    return folder


def test_the_weights_are_of_the_rows_of_the_files_alone(here):
    card = read(here / "mine.safetensors", "gemm").card
    assert set(card.sources) == {"sglang unknown", "vllm unknown"}  # a file that says no version
    assert sum(card.sources.values()) == len(read_file("mine.csv"))
    assert card.command == "synperf train gemm --seed 42 --rows mine.csv --only-rows --out gemm.safetensors"
    assert not list(here.glob("*.states"))


def test_predict_and_explain_answer_with_weights_of_ones_own(here):
    shown = json.loads(invoke("predict", *CALL, "--weights", "mine.safetensors", "--json").out)
    name = read_own(here / "mine.safetensors").card.sha256[:12]
    assert (shown["origin"], shown["versions"]["weights"]) == ("learned", name)
    without = json.loads(invoke("predict", *CALL, "--json").out)
    assert without["versions"]["weights"] != name
    assert without["time_s"] != shown["time_s"]
    explained = json.loads(invoke("explain", *CALL, "--weights", "mine.safetensors", "--json").out)
    assert explained["time_s"] == shown["time_s"]


def test_a_table_and_python_answer_with_them_as_one_call_does(here):
    (here / "calls.csv").write_text("m,n,k,engine\n512,1024,1024,vllm\n")
    weights = ("--weights", "mine.safetensors")
    one = json.loads(invoke("predict", *CALL, *weights, "--json").out)["time_s"]
    lines = invoke("predict", "gemm", "--calls", "calls.csv", "--gpu", "l40s", *weights).out.splitlines()
    table = next(csv.DictReader(lines))
    assert float(table["time_s"]) == pytest.approx(one, rel=1e-5)
    call = synperf.Gemm(m=512, n=1024, k=1024, engine="vllm")
    for given in ("mine.safetensors", here / "mine.safetensors", read_own(here / "mine.safetensors")):
        assert synperf.predict(call, "l40s", weights=given).time_s == one
        assert synperf.explain(call, "l40s", weights=given).estimate.time_s == one
        (found,) = synperf.predict([{"family": "gemm", "m": 512, "n": 1024, "k": 1024}], "l40s", weights=given)
        assert found["versions"]["weights"] == read_own(here / "mine.safetensors").card.sha256[:12]


@pytest.mark.usefixtures("here")
def test_what_the_weights_do_not_know_is_analytical_or_refused():
    fp8 = (*CALL, "dtype=fp8", "--weights", "mine.safetensors")
    assert json.loads(invoke("predict", *fp8, "--json").out)["origin"] == "analytical"
    seen = invoke("predict", *fp8, "--origin", "learned")
    assert_refused(seen)
    assert "origin: no weights for gemm in fp8" in seen.err


@pytest.fixture
def broken(here):
    """Weights that are none, by what is wrong with them."""
    arrays, card = (here / "mine.safetensors").read_bytes(), json.loads((here / "mine.json").read_text())
    wrong = {
        "cut": (arrays[:1000], card),
        "flipped": (arrays[:-9] + bytes([arrays[-9] ^ 1]) + arrays[-8:], card),
        "old": (arrays, card | {"format": 1}),
        "other": (arrays, card | {"family": "attention"}),
        "changed": (arrays, card | {"seed": 7}),
        "mine.tables": (arrays, card | {"family": "gemm.tables"}),
    }
    for name, (data, document) in wrong.items():
        (here / f"{name}.safetensors").write_bytes(data)
        (here / f"{name}.json").write_text(json.dumps(document))
    (here / "alone.safetensors").write_bytes(arrays)
    return here


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--weights", "cut.safetensors"), "cut.safetensors: damaged, or not the weights that cut.json describes"),
        (("--weights", "flipped.safetensors"), "flipped.safetensors: damaged"),
        (("--weights", "old.safetensors"), "old.json: format is 1, right would be 2; train the weights again"),
        (("--weights", "other.safetensors"), "other.json: the card does not match what answers need"),
        (("--weights", "changed.safetensors"), "changed.json: not the card that was written with changed.safetensors"),
        (
            ("--weights", "changed.safetensors"),
            "right would be both files as they were written: bring them back, or train",
        ),
        (("--weights", "alone.safetensors"), "alone.json: No such file or directory"),
        (("--weights", "none.safetensors"), "none.safetensors: there is no such file; right would be"),
        (("--weights", "mine.json"), "mine.json: should end in .safetensors"),
        (("--weights", "mine.tables.safetensors"), "family is 'gemm.tables', right would be one of attention"),
        (("--weights", "mine.safetensors", "--origin", "measured"), "weights: they are for the learned estimate"),
        (("--weights", "mine.safetensors", "--origin", "analytical"), "weights: they are for the learned estimate"),
    ],
)
@pytest.mark.usefixtures("broken")
def test_weights_that_are_none_are_one_sentence(arguments, said):
    for command in ("predict", "explain"):
        seen = invoke(command, *CALL, *arguments)
        assert_refused(seen)
        assert said in seen.err


def test_weights_answer_for_their_own_family_alone(here):
    attention = ("attention", "batch=1", "q_len=64", "kv_len=64", "heads=8", "kv_heads=8", "head_dim=128")
    seen = invoke("predict", *attention, "--gpu", "l40s", "--weights", "mine.safetensors")
    assert_refused(seen)
    assert seen.err == "synperf: weights: they are of gemm, not of attention\n"
    with pytest.raises(FieldError, match="weights must be a file or weights, got int"):
        synperf.predict(synperf.Gemm(m=1, n=1, k=1), "l40s", weights=7)
    with pytest.raises(FileFormatError, match=r"none\.safetensors: there is no such file"):
        synperf.predict([{"family": "gemm", "m": 1, "n": 1, "k": 1}], "l40s", weights=here / "none.safetensors")


def test_the_table_may_not_replace_the_weights(here):
    (here / "calls.csv").write_text("m,n,k\n512,1024,1024\n")
    os.link(here / "mine.safetensors", here / "link.csv")
    weights = ("--weights", "mine.safetensors", "--out", "link.csv")
    seen = invoke("predict", "gemm", "--calls", "calls.csv", "--gpu", "l40s", *weights)
    assert_refused(seen)
    assert "is the file of --weights itself" in seen.err


def test_rows_that_name_no_gpu_are_of_the_one_that_is_given(here):
    arguments = ("train", "gemm", "--rows", "alone.csv", "--only-rows", "--out", "alone_made.safetensors")
    assert invoke(*arguments, "--gpu", "l40s").code == 0
    groups = read_own(here / "alone_made.safetensors").card.networks[0].groups
    assert set(groups) == {"l40s.sglang.cublas", "l40s.vllm.cublas", "l40s.*.cublas"}
    for several in ((), ("--gpu", "l40s", "--gpu", "l40")):
        seen = invoke(*arguments, *several)
        assert_refused(seen)
        assert "gpu is empty, and none is given for all rows; right would be a column gpu" in seen.err
        assert "or --gpu NAME once" in seen.err


@pytest.fixture
def interrupted(here, monkeypatch):
    """A command whose training was interrupted, with finished weights of the same name."""
    command = ("train", "gemm", "--rows", "mine.csv", "--only-rows", "--out", "again.safetensors")
    (here / "again.safetensors").write_bytes(b"finished")
    with monkeypatch.context() as patch:
        patch.setattr(shipped, "fit", stopping(shipped.fit))
        assert invoke(*command).code == 130
    return command


def stopping(fit):
    def one_epoch(*arguments, progress, **options):
        def stop(*done):
            progress(*done)
            raise KeyboardInterrupt

        return fit(*arguments, progress=stop, **options)

    return one_epoch


def test_only_the_same_command_goes_on_and_another_leaves_all_as_it_was(here, interrupted):
    def files():
        return {path.name: path.read_bytes() for path in (here / "again.safetensors.states").iterdir()}

    before = files()
    assert before
    (here / "other.csv").write_text("".join((here / "mine.csv").read_text().splitlines(keepends=True)[:-1]))
    other = [*(word if word != "mine.csv" else "other.csv" for word in interrupted), "--resume"]
    for command, what in ((other, "rows"), ([*interrupted, "--resume", "--seed", "7"], "seed")):
        seen = invoke(*command)
        assert_refused(seen)
        assert f".state: the state of a training with other {what}; right would be the command that" in seen.err
        assert "or this one without --resume, which begins anew" in seen.err
    assert files() == before
    assert (here / "again.safetensors").read_bytes() == b"finished"
    seen = invoke(*interrupted, "--resume")
    assert (seen.code, "begins anew" in seen.err) == (0, False)
    assert read_own(here / "again.safetensors").card.seed == 42
    assert not list(here.glob("*.states"))


@pytest.mark.usefixtures("here")
def test_without_a_state_resume_says_that_it_begins_anew():
    seen = invoke("train", "gemm", "--rows", "mine.csv", "--only-rows", "--out", "anew.safetensors", "--resume")
    assert seen.code == 0
    said = "resume: no state is beside anew.safetensors to go on from; the training begins anew"
    assert seen.err.splitlines()[0] == f"synperf: {said}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--only-rows", "--out", "x.safetensors"), "only_rows: no rows are named; right would be --rows FILE"),
        (("--rows", "mine.csv", "--out", "x.pt"), "out: x.pt should end in .safetensors"),
        (("--rows", "mine.csv"), "out: none given; right would be --out gemm.safetensors"),
        (("--rows", "mine.csv", "--out", "none/x.safetensors"), "out: no folder"),
        (("--rows", "mine.csv", "--out", "taken.safetensors"), "out: 'taken.json' is there and is no file"),
        (("--rows", "few.csv", "--out", "x.safetensors"), "those of bf16 have 1 shape (n x k), too few to tell errors"),
        (("--rows", "tests.csv", "--out", "x.safetensors"), "rows: all are test rows"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_leaves_nothing(here, arguments, said):
    (here / "few.csv").write_text("m,n,k,gpu,time_us\n512,1024,1024,l40s,30\n256,1024,1024,l40s,20\n")
    (here / "tests.csv").write_text("m,n,k,gpu,time_us,is_test\n512,1024,1024,l40s,30,yes\n")
    (here / "taken.json").mkdir(exist_ok=True)
    before = sorted(here.iterdir())
    alone = () if "--only-rows" in arguments else ("--only-rows",)
    seen = invoke("train", "gemm", *arguments, *alone)
    assert_refused(seen)
    assert said in seen.err
    assert sorted(here.iterdir()) == before


@pytest.mark.usefixtures("here")
def test_a_folder_that_takes_no_file_is_told_before_anything_is_trained(full_disk, monkeypatch):
    monkeypatch.setattr(shipped, "train", lambda *_: pytest.fail("trained"))
    seen = invoke("train", "gemm", "--rows", "mine.csv", "--only-rows", "--out", "x.safetensors")
    assert_refused(seen)
    assert seen.err == f"synperf: out: nothing can be written into the folder '.': {full_disk}\n"


@pytest.mark.parametrize("engine", ["torch", None])
def test_rows_of_another_makers_gpu_answer_where_no_engine_is_named(tmp_path, monkeypatch, engine):
    monkeypatch.setattr(shipped.Training, "_settings", lambda *_: FEW)
    monkeypatch.chdir(tmp_path)
    kept = rows().take((rows().gpu == "l40s") & ~rows().is_test)
    sizes = zip(*(kept.fields[name].astype(int) for name in "mnk"), 1e6 * kept.time_s, strict=True)
    with (tmp_path / "mine.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["m", "n", "k", "time_us", "engine"], *((*size, engine or "") for size in sizes)])
    seen = invoke("train", "gemm", "--rows", "mine.csv", "--only-rows", "--gpu", "mi300x", "--out", "m.safetensors")
    assert seen.code == 0, seen.err
    call = synperf.Gemm(m=512, n=1024, k=1024)
    found = synperf.predict(call, "mi300x", weights="m.safetensors")
    assert (found.origin, found.engine) == ("learned", "torch")
    assert synperf.predict(call, "mi300x").engine == "plain"
    named = synperf.Gemm(m=512, n=1024, k=1024, engine="plain")
    assert synperf.predict(named, "mi300x", weights="m.safetensors").origin == "analytical"


def test_fewer_rows_are_fitted_to_where_most_are_named_and_the_card_says_so(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(shipped.Training, "_settings", lambda *_: FEW)
    args = ("train", "gemm", "--rows", "mine.csv", "--only-rows", "--only-known", "--most", "60")
    assert invoke(*args, "--out", "few.safetensors").code == 0
    card = read_own(folder / "few.safetensors").card
    assert "--most 60" in card.command
    assert card.networks[0].rows < read_own(folder / "mine.safetensors").card.networks[0].rows
    assert_refused(invoke(*args[:-1], "0", "--out", "few.safetensors"))
