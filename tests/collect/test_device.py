"""What is told of a device, and that nothing is guessed where nothing tells it."""

import os
from types import SimpleNamespace

import pytest
import torch

from synperf.collect import device as devices
from synperf.collect import sensors
from synperf.errors import FieldError

GPU = torch.device("cuda", 1)


@pytest.fixture
def gpus(monkeypatch):
    """Two GPUs of one kind, which are made up; gives what is told of them."""
    told = SimpleNamespace(name="NVIDIA H200", L2_cache_size=50 * 2**20, uuid="abc-1")

    def refuse(_):
        raise ModuleNotFoundError("pynvml")

    answers = {
        "is_available": lambda: True, "device_count": lambda: 2, "set_device": lambda _: None,
        "get_device_properties": lambda _: told, "get_device_name": lambda _: told.name,
        "mem_get_info": lambda _: (100 * 10**9, 141 * 10**9), "clock_rate": refuse, "power_draw": refuse,
    }  # fmt: skip
    for name, answer in answers.items():
        monkeypatch.setattr(torch.cuda, name, answer)
    monkeypatch.setattr(torch.version, "cuda", "12.8")
    monkeypatch.setenv("PATH", "")
    return told


def test_a_gpu_is_told_by_name_and_has_the_key_of_the_catalog(gpus):
    found = devices.device("cuda:1")
    assert (found.torch, found.name, found.gpu, found.is_cpu) == (GPU, "NVIDIA H200", "h200_sxm", False)
    assert (found.cache_bytes, found.free_bytes) == (50 * 2**20, 80 * 10**9)
    assert (found.runtime, found.driver) == ("CUDA 12.8", None)
    gpus.name, gpus.L2_cache_size = "A GPU of the next year", 0
    assert devices.device(None).gpu is None
    assert devices.device(None).cache_bytes > 256 * 2**20


@pytest.mark.usefixtures("gpus")
def test_a_number_beyond_the_gpus_is_refused():
    with pytest.raises(FieldError, match="torch sees 2 GPUs here, so there is no 'cuda:2'"):
        devices.device("cuda:2")


@pytest.mark.usefixtures("gpus")
def test_what_nothing_tells_is_none(monkeypatch):
    assert (sensors.clock_hz(GPU), sensors.power_w(GPU), sensors.driver(GPU)) == (None, None, None)
    monkeypatch.setattr(torch.cuda, "clock_rate", lambda _: 1980)
    monkeypatch.setattr(torch.cuda, "power_draw", lambda _: 650_000)
    assert (sensors.clock_hz(GPU), sensors.power_w(GPU)) == (1.98e9, 650.0)


@pytest.mark.skipif(os.name != "posix", reason="a script of POSIX")
@pytest.mark.usefixtures("gpus")
def test_the_program_of_the_driver_is_asked_where_its_library_is_absent(tmp_path, monkeypatch):
    program = tmp_path / "nvidia-smi"
    cases = '*--id=GPU-abc-1*driver_version*) echo 570.1;; *clocks.sm*) echo 1200;; *) echo "[N/A]";;'
    program.write_text(f'#!/bin/sh\ncase "$*" in {cases} esac\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (sensors.driver(GPU), sensors.clock_hz(GPU), sensors.power_w(GPU)) == ("570.1", 1.2e9, None)
    program.write_text("#!/bin/sh\nexit 9\n")
    assert (sensors.driver(GPU), sensors.clock_hz(GPU)) == (None, None)


def test_a_cpu_has_no_driver_and_no_power():
    found = devices.device("cpu")
    assert (found.is_cpu, found.gpu, found.driver, found.runtime) == (True, None, None, None)
    assert found.name
    assert found.free_bytes > 0
    assert found.cache_bytes > 0
    assert sensors.power_w(found.torch) is None
