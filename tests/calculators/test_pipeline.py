"""The bubble of a pipeline and the split of its layers, by formula, by hand and by brute force."""

import json
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synperf.calculators.pipeline import pipeline
from synperf.calculators.pipeline_partition import Layers, partition
from synperf.calculators.pipeline_schedules import BACKWARD, FORWARD, names
from synperf.calculators.pipeline_setup import Setup
from tests.cli.runner import assert_refused, invoke

SIZES = [(8, 32), (8, 8), (4, 16), (8, 64), (4, 4), (2, 6), (1, 3)]


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b"])
@pytest.mark.parametrize(
    ("stages", "microbatches", "of_total", "of_ideal", "textbook"),
    [(8, 32, 17.95, 21.9, 25), (8, 8, 46.7, 87.5, 100), (4, 16, 15.8, 18.75, 25), (8, 64, 9.9, 10.9, 12.5)],
)
def test_the_bubble_is_that_of_the_formula_beside_that_of_textbooks(
    schedule, stages, microbatches, of_total, of_ideal, textbook
):
    found = pipeline(Setup(stages=stages, microbatches=microbatches, schedule=schedule))
    assert 100 * found.bubble_of_total == pytest.approx(of_total, abs=0.05)
    assert 100 * found.bubble_of_ideal == pytest.approx(of_ideal, abs=0.05)
    assert 100 * found.textbook_bubble == textbook
    assert found.bubble_of_total == pytest.approx((stages - 1) / (microbatches + stages - 1))


def test_the_command_takes_the_names_of_the_project():
    arguments = "pipeline --stages 8 --microbatches 32 --schedule interleaved --chunks 2 --json"
    found = json.loads(invoke(*arguments.split()).out)
    assert found["bubble_of_ideal"] == pytest.approx(7 / 64)
    assert found["bubble_of_total"] == pytest.approx(7 / 71)
    assert "timeline" not in found


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
@pytest.mark.parametrize("chunks", [1, 2, 4])
def test_chunks_divide_the_bubble(stages, microbatches, chunks):
    if microbatches % stages:
        return
    setup = Setup(stages=stages, microbatches=microbatches, schedule="interleaved", chunks=chunks)
    assert pipeline(setup).bubble_of_ideal == pytest.approx((stages - 1) / (chunks * microbatches))


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_split_backward_passes_fill_the_bubble(stages, microbatches):
    h1 = pipeline(Setup(stages=stages, microbatches=microbatches, schedule="zero-bubble"))
    assert h1.bubble_of_ideal == pytest.approx((stages - 1) / (3 * microbatches))  # F = B = W
    assert max(h1.in_flight) == min(stages, microbatches)
    h2 = pipeline(Setup(stages=stages, microbatches=microbatches, schedule="zero-bubble-h2"))
    assert max(h2.in_flight) == min(2 * stages - 1, microbatches)
    if microbatches >= 2 * stages - 1:
        assert h2.bubble_of_ideal == pytest.approx(0)


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_gpipe_holds_all_micro_batches_and_1f1b_as_many_as_stages_are_left(stages, microbatches):
    assert Setup(stages=stages, microbatches=microbatches, schedule="gpipe").in_flight == (microbatches,) * stages
    held = Setup(stages=stages, microbatches=microbatches, schedule="1f1b").in_flight
    assert held == tuple(min(microbatches, stages - stage) for stage in range(stages))


@pytest.mark.parametrize("schedule", names())
@pytest.mark.parametrize("transfer", [0.0, 0.25])
def test_passes_never_overlap_and_wait_for_what_they_need(schedule, transfer):
    found = pipeline(Setup(stages=4, microbatches=8, schedule=schedule, transfer_s=transfer))
    ends = {(stage, one.done): one.end_s for stage, lane in enumerate(found.timeline.lanes) for one in lane}
    for stage, lane in enumerate(found.timeline.lanes):
        assert all(after.start_s >= before.end_s for before, after in pairwise(lane))
        assert len({one.done for one in lane}) == len(lane)
        for one in lane:
            if one.done.kind == FORWARD and stage:
                assert one.start_s >= ends[stage - 1, one.done] + transfer
            if one.done.kind == BACKWARD and stage < 3:
                assert one.start_s >= ends[stage + 1, one.done] + transfer


def test_one_slow_stage_sets_the_pace():
    layers = Layers(costs=(1.0, 1.0, 1.0, 3.0))
    found = pipeline(Setup(stages=4, microbatches=64, layers=layers))
    assert found.partition.layers == (1, 1, 1, 1)
    assert found.step == pytest.approx(64 * 9 + 3 * 3)  # the slowest without a pause, and the way there and back
    assert found.bubble_of_total == pytest.approx(1 - 64 * 3 * 6 / (4 * found.step))


def test_96_layers_of_1_5_gb_are_12_on_each_of_8_stages_and_18_gb():
    layers = Layers(costs=(1.0,) * 96, layer_bytes=1.5e9)
    found = pipeline(Setup(stages=8, microbatches=32, layers=layers))
    assert found.partition.layers == (12,) * 8
    assert found.partition.weights_bytes == (18e9,) * 8
    assert sum(found.partition.weights_bytes) == 144e9
    assert found.partition.balance == 1


def test_a_given_split_is_judged_and_the_best_one_named():
    layers = Layers(costs=(1.0,) * 96, layer_bytes=1.5e9)
    found = pipeline(Setup(stages=8, microbatches=32, layers=layers, split=(10, 11, 12, 12, 12, 12, 13, 14)))
    assert (min(found.partition.weights_bytes), max(found.partition.weights_bytes)) == (15e9, 21e9)
    assert found.partition.balance == pytest.approx(0.857, abs=5e-4)
    assert found.best_partition.layers == (12,) * 8
    assert found.advice[0].startswith("layers 12,12,12,12,12,12,12,12: 1.13 times faster, balance 100 %")


