"""Where measured estimates look: tables by key."""

import numpy as np

from synperf.measurements import Rows
from synperf.measurements.merging import merged
from synperf.measurements.source import Key, by_key


def layers(version="1", gated=True, distribution="balanced", tokens=(1, 2), biased=False):
    values = {
        "gpu": "toy", "family": "fused_moe", "engine": "vllm", "version": version, "kernel": "triton_moe",
        "kernel_source": "a", "dtype": "bf16", "gated": gated, "distribution": distribution, "source": "x",
    }  # fmt: skip
    sizes = {"hidden": 64, "inter": 32, "experts": 8, "topk": 2, "tp": 1, "ep": 1}
    numbers = {"tokens": np.array(tokens)} | {name: np.full(len(tokens), size) for name, size in sizes.items()}
    no = np.zeros(len(tokens), dtype=bool)
    return merged(values, numbers, np.array(tokens, dtype=np.float64), no, no | biased)


def key(**labels):
    labels = {"gated": True, "distribution": "balanced"} | labels
    return Key(
        gpu="toy", family="fused_moe", engine="vllm", kernel="triton_moe", dtype="bf16", labels=tuple(labels.items())
    )


def test_rows_of_two_labels_stand_in_two_tables():
    tables = by_key(Rows.join([layers(), layers(distribution="power_law_1.2"), layers(gated=False)]))
    assert set(tables) == {key(), key(distribution="power_law_1.2"), key(gated=False)}
    assert tables[key()].numbers["tokens"].tolist() == [1.0, 2.0]


def test_the_newest_version_that_has_a_label_answers_for_it():
    rows = [layers("0.9"), layers("0.10", tokens=(3,)), layers("0.9", distribution="power_law_1.2")]
    tables = by_key(Rows.join(rows))
    assert [(t.version, t.numbers["tokens"].tolist()) for t in tables.values()] == [
        ("0.10", [3.0]),
        ("0.9", [1.0, 2.0]),
    ]


def test_biased_rows_stand_in_no_table():
    assert by_key(layers(biased=True)) == {}
