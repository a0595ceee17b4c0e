"""Cases: what is fitted to and what is scored, for every split."""

from dataclasses import replace

import numpy as np
import pytest

from synperf import hardware
from synperf.errors import FieldError, UnknownNameError
from synperf.evaluation import splits
from synperf.evaluation.devices import published
from synperf.evaluation.selection import Selection, is_split_test, pool
from synperf.measurements import Rows

from .toy_pools import identities, rows

GPUS = ("a100_sxm", "b200_sxm", "gb200", "h100_sxm", "h200_sxm", "l40s")


def everyone(*gpus):
    return pool([rows(gpu) for gpu in gpus or GPUS], Selection(), is_split_test)


def cases(split, found, selection=None):
    return list(splits.cases(split, found, selection or Selection()))


@pytest.mark.parametrize("split", splits.SPLITS)
def test_no_scored_row_was_fitted_to(split):
    found = everyone("h20", "h800", "l40s") if split in splits.PAPER_SEEN else everyone()
    for case in cases(split, found):
        for mask in case.parts.values():
            assert mask.any()
            assert not identities(case.rows.take(mask)) & identities(case.training())


@pytest.mark.parametrize("split", [splits.UNSEEN_GPU, splits.FEW_SHOT])
def test_twins_are_left_out_together(split):
    found = cases(split, everyone())
    assert [case.name for case in found] == ["a100_sxm", "b200_sxm+gb200", "h100_sxm+h200_sxm", "l40s"]
    for case in found:
        assert set(case.training().gpu) == set(GPUS) - set(case.held_out)
        assert set(case.rows.take(case.parts["unseen"]).gpu) == set(case.held_out)
        assert set(case.rows.take(case.parts["seen"]).gpu) == set(GPUS) - set(case.held_out)


def test_a_gpu_whose_kin_stays_is_left_out_alone():
    found = cases(splits.SIBLING, everyone())
    assert [case.name for case in found] == ["b200_sxm", "gb200", "h100_sxm", "h200_sxm"]
    for case in found:
        assert set(case.training().gpu) == set(GPUS) - set(case.held_out)
    with pytest.raises(FieldError, match="none of a100_sxm, l40s runs the kernels of another; right would be unseen"):
        cases(splits.SIBLING, everyone("a100_sxm", "l40s"))


def test_kernels_that_no_kin_ran_are_scored_apart():
    given = [rows("h100_sxm"), rows("h200_sxm"), rows("h200_sxm", engine="trtllm"), rows("l40s", engine="trtllm")]
    found = pool(given, Selection(), is_split_test)
    by_name = {case.name: case for case in cases(splits.SIBLING, found)}
    h200 = by_name["h200_sxm"]
    assert set(h200.rows.take(h200.parts["unseen"]).engine) == {"vllm"}
    assert set(h200.rows.take(h200.parts[splits.NEW_KERNELS]).engine) == {"trtllm"}
    assert splits.NEW_KERNELS not in by_name["h100_sxm"].parts


def test_named_gpus_need_kin_that_stays_to_be_siblings():
    (case,) = cases(splits.SIBLING, everyone(), Selection(hold_out=("h100_sxm", "gb200")))
    assert case.held_out == ("gb200", "h100_sxm")
    for held, alone in ((("l40s",), "l40s"), (("h100_sxm", "h200_sxm"), "h100_sxm"), (("gb200", "l40s"), "l40s")):
        said = (
            f"hold_out: no GPU that stays among these rows runs the kernels of {alone}; right would be --split unseen"
        )
        with pytest.raises(FieldError, match=said):
            splits.case_names(splits.SIBLING, everyone(), Selection(hold_out=held))


def test_the_names_of_cases_are_known_before_they_are_made():
    for split in (splits.RANDOM, splits.UNSEEN_GPU, splits.SIBLING):
        found = everyone()
        assert splits.case_names(split, found, Selection()) == tuple(case.name for case in cases(split, found))


def test_all_rows_of_a_gpu_that_is_left_out_are_scored():
    case = cases(splits.UNSEEN_GPU, everyone("l40s", "a100_sxm"))[0]
    assert identities(case.rows.take(case.parts["unseen"])) == identities(rows("a100_sxm"))


def test_rows_of_the_other_gpus_that_are_scored_are_new_shapes():
    case = cases(splits.UNSEEN_GPU, everyone())[0]
    assert case.rows.is_test[case.parts["seen"]].all()
    assert not case.training().is_test.any()


def test_named_gpus_are_left_out_together_and_alone():
    chosen = Selection(hold_out=("l40s", "h100_sxm"))
    found = cases(splits.UNSEEN_GPU, everyone(), chosen)
    assert [case.held_out for case in found] == [("h100_sxm", "l40s")]
    assert "h200_sxm" in set(found[0].training().gpu)


def test_one_gpu_cannot_be_left_out_of_itself():
    with pytest.raises(FieldError, match="leaving out l40s leaves no GPU to fit to"):
        cases(splits.UNSEEN_GPU, everyone("l40s"))
    with pytest.raises(FieldError, match="leaving out h100_sxm and h200_sxm leaves no GPU"):
        cases(splits.UNSEEN_GPU, everyone("h100_sxm", "h200_sxm"))


