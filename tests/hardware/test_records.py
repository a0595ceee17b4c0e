"""Calibration records: read where there is one, the nearest measured GPU stands in where there is none."""

from dataclasses import replace

import pytest

from synperf.errors import FieldError, FileFormatError
from synperf.hardware import gpu, records
from synperf.hardware.records import calibrated, nearest_measured, parse_record
from tests.toys import TOY

RECORD = """
clock_share = 0.9
dram_share = 0.93

[launch_floor_s]
cublas.bf16 = 2.1e-6
"deepgemm.fp8_block" = 3e-6

[provenance]
how = "rows with the least work"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty calibration folder."""
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    records.record.cache_clear()
    yield tmp_path
    records.record.cache_clear()


def test_a_record_has_shares_floors_and_provenance():
    record = parse_record(RECORD, "r.toml")
    assert (record.clock_share, record.dram_share, record.l2_share) == (0.9, 0.93, None)
    assert record.launch_floor_s == {"cublas.bf16": 2.1e-6, "deepgemm.fp8_block": 3e-6}
    assert record.launch_floor_from == ""
    assert record.provenance["how"] == "rows with the least work"


def test_a_gpu_with_a_record_takes_it(folder):
    (folder / "h100_sxm.toml").write_text(RECORD)
    measured = calibrated(gpu("h100_sxm"))
    assert measured.calibration.dram_share == 0.93
    assert measured.calibration.launch_floor_from == ""


def test_a_gpu_without_a_record_borrows_launch_floors_alone(folder):
    (folder / "h100_sxm.toml").write_text(RECORD)
    borrowed = calibrated(gpu("h20")).calibration
    assert borrowed.launch_floor_s == {"cublas.bf16": 2.1e-6, "deepgemm.fp8_block": 3e-6}
    assert borrowed.launch_floor_from == "h100_sxm"
    assert (borrowed.clock_share, borrowed.dram_share, borrowed.l2_share) == (None, None, None)


@pytest.mark.usefixtures("folder")
def test_without_any_record_there_is_nothing():
    assert nearest_measured(gpu("h20")) == ""
    assert calibrated(gpu("h20")).calibration.launch_floor_s == {}


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("h20", "h100_sxm"),  # same capability
        ("l4", "l40s"),  # same capability
        ("a40", "a100_sxm"),  # same architecture, other capability
        ("b300_sxm", "b200_sxm"),  # nearest capability
        ("v100_sxm", "a100_sxm"),  # nearest capability
        ("rtx_5090", "b200_sxm"),  # same architecture by name
    ],
)
def test_the_nearest_measured_gpu_stands_in(folder, key, expected):
    for measured in ("a100_sxm", "b200_sxm", "h100_sxm", "l40s"):
        (folder / f"{measured}.toml").write_text(RECORD)
    assert nearest_measured(gpu(key)) == expected


def test_a_record_without_floors_keeps_its_shares_and_borrows_floors(folder):
    (folder / "h100_sxm.toml").write_text(RECORD)
    (folder / "h20.toml").write_text("dram_share = 0.8")
    own = calibrated(gpu("h20")).calibration
    assert (own.dram_share, own.launch_floor_from) == (0.8, "h100_sxm")


def test_a_record_of_a_gpu_outside_the_catalog_stands_in_for_nobody(folder):
    (folder / "my_card.toml").write_text(RECORD)
    assert nearest_measured(gpu("h20")) == ""


def test_a_users_gpu_never_takes_the_record_of_another_key(folder):
    (folder / "toy.toml").write_text("dram_share = 0.8")
    assert calibrated(replace(TOY, key="toy_file")).calibration.dram_share is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clock_shar = 1", "unknown field 'clock_shar'; known: clock_share"),
        ("clock_share = 0", "clock_share: 0 is not a number above 0 and below 10"),
        ("clock_share = true", "clock_share: True is not a number"),
        ("launch_floor_s = 3", "launch_floor_s: 3 is not a table"),
        ('launch_floor_s = { cublas = { bf16 = "fast" } }', "launch_floor_s.cublas.bf16: 'fast' is not a number"),
    ],
)
def test_a_broken_record_is_told(text, message):
    with pytest.raises(FieldError) as error:
        parse_record(text, "r.toml")
    assert str(error.value).startswith(f"r.toml: {message}")


def test_a_record_that_is_not_toml_is_told():
    with pytest.raises(FileFormatError, match=r"r\.toml: not TOML"):
        parse_record("clock_share", "r.toml")


def test_every_record_that_ships_can_be_read():
    for key in records.measured():
        assert records.record(key) is not None
