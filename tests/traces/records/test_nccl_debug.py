"""What NCCL tells with NCCL_DEBUG=INFO."""

from synperf.traces.records.nccl_debug import Choice, Communicator, read
from tests.traces.records.samples import LOG


def written(tmp_path, text):
    (tmp_path / "a").write_text(text)
    return read(tmp_path / "a")


def test_topology_channels_and_choices_are_told(tmp_path):
    found = written(tmp_path, LOG)
    assert (found.library, found.version) == ("NCCL", "2.21.5+cuda12.4")
    assert (found.networks, found.channels) == (("IB",), 2)
    assert found.rings == {0: (0, 1), 1: (0, 1)}
    assert found.links == {"P2P/CUMEM/read": 2, "NET/IB/GDRDMA": 1}
    assert found.choices == (
        Choice(collective="", bytes=1048576, algorithm="ring", protocol="simple", expected_s=34.5 * 1e-6, count=2),
        Choice(collective="AllReduce", bytes=8, algorithm="tree", protocol="ll", expected_s=None, count=1),
    )


def test_a_rank_that_does_not_complete_is_told(tmp_path):
    found = written(tmp_path, LOG)
    assert found.communicators == (Communicator(ranks=2, begun=2, complete=1),)
    assert (found.cautions[0].count, found.cautions[0].share) == (1, 0.5)
    assert "did not complete" in found.cautions[0].text


def test_no_host_address_or_interface_is_kept(tmp_path):
    found = written(tmp_path, LOG)
    assert found.settings == {"NCCL_ALGO": "Ring"}
    assert found.warnings == {"socketStartConnect: Connect to ... failed : Software caused": 1}


def test_without_tuning_the_log_says_what_to_set(tmp_path):
    found = written(
        tmp_path, "\n".join(line for line in LOG.splitlines() if "Bytes ->" not in line and "WARN" not in line)
    )
    assert found.choices == ()
    assert "NCCL_DEBUG_SUBSYS" in found.cautions[-1].text


def test_a_line_that_looks_like_one_that_is_read_and_is_none_is_counted(tmp_path):
    found = written(tmp_path, LOG.replace("1048576 Bytes -> Algo", "1048576 Bytes -> Al", 1))
    assert [one.count for one in found.cautions if one.text == "lines cannot be read"] == [1]
