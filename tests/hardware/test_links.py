"""Links: every file, and which one a GPU has."""

from dataclasses import replace

import pytest

from synperf import hardware
from synperf.errors import FieldError, UnknownNameError, UnsupportedError
from synperf.hardware import links

FILE = 'name = "x"\nkind = "pcie"\nbytes_per_s = 1e9\nefficiency = 0.5\n[sources]\nbytes_per_s = "toy"\n'


@pytest.mark.parametrize("one", links.links(), ids=lambda one: one.key)
def test_every_figure_of_a_link_has_a_source(one):
    figures = {"bytes_per_s", "efficiency"} | ({"nics_per_node"} if one.kind == links.NETWORK else {"max_ranks"})
    assert figures <= set(one.sources)


@pytest.mark.parametrize("gpu", hardware.gpus(), ids=lambda gpu: gpu.key)
def test_every_gpu_of_the_catalog_has_a_link(gpu):
    one = links.default_link(gpu)
    assert one.kind != links.NETWORK
    assert 0 < one.rate_of(gpu) <= one.bytes_per_s


def test_no_gpu_is_named_by_two_links():
    named = [key for one in links.links() for key in one.gpus]
    assert len(set(named)) == len(named)
    assert set(named) <= set(hardware.keys())


def test_a_gpu_that_no_link_names_has_the_slowest_that_is_no_slower_than_its_rate():
    h800 = replace(hardware.gpu("h800"), key="my_gpu")
    assert links.default_link(h800).key == "nvlink3"
    assert links.default_link(replace(h800, nvlink_bytes_per_s=0.0)).key == "pcie5"


def test_a_gpu_without_any_rate_gets_one_sentence():
    bare = replace(hardware.gpu("h800"), key="bare", nvlink_bytes_per_s=0.0, pcie_bytes_per_s=0.0)
    with pytest.raises(UnsupportedError, match="bare has neither nvlink_bytes_per_s nor pcie_bytes_per_s; right would"):
        links.default_link(bare)


def test_a_link_is_no_faster_than_the_gpu():
    assert links.link("nvlink4").rate_of(hardware.gpu("h800")) == 200e9
    assert links.link("nvlink4").rate_of(hardware.gpu("h100_sxm")) == 450e9


def test_names_and_aliases():
    assert links.link("IB-NDR") is links.link("infiniband_ndr")
    assert links.network("ndr").kind == links.NETWORK
    with pytest.raises(UnknownNameError, match="no link named 'nvlink9'; nearest: nvlink"):
        links.link("nvlink9")
    with pytest.raises(UnknownNameError, match="no network named 'pcie4'"):
        links.network("pcie4")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("1e9", "-1"), "toy.toml: bytes_per_s: -1 is not a number within"),
        (("efficiency = 0.5", "efficiency = 5"), "toy.toml: efficiency: 5 is not a number within 0.001 to 1"),
        (('"pcie"', '"usb"'), "toy.toml: kind: no kind named 'usb'"),
        (("efficiency", "efficency"), "toy.toml: no field named 'efficency'; nearest: efficiency"),
        (("efficiency = 0.5\n", ""), "toy.toml: missing efficiency"),
    ],
)
def test_a_file_that_is_wrong_gets_one_sentence(change, sentence):
    with pytest.raises(FieldError, match=sentence):
        links.parse_link(FILE.replace(*change), "toy", "toy.toml")
