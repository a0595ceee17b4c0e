"""The weights of a family: two files that read back, the same bits for the same seed, test rows that change nothing."""

from dataclasses import replace
from itertools import accumulate, count

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

from synperf import Gemm, hardware
from synperf.errors import FileFormatError
from synperf.estimators import learned
from synperf.estimators.weights import KNOWN, read
from synperf.hardware import DType
from synperf.kernels import family
from synperf.training.learned import shipped
from synperf.training.learned.settings import Settings
from synperf.training.learned.shipped import Training, at_most, train, write

from .toy_rows import FACTORS, rows

DEVICES = {key: hardware.gpu(key) for key in ("h100_sxm", "l40s")}
FEW = Settings(hidden=(8, 4), pieces=2, epochs=4, batch=64)
MANY = Settings(hidden=(16, 8), pieces=3, epochs=40, batch=64)


def made(measured=None, *, settings=FEW, **training):
    return train(measured or rows(), DEVICES, Training(settings=settings, **training), "synperf train gemm")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights")
    return write(folder / "gemm.safetensors", made(settings=MANY))


def test_the_weights_and_those_of_tables_have_a_file_each(written):
    assert [path.name for path in written] == ["gemm.safetensors", "gemm.tables.safetensors"]
    small, large = read(written[0], "gemm"), read(written[1], "gemm.tables")
    assert [network.name for network in small.card.networks] == ["bf16.known", "bf16.general"]
    assert [(network.name, network.scope) for network in large.card.networks] == [("bf16.tables", KNOWN)]
    groups = {f"{gpu}.{engine}.cublas" for gpu, engine in FACTORS} | {f"{gpu}.*.cublas" for gpu in DEVICES}
    assert set(large.card.networks[0].groups) == set(large.card.networks[0].widening) == groups
    assert min(large.card.networks[0].widening.values()) >= 1.0


def test_weights_without_tables_are_the_same_and_one_file(written, tmp_path):
    (alone,) = write(tmp_path / "gemm.safetensors", made(settings=MANY, tables=False))
    assert alone.read_bytes() == written[0].read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gemm.json", "gemm.safetensors"]


def test_one_file_does_not_stand_for_the_other(written):
    with pytest.raises(FileFormatError, match=r"family is 'gemm\.tables', right would be 'gemm'"):
        read(written[1], "gemm")


def test_an_answer_has_the_factor_that_the_rows_have(written):
    call, gpu = Gemm(m=512, n=1024, k=1024, engine="sglang"), DEVICES["l40s"]
    for path, name in zip(written, ("gemm", "gemm.tables"), strict=True):
        found = learned.answer(family("gemm"), call, gpu, learned.wanted(family("gemm"), call, gpu), read(path, name))
        assert float(np.exp(found.correction)) == pytest.approx(2.5, rel=0.1)


def test_a_card_says_what_left_out_gpus_cost_and_what_the_intervals_of_others_hold_there(written):
    found = read(written[0], "gemm").card.networks[1].left_out
    assert set(found) == set(DEVICES)
    for score in found.values():
        assert score["rows"] == 400 * 0.8
        assert 0 <= score["coverage"] <= 1
        assert score["mape"] >= 0.2  # the factors of the two GPUs are 1.67 apart, which nothing else tells


def test_the_same_seed_gives_the_same_files_and_name_and_another_does_not(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "monotonic", accumulate(count()).__next__)  # every training takes a time of its own

    def files(seed):
        paths = write(tmp_path / "gemm.safetensors", made(seed=seed))
        return [(path.read_bytes(), read(path, path.stem).card.sha256) for path in paths]

    first = files(1)
    assert first == files(1)
    assert all(a != b and x != y for (a, x), (b, y) in zip(first, files(2), strict=True))


def test_rows_of_the_test_shapes_change_nothing():
    measured = rows()
    wrong = replace(measured, time_s=np.where(measured.is_test, 3 * measured.time_s, measured.time_s))
    first, second = (found["gemm"][1] for found in (made(), made(wrong)))
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_an_interrupted_run_goes_on_to_the_same_weights(tmp_path):
    def stop(_, done, __):
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(work=tmp_path, progress=stop, side_by_side=1)
    assert list(tmp_path.glob("*.state"))
    resumed, whole = made(work=tmp_path, resume=True)["gemm"][1], made()["gemm"][1]
    assert all(np.array_equal(resumed[name], whole[name]) for name in whole)


@pytest.mark.parametrize("left", ["fp8.known", "bf16.without_l40s"])
def test_no_training_begins_where_one_state_is_not_of_it(tmp_path, left):
    made(work=tmp_path, seed=1)
    kept = (tmp_path / "bf16.general.state").read_bytes()
    for state in tmp_path.glob("*.state"):
        state.unlink()
    (tmp_path / f"{left}.state").write_bytes(kept)
    with pytest.raises(FileFormatError, match=rf"{left}\.state: the state of a training with other"):
        made(work=tmp_path, seed=1, resume=True, progress=lambda *_: pytest.fail("trained"))
    assert {state.name: state.read_bytes() for state in tmp_path.iterdir()} == {f"{left}.state": kept}


def test_nothing_is_widened_where_no_larger_weights_know_the_kernel():
    assert learned.widening(learned.Wanted("v100_sxm", 0.0, DType.FP16, "torch", "cublas", ""), "gemm") == 1.0


def test_a_card_says_which_fields_vary_in_its_rows_that_else_never_do():
    measured = rows()
    batched = replace(measured, fields={**measured.fields, "batch": 1.0 + np.arange(len(measured)) % 2})
    assert {network.varied for network in made(measured)["gemm"][0].networks} == {()}
    assert {network.varied for network in made(batched)["gemm"][0].networks} == {("batch",)}


def test_at_most_so_many_rows_of_each_are_of_those_that_weights_are_fitted_to():
    chosen = at_most(rows(), 50, 7)
    assert not chosen.is_test.any()
    assert [len(part) for _, part in chosen.groups("gpu", "engine", "kernel", "dtype")] == [50] * len(FACTORS)
    assert (at_most(rows(), 50, 7).time_s == chosen.time_s).all()
    assert len(at_most(rows(), 10_000, 7)) == (~rows().is_test).sum()
