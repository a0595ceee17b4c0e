"""What NCCL tells with NCCL_DEBUG=INFO."""

from synperf.traces.records.nccl_debug import Choice, Communicator, read

LOG = """host1:41:41 [0] NCCL INFO cudaDriverVersion 12040
NCCL version 2.21.5+cuda12.4
host1:41:99 [0] NCCL INFO NCCL_ALGO set by environment to Ring.
host1:41:99 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to secret0
host1:41:99 [0] NCCL INFO Using network IB
host1:41:99 [0] NCCL INFO ncclCommInitRank comm 0x5581 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId f000 commId 0x1 - Init START
host1:42:98 [1] NCCL INFO ncclCommInitRank comm 0x5582 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 2d000 commId 0x1 - Init START
host1:41:99 [0] NCCL INFO Channel 00/02 :    0   1
host1:41:99 [0] NCCL INFO Channel 01/02 :    0   1
host1:41:99 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read
host1:42:98 [1] NCCL INFO Channel 01/0 : 1[1] -> 0[0] via P2P/CUMEM/read
host1:41:99 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/3/GDRDMA
host1:41:99 [0] NCCL INFO 2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels
host1:41:99 [0] NCCL INFO ncclCommInitRank comm 0x5581 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId f000 commId 0x1 - Init COMPLETE
host1:41:99 [0] NCCL INFO 1048576 Bytes -> Algo 1 proto 2 time 34.5
host1:41:99 [0] NCCL INFO 1048576 Bytes -> Algo 1 proto 2 time 34.5
host1:41:99 [0] NCCL INFO AllReduce: 8 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..1}
host1:42:98 [1] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to 10.1.2.3<4321> failed : Software caused
"""


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
    found = written(tmp_path, "\n".join(line for line in LOG.splitlines() if "Bytes ->" not in line and "WARN" not in line))
    assert found.choices == ()
    assert "NCCL_DEBUG_SUBSYS" in found.cautions[-1].text