def test_adam_takes_8_times_the_weights_and_that_does_not_fit():
    layers = Layers(costs=(1.0,) * 96, layer_bytes=1.5e9, is_trained=True, memory_bytes=80e9)
    found = pipeline(Setup(stages=8, microbatches=32, layers=layers))
    assert found.partition.bytes == (144e9,) * 8
    assert found.partition.fits is False
    assert found.advice[0] == "16 stages fit: at most 72 GB on each"


def test_the_stages_of_embedding_and_head_have_fewer_layers():
    layers = Layers(costs=(1.0,) * 32, embedding_cost=2, head_cost=3)
    found = partition(layers, (4, 3, 2, 1))
    assert max(found.costs) == 10  # of 37 in all
    assert found.layers[0] < max(found.layers) > found.layers[-1]


def test_activations_in_flight_move_layers_to_later_stages():
    layers = Layers(costs=(1.0,) * 32, layer_bytes=1e9, activation_bytes=1e9, memory_bytes=32e9)
    found = partition(layers, (4, 3, 2, 1))
    assert found.fits
    assert found.layers == (6, 8, 9, 9)
    assert partition(Layers(costs=(1.0,) * 32), (4, 3, 2, 1)).layers == (8, 8, 8, 8)


COST = st.sampled_from([1.0, 2.0, 3.0, 5.0, 0.5])


@settings(deadline=None, max_examples=80)
@given(
    costs=st.lists(COST, min_size=1, max_size=8),
    stages=st.integers(1, 4),
    ends=st.tuples(COST, COST, COST),
    activation=st.sampled_from([0.0, 1.0, 2.0]),
    memory=st.sampled_from([None, 6.0, 10.0, 20.0]),
)
def test_no_partition_is_better_than_the_one_that_is_found(costs, stages, ends, activation, memory):
    if len(costs) < stages:
        return
    embedding, head, weights = ends
    layers = Layers(
        costs=tuple(costs), layer_bytes=weights, embedding_cost=embedding, head_cost=head, embedding_bytes=embedding,
        head_bytes=head, activation_bytes=activation, memory_bytes=memory,
    )  # fmt: skip
    in_flight = [float(stages - stage) for stage in range(stages)]

    def judged(found):
        return (
            memory is not None and not found.fits,
            max(found.costs),
            max(found.bytes),
            sum(cost**2 for cost in found.costs),
        )

    def every():
        for cuts in combinations(range(1, len(costs)), stages - 1):
            split = [end - first for first, end in pairwise([0, *cuts, len(costs)])]
            yield judged(partition(layers, in_flight, split))

    assert judged(partition(layers, in_flight)) == pytest.approx(min(every()))


def test_advice_is_what_comes_of_computing_again():
    found = pipeline(Setup(stages=4, microbatches=8))
    more = pipeline(Setup(stages=4, microbatches=16))
    assert f"16 micro-batches: {100 * more.bubble_of_total:.2f} %" in found.advice[0]
    assert any(one.startswith("zero-bubble: 11.11 %") for one in found.advice)


def test_a_very_long_step_is_drawn_as_shares(tmp_path):
    drawn = tmp_path / "drawn.svg"
    arguments = f"pipeline --stages 16 --microbatches 512 --svg {drawn}"
    assert invoke(*arguments.split()).code == 0
    assert drawn.stat().st_size < 20_000


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ("--stages 0", "stages must be a whole number from 1 to 64, got 0"),
        ("--stages 1.5", "1.5"),
        ("--stages -1", "stages must be"),
        ("--microbatches 0", "microbatches must be a whole number from 1"),
        ("--microbatches 99999999999", "microbatches must be a whole number from 1"),
        ("--microbatches 16384", "microbatches x stages x chunks must be up to 16384, got 65536"),
        ("--schedule 2f2b", "schedule: no schedule named '2f2b'"),
        ("--chunks 2", "chunks must be 1 for 1f1b, got 2; right would be --schedule interleaved"),
        ("--microbatches 6 --schedule interleaved --chunks 2", "microbatches must be a multiple of stages"),
        ("--layers 3", "layers must be at least one for each of the 4 stages, got 3"),
        ("--layers 0", "layers must be"),
        ("--layers 257", "layers must be up to 256, got 257"),
        ("--layer-costs 1,2,x,4", "layer_costs[2]: 'x' is not a number"),
        ("--layer-costs 1,2,0,4", "layer_costs[2] must be above 0"),
        ("--layers 4 --layer-costs 1,1,1,1", "layer_costs is given beside layers"),
        ("--layers 8 --split 2,2,2", "split must have one number for each of the 4 stages, got 3"),
        ("--layers 8 --split 2,2,2,3", "split must add up to the 8 layers, got 9"),
        ("--layers 8 --split 2,2,4,0", "split must be whole numbers from 1 on, got 2,2,4,0"),
        ("--split 2,2,2,2", "split goes with layers or layer-costs"),
        ("--layers 8 --layer-bytes -1", "layer_bytes must be 0 or above"),
        ("--layers 8 --memory-bytes 0", "memory_bytes must be above 0"),
        ("--layers 8 --schedule interleaved --chunks 2", "chunks must be 1 where layers are split"),
        ("--forward-s 0", "forward_s must be above 0"),
        ("--transfer-s 1GB", "transfer_s: '1GB' is in B"),
    ],
)
def test_bad_input_is_one_sentence(changed, said):
    given = changed.split()
    options = {"--stages": "4", "--microbatches": "8"} | dict(zip(given[::2], given[1::2], strict=True))
    seen = invoke("pipeline", *(part for pair in options.items() for part in pair))
    assert_refused(seen)
    assert said in seen.err