def test_a_gpu_without_rows_cannot_be_left_out():
    with pytest.raises(FieldError, match="hold_out: h20 has no rows here; those that have: a100_sxm"):
        cases(splits.UNSEEN_GPU, everyone(), Selection(hold_out=("h20",)))


def test_a_group_without_training_rows_is_not_scored():
    own, other = rows("l40s"), rows("l40s", engine="sglang")
    found = pool([Rows.join([own, other.take(other.is_test)])], Selection(), is_split_test)
    (case,) = cases(splits.NEW_SHAPE, found)
    assert set(case.rows.take(case.parts["test"]).engine) == {"vllm"}


def test_the_paper_is_trained_on_two_gpus_and_knows_published_figures_alone():
    parts = [replace(rows(gpu), is_test=np.arange(48) % 3 == 0) for gpu in ("h20", "h800", "h100_sxm")]
    (case,) = cases(splits.PAPER_FP8, pool(parts, Selection(), is_split_test))
    assert set(case.training().gpu) == {"h20", "h800"}
    assert set(case.rows.take(case.parts["test"]).gpu) == {"h20", "h800", "h100_sxm"}
    for gpu in case.devices.values():
        assert (gpu.calibration.launch_floor_s, gpu.calibration.clock_share) == ({}, None)


@pytest.mark.parametrize("split", splits.PAPER)
def test_every_row_of_the_papers_tables_is_used(split):
    assert splits.selection(split).rows_per_group > 1e6


def test_the_papers_grid_is_trained_on_its_six_gpus():
    gpus = ("h20", "h800", "a100_sxm", "l20", "a40", "rtx_6000_ada", "l40", "h100_sxm")
    (case,) = cases(splits.PAPER_MOE, everyone(*gpus))
    assert set(case.training().gpu) == set(gpus[:6])
    assert set(case.rows.take(case.parts["test"]).gpu) == set(gpus)


def test_nothing_that_was_measured_on_a_gpu_is_known_where_it_is_left_out():
    found = published(("h100_sxm", "h200_sxm", "a100_sxm", "h20", "l40s"), ("h100_sxm", "h200_sxm"))
    records = [hardware.gpu(key).calibration for key in ("a100_sxm", "l40s")]
    for key in ("h100_sxm", "h200_sxm", "h20"):
        own = found[key].calibration
        assert own.launch_floor_from in ("a100_sxm", "l40s")
        assert own.clock_share == pytest.approx(np.mean([r.clock_share for r in records]))
    assert found["l40s"] is hardware.gpu("l40s") or found["l40s"].calibration == hardware.gpu("l40s").calibration


def test_a_gpu_that_nobody_measured_keeps_the_record_that_stands_in_for_it():
    found = published(("h100_sxm", "h20", "l40s"), ("l40s",))
    assert found["h20"].calibration.launch_floor_from == hardware.gpu("h20").calibration.launch_floor_from


def test_formats_and_numbers_of_rows_are_as_the_split_needs():
    assert splits.selection(splits.UNSEEN_GPU).dtypes == ("bf16",)
    assert splits.selection(splits.RANDOM).dtypes == ()
    assert splits.selection(splits.UNSEEN_GPU, dtypes=["fp8"]).dtypes == ("fp8",)
    assert splits.selection(splits.PAPER_FP8).rows_per_group > 1e6
    assert splits.selection(splits.PAPER_FP8, rows_per_group=7).rows_per_group == 7


def test_a_split_that_leaves_no_gpu_out_says_so():
    said = "hold_out: random leaves no GPU out; right would be unseen-gpu or sibling or few-shot"
    with pytest.raises(FieldError, match=said):
        splits.selection(splits.RANDOM, hold_out=["l40s"])


def test_no_such_split():
    with pytest.raises(UnknownNameError, match="no split named 'unsen-gpu'; nearest: unseen-gpu"):
        splits.check("unsen-gpu")


def test_rows_of_test_files_are_scored_on_gpus_that_no_training_row_is_of_too():
    other = rows("l40s")
    parts = [rows("h100_sxm"), replace(other, is_test=np.ones(len(other), dtype=bool))]
    (case,) = cases(splits.TEST_FILE, pool(parts, Selection(), is_split_test))
    assert set(case.training().gpu) == {"h100_sxm"}
    assert set(case.rows.take(case.parts["test"]).gpu) == {"h100_sxm", "l40s"}


@pytest.mark.parametrize("split", [splits.NEW_SHAPE, splits.TEST_FILE])
@pytest.mark.parametrize(("marked", "said"), [(False, "none are test rows"), (True, "all are test rows")])
def test_rows_that_mark_none_or_all_as_test_rows_are_told_of_the_column(split, marked, said):
    part = rows("h100_sxm")
    found = pool([replace(part, is_test=np.full(len(part), marked))], Selection(), is_split_test)
    with pytest.raises(
        FieldError, match=rf"^rows: {said}.*right for {split} would be a column is_test that is true in"
    ):
        cases(split, found)
