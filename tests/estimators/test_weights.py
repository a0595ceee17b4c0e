"""Weights files: what is written is read, and whatever is wrong with them is one sentence."""

import json
import re
from dataclasses import replace
from functools import partial

import msgspec
import numpy as np
import pytest

from synperf.errors import FileFormatError
from synperf.estimators import weights
from synperf.estimators.input_names import input_names
from synperf.estimators.nearness import Nearness
from synperf.estimators.weights import NOTES, Weights, read, read_own, serialize
from synperf.kernels import families

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
        ("format", 1, "format is 1, right would be 2; train the weights again"),
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
    "change",
    [{"groups": ["one.alone.here"]}, {"num_layers": 0}, {"rows": 7}, {"widening": {"": 9}}],
)
def test_a_changed_card_is_told(tmp_path, change):
    path = write(tmp_path / "gemm.safetensors")
    card = json.loads(path.with_suffix(".json").read_text())
    card["networks"][0] |= change
    path.with_suffix(".json").write_text(json.dumps(card))
    with pytest.raises(
        FileFormatError, match=r"not the card that was written with gemm\.safetensors.*right would be both"
    ):
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
        {"group_low": np.full_like(toy().networks[0].group_low, np.nan)},
        {"group_high": np.full_like(toy().networks[0].group_high, np.inf)},
    ],
)
def test_arrays_that_cannot_be_are_told(tmp_path, arrays):
    with pytest.raises(FileFormatError, match="do not fit together"):
        read(write(tmp_path / "gemm.safetensors", changed(toy(), **arrays)), "gemm")


def relabelled(**fields):
    """The toy weights with other fields in the card of their first network, as if they had been trained so."""
    weights = toy()
    first, *others = weights.card.networks
    networks = (msgspec.structs.replace(first, **fields), *others)
    return Weights(card=msgspec.structs.replace(weights.card, networks=networks), networks=weights.networks)


NEAR = partial(Nearness, **{"shapes": ((64, 64),), "growth": 0.5, "least": 0.0, "usual": 1.0, "most": 2.0})
INPUTS, BAND = toy().card.networks[0].inputs, toy().card.networks[0].regimes[""]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"regimes": {}}, "bf16.known has no regimes for groups that nothing was held out of"),
        ({"regimes": {"": ()}}, "bf16.known has no rising regimes for groups that nothing was held out of"),
        ({"regimes": {"": BAND, "h100_sxm.vllm.cublas": ()}}, "bf16.known has no rising regimes for h100_sxm.vllm"),
        ({"regimes": {"": BAND[::-1]}}, "bf16.known has no rising regimes"),
        ({"inputs": ("mass", *INPUTS[1:])}, "bf16.known has an input 'mass', which no call has"),
        ({"inputs": INPUTS[:-1]}, f"bf16.known has no input '{INPUTS[-1]}', which every call has"),
        ({"inputs": INPUTS[::-1]}, "bf16.known has its inputs in another order"),
        ({"scope": "odd"}, "bf16.known is 'odd', neither known nor general"),
        ({"nearness": NEAR(shapes=())}, "bf16.known has a nearness that is not to shapes of 2 extents"),
        ({"nearness": NEAR(shapes=((64, 64, 1),))}, "bf16.known has a nearness that is not to shapes of 2 extents"),
        ({"nearness": NEAR(shapes=((64, 0),))}, "bf16.known has a nearness that is not to shapes of 2 extents"),
        ({"nearness": NEAR(most=0.5)}, "bf16.known has a nearness whose distances or growth are not in order"),
        ({"nearness": NEAR(growth=-1.0)}, "bf16.known has a nearness whose distances or growth are not in order"),
    ],
)
def test_a_card_that_answers_would_stumble_over_is_told_when_it_is_read(tmp_path, fields, said):
    with pytest.raises(FileFormatError, match=re.escape(f"the card does not match what answers need: {said}")):
        read(write(tmp_path / "gemm.safetensors", relabelled(**fields)), "gemm")


def test_the_name_of_weights_follows_from_rows_and_seed_alone():
    def name(**fields):
        return serialize(msgspec.structs.replace(toy().card, **fields), {"a": np.zeros(3, np.float32)})[0].sha256

    notes = {"synperf": "9", "command": "synperf train gemm --rows mine.csv", "date": "2031-01-01", "training_s": 7.5}
    assert set(notes) == set(NOTES)
    assert name() == name(**notes)
    others = [{"seed": 1}, {"split": "x"}, {"sources": {"vllm 1": 5}}, {"inputs_version": 9}, {"networks": ()}]
    assert len({name(), *(name(**fields) for fields in others)}) == 1 + len(others)


