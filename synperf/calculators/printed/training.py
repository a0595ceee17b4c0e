"""All-reduces, pipelines, training memory."""

from __future__ import annotations

from ..allreduce import allreduce
from ..pipeline import pipeline
from ..pipeline_partition import Layers, partition
from ..pipeline_setup import Setup as PipelineSetup
from ..training_memory import Setup as MemorySetup
from ..training_memory import training_memory
from .figure import Exact

_SPLIT = (10, 11, 12, 12, 12, 12, 13, 14)
_PARAMETERS = 9e9  # of a stage whose BF16 weights are 18 GB


def ring_and_tree() -> dict[str, Exact]:
    """Eight GPUs, 5 us and 100 GB/s."""
    found = allreduce(bytes=1e6, ranks=8, latency_s=5e-6, bandwidth=100e9)
    return {
        "steps of a ring": Exact(float(found.ring_steps)),
        "steps of a tree": Exact(float(found.tree_steps)),
        "sent by a rank": Exact(found.ring_share, "x"),
        "of one phase": Exact(found.phase_share, "x"),
        "where they cross": Exact(found.crossover_bytes, "B"),
        "with a pipelined tree": Exact(found.crossover_pipelined_bytes, "B"),
    }


def pipelines() -> dict[str, Exact]:
    """96 layers of 1.5 GB on eight GPUs with 32 micro-batches: states of a stage, a split, and the bubble."""
    states = training_memory(MemorySetup(parameters=_PARAMETERS))
    found = pipeline(PipelineSetup(stages=8, microbatches=32))
    layers = Layers(costs=(1.0,) * sum(_SPLIT), layer_bytes=1.5e9)
    split = partition(layers, found.in_flight, _SPLIT)
    return {
        "bytes a parameter": Exact(float(states.bytes_per_parameter), "B"),
        "weights of a stage, least": Exact(min(split.weights_bytes), "B"),
        "weights of a stage, most": Exact(max(split.weights_bytes), "B"),
        "weights, gradients, Adam": Exact(states.states_bytes, "B"),
        "times the weights": Exact(states.states_bytes / (2 * _PARAMETERS), "x"),
        "balance of 10, 11, 12, 12, 12, 12, 13, 14 layers": Exact(split.balance, "share"),
        "bubble of the total": Exact(found.bubble_of_total, "share"),
        "bubble of the ideal": Exact(found.bubble_of_ideal, "share"),
    }
