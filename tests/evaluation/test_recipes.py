"""Names of recipes; none of them needs torch to be named."""

import pytest

from synperf.errors import FieldError, UnknownNameError
from synperf.evaluation import recipes, splits
from synperf.training.baselines import RECIPES


def made(monkeypatch):
    """Stands in for what needs torch, and keeps what our recipes are made with."""
    given = {}

    def hybrid(name, **options):
        given[name] = options
        return RECIPES["roofline"]

    monkeypatch.setattr(recipes, "_learned", lambda function: hybrid if function == "hybrid" else lambda: None)
    monkeypatch.setattr(recipes, "general", lambda: None)
    return given


def test_every_baseline_has_a_name():
    assert set(RECIPES) < set(recipes.names())


def test_the_defaults_are_ours_and_every_baseline():
    assert recipes.defaults(splits.RANDOM) == ("hybrid", *sorted(RECIPES))
    assert recipes.defaults(splits.UNSEEN_GPU) == ("general", *sorted(RECIPES))
    assert recipes.defaults(splits.FEW_SHOT) == ("general",)


def test_a_baseline_without_features_of_a_family_is_no_default_of_it():
    assert set(recipes.defaults(splits.TEST_FILE)) - set(recipes.defaults(splits.TEST_FILE, "conv")) == {"paper"}


def test_all_is_the_defaults_and_others_may_stand_beside_it(monkeypatch):
    made(monkeypatch)
    assert len(recipes.named(splits.RANDOM, ["all", "no_network", "roofline"])) == 1 + len(RECIPES) + 1
    assert len(recipes.named(splits.RANDOM)) == 1 + len(RECIPES)


def test_an_ablation_knows_gpus_where_the_recipe_beside_it_does(monkeypatch):
    given = made(monkeypatch)
    recipes.named(splits.RANDOM, ["hybrid", "no_math"])
    assert given == {"hybrid": {"known": True, "without": ()}, "no_math": {"known": True, "without": ("math",)}}
    recipes.named(splits.UNSEEN_GPU, ["no_math"])
    assert given["no_math"] == {"known": False, "without": ("math",)}


@pytest.mark.parametrize("split", sorted({*splits.UNSEEN} - {splits.TEST_FILE}))
def test_what_knows_gpus_by_name_cannot_be_asked_about_others(split):
    with pytest.raises(FieldError, match="recipe: hybrid knows the GPUs it was fitted to by name"):
        recipes.named(split, ["hybrid"])


def test_of_test_files_gpus_with_training_rows_are_known_by_name_and_others_are_not(monkeypatch):
    wanted = []
    monkeypatch.setattr(recipes, "_learned", lambda function: lambda *given: wanted.append((function, *given)))
    assert recipes.defaults(splits.TEST_FILE)[0] == "hybrid"
    recipes.named(splits.TEST_FILE, ["hybrid"])
    assert wanted == [("shipped", "hybrid")]


def test_no_such_recipe():
    with pytest.raises(UnknownNameError, match="no recipe named 'roofine'; nearest: roofline"):
        recipes.named(splits.RANDOM, ["roofine"])
