"""Laws of every baseline: found by its file, repeatable, and an answer for what it was not trained on."""

import subprocess
import sys

import numpy as np
import pytest

from synperf.errors import FieldError, MissingExtraError
from synperf.measurements import Rows
from synperf.training.baselines import RECIPES, boosted, neusight, paper
from synperf.training.baselines.per_kernel import Models, optional
from synperf.training.baselines.roofline import columns

from .toy_rows import DEVICES, TWIN, rows

SHORT = {
    "paper": paper.recipe(max_epochs=3),
    "neusight": neusight.recipe(max_epochs=3),
    "boosted": boosted.recipe(num_trees=3),
}
NEEDS = {"paper": "torch", "neusight": "torch", "boosted": "lightgbm", "linear": "scipy", "habitat": "scipy"}


def law(call, gpu):
    return 2e-6 + 1.5 * columns(call, gpu)[0]


TRAINED = rows(law)
UNSEEN = Rows.join([rows(law, gpu=TWIN), rows(law, engine="trtllm"), rows(law, kernel="plain")])


@pytest.fixture(params=sorted(RECIPES))
def recipe(request):
    if request.param in NEEDS:
        pytest.importorskip(NEEDS[request.param], reason="this baseline is of the extra [train]")
    return SHORT.get(request.param, RECIPES[request.param])


def test_the_baselines_of_the_study_are_found():
    assert set(RECIPES) == {"boosted", "habitat", "linear", "neusight", "paper", "roofline"}
    assert all(name == one.name and one.summary for name, one in RECIPES.items())


def test_another_gpu_engine_or_kernel_has_a_time_as_well(recipe):
    time_s = recipe.fit(TRAINED, DEVICES, 0)(UNSEEN, DEVICES)
    assert time_s.shape == (len(UNSEEN),)
    assert (np.isfinite(time_s) & (time_s > 0)).all()


def test_the_same_rows_and_seed_give_the_same_times(recipe):
    first, second = (recipe.fit(TRAINED, DEVICES, 7)(TRAINED, DEVICES) for _ in range(2))
    assert (first == second).all()


def test_a_row_has_its_own_time_whatever_stands_beside_it(recipe):
    predict, order = recipe.fit(TRAINED, DEVICES, 0), np.random.default_rng(0).permutation(len(UNSEEN))
    assert predict(UNSEEN.take(order), DEVICES) == pytest.approx(predict(UNSEEN, DEVICES)[order], rel=1e-5)


def test_no_rows_are_refused(recipe):
    with pytest.raises(FieldError, match="no training rows"):
        recipe.fit(TRAINED.take(slice(0, 0)), DEVICES, 0)


def test_no_rows_have_no_times(recipe):
    assert len(recipe.fit(TRAINED, DEVICES, 0)(TRAINED.take(slice(0, 0)), DEVICES)) == 0


def test_what_was_not_trained_on_has_the_model_of_most_rows_of_its_format():
    models = Models.of(
        {("a", "bf16"): 1, ("b", "bf16"): 2, ("a", "fp8"): 3}, {("a", "bf16"): 10, ("b", "bf16"): 20, ("a", "fp8"): 30}
    )
    assert [models[key] for key in [("a", "bf16"), ("c", "bf16"), ("c", "fp8"), ("c", "nvfp4")]] == [1, 2, 3, 3]


def test_a_missing_package_is_named_by_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtraError, match=r"needs the extra \[train\]"):
        RECIPES["boosted"].fit(TRAINED, DEVICES, 0)


def test_a_module_that_is_there_is_imported():
    assert optional("json", "nothing") is sys.modules["json"]


def test_to_list_the_baselines_needs_no_extra():
    code = "import sys, synperf.training.baselines; sys.exit(bool({'torch', 'lightgbm', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
