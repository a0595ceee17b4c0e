"""Weights files: what is written is read, and whatever is wrong with them is one sentence."""

import json
from dataclasses import replace

import numpy as np
import pytest

from synperf.errors import FileFormatError
from synperf.estimators import weights
from synperf.estimators.weights import Weights, read

from .toy_weights import toy, write


def test_what_is_written_is_read(tmp_path):
    original, found = toy(), read(write(tmp_path / "gemm.safetensors"), "gemm")
    assert found.card.networks == original.card.networks
    for before, after in zip(original.networks, found.networks, strict=True):
        assert before.groups == after.groups
        for name in ("low", "high", "knots", "shift", "group_low", "out_high", "encoded"):
            assert np.array_equal(getattr(before, name), getattr(after, name))
        assert all(np.array_equal(a, b) for a, b in zip(before.weights, after.weights, strict=True))


def test_a_flipped_bit_a_cut_and_an_empty_file_are_told(tmp_path):
    path = write(tmp_path / "gemm.safetensors")
    data = path.read_bytes()
    for damaged in (data[:-1], data[:10], b"", data[:100] + bytes([data[100] ^ 1]) + data[101:]):
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=r"gemm\.safetensors: damaged, or not the weights"):
            read(path, "gemm")


def test_no_safetensors_with_the_right_digest_is_told(tmp_path):
    path = write(tmp_path / "gemm.safetensors")
    card = json.loads(path.with_suffix(".json").read_text())
    from hashlib import sha256

    path.write_bytes(b"cos\nsystem\n(S'echo pickled'\ntR.")
    card["sha256"] = sha256(path.read_bytes()).hexdigest()
    path.with_suffix(".json").write_text(json.dumps(card))
    with pytest.raises(FileFormatError, match="not a safetensors file"):
        read(path, "gemm")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("format", 99, "format is 99, right would be 1"),
        ("inputs_version", 0, "inputs_version is 0"),
        ("family", "attention", "family is 'attention', right would be 'gemm'"),
        ("sha256", "0" * 64, "digest differs"),
        ("networks", 5, "not a card of weights"),
    ],
)
def test_a_card_that_does_not_match_is_told(tmp_path, field, value, message):
    path = write(tmp_path / "gemm.safetensors")
    card = json.loads(path.with_suffix(".json").read_text())
    path.with_suffix(".json").write_text(json.dumps(card | {field: value}))
    with pytest.raises(FileFormatError, match=message):
        read(path, "gemm")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": 1}'])
def test_a_card_that_is_no_card_is_told(tmp_path, text):
    path = write(tmp_path / "gemm.safetensors")
    path.with_suffix(".json").write_text(text)
    with pytest.raises(FileFormatError, match=r"gemm\.json"):
        read(path, "gemm")


def test_a_missing_card_is_told(tmp_path):
    path = write(tmp_path / "gemm.safetensors")
    path.with_suffix(".json").unlink()
    with pytest.raises(FileFormatError, match="No such file"):
        read(path, "gemm")


@pytest.mark.parametrize(
    "change", [{"groups": ["one.alone.here"]}, {"inputs": []}, {"num_layers": 0}, {"regimes": {}}, {"scope": "odd"}]
)
def test_a_changed_card_is_told(tmp_path, change):
    path = write(tmp_path / "gemm.safetensors")
    card = json.loads(path.with_suffix(".json").read_text())
    card["networks"][0] |= change
    path.with_suffix(".json").write_text(json.dumps(card))
    with pytest.raises(FileFormatError, match=r"not the card that was written with gemm\.safetensors"):
        read(path, "gemm")


def changed(weights, **arrays):
    first, *others = weights.networks
    return Weights(card=weights.card, networks=(replace(first, **arrays), *others))


@pytest.mark.parametrize(
    "arrays",
    [
        {"low": np.full(3, np.nan, np.float32)},
        {"out_low": np.array([np.nan, 0], np.float32)},
        {"knots": np.zeros((2, 4), np.float32)},
        {"encoded": np.array([0, 9999])},
        {"shift": np.zeros((1, 8), np.float32)},
    ],
)
def test_arrays_that_cannot_be_are_told(tmp_path, arrays):
    with pytest.raises(FileFormatError, match="do not fit together"):
        read(write(tmp_path / "gemm.safetensors", changed(toy(), **arrays)), "gemm")


def test_weights_without_their_arrays_are_told(tmp_path, monkeypatch):
    write(tmp_path / "gemm.safetensors").unlink()
    monkeypatch.setattr(weights, "FOLDER", tmp_path)
    with pytest.raises(FileFormatError, match="No such file"):
        weights.shipped.__wrapped__("gemm")


def test_families_without_weights_have_none():
    assert weights.shipped("no_such_family") is None