def test_a_note_may_change_and_nothing_else(tmp_path):
    path = write(tmp_path / "gemm.safetensors")
    card = json.loads(path.with_suffix(".json").read_text())
    path.with_suffix(".json").write_text(json.dumps(card | {"date": "2031-01-01"}))
    assert read(path, "gemm").card.date == "2031-01-01"
    path.with_suffix(".json").write_text(json.dumps(card | {"seed": 7}))
    with pytest.raises(FileFormatError, match="not the card that was written with"):
        read(path, "gemm")


def test_weights_of_ones_own_are_of_the_family_that_their_card_names(tmp_path):
    path = write(tmp_path / "mine.safetensors")
    assert read_own(path).card.family == "gemm"
    card = json.loads(path.with_suffix(".json").read_text())
    for family in ("sort", None, []):
        path.with_suffix(".json").write_text(json.dumps(card | {"family": family}))
        with pytest.raises(FileFormatError, match=re.escape(f"mine.json: family is {family!r}, right would be one of")):
            read_own(path)


@pytest.mark.parametrize("text", [b"", b"[]", b"[" * 100_000, b'{"a":' * 100_000, b'"', b"\xff", b'{"\xff": 1}'])
def test_a_card_of_ones_own_that_is_no_card_is_told(tmp_path, text):
    path = write(tmp_path / "mine.safetensors")
    path.with_suffix(".json").write_bytes(text)
    with pytest.raises(FileFormatError, match=r"mine\.json: not the JSON of a card"):
        read_own(path)


def test_weights_of_ones_own_that_are_not_there_are_named_as_they_were_asked_for(tmp_path):
    path = write(tmp_path / "mine.safetensors")
    path.unlink()
    (tmp_path / "folder.safetensors").mkdir()
    for name in ("mine", "folder", "none"):
        with pytest.raises(FileFormatError, match=rf"{name}\.safetensors: there is no such file; right would be"):
            read_own(tmp_path / f"{name}.safetensors")


def test_weights_have_their_ending(tmp_path):
    with pytest.raises(FileFormatError, match=r"mine\.json: should end in \.safetensors"):
        read_own(tmp_path / "mine.json")


def test_the_inputs_of_a_family_have_distinct_names():
    for name, kind in families().items():
        for call in (kind.example, *kind.others):
            found = input_names(name, kind.variant(call))
            assert len(set(found)) == len(found) > 25


def test_a_variant_whose_networks_see_other_inputs_has_names_of_its_own():
    module, core = input_names("mla", "decode_module"), input_names("mla", "decode")
    assert set(core) < set(module)
    assert "proj_math" in set(module) - set(core)
    assert input_names("mla", "prefill_module") == module


def test_weights_without_their_arrays_are_told(tmp_path, monkeypatch):
    write(tmp_path / "gemm.safetensors").unlink()
    monkeypatch.setattr(weights, "FOLDER", tmp_path)
    with pytest.raises(FileFormatError, match="No such file"):
        weights.shipped.__wrapped__("gemm")


def test_families_without_weights_have_none():
    assert weights.shipped("no_such_family") is None


@pytest.mark.parametrize("path", sorted(weights.FOLDER.glob("*.safetensors")), ids=lambda path: path.stem)
def test_cards_of_the_package_have_the_inputs_that_calls_have(path):
    assert read(path, weights.family_in(path.stem)).card == weights.shipped(path.stem).card


def test_weights_are_named_by_their_family_by_tables_or_by_a_kernel():
    names = {"gemm": "gemm", "gemm.tables": "gemm.tables", "gemm.torch_fp32": "gemm"}
    assert {name: weights.family_in(name) for name in names} == names


def test_weights_of_a_kernel_serve_it_alone_and_those_of_the_family_all_others(tmp_path, monkeypatch):
    write(tmp_path / "gemm.torch_fp32.safetensors")
    write(tmp_path / "gemm.safetensors", relabelled(dtypes=("fp8",)))
    monkeypatch.setattr(weights, "FOLDER", tmp_path)
    monkeypatch.setattr(weights, "shipped", weights.shipped.__wrapped__)
    found = {kernel: weights.serving("gemm", kernel).card.networks[0].dtypes for kernel in ("torch_fp32", "cublas")}
    assert found == {"torch_fp32": ("bf16",), "cublas": ("fp8",)}
    assert weights.serving("softmax", "torch_fp32") is None
