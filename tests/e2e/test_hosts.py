# SPDX-License-Identifier: BSD-3-Clause
"""Two kernel hosts joined only through the UE stacks: the traffic people know."""

import pytest
from harness import deployment as d
from harness import program, traffic
from harness.hosts import V4_A, V4_B, V6_A, V6_B, make_hosts

MTU = 1500
V4_HEADERS, V6_HEADERS = 20 + 8, 40 + 8  # IP and ICMP echo


@pytest.mark.parametrize("preset", ["af_packet", "af_xdp"])
def test_ping_and_tcp_without_loss(net, tmp_path, preset):
    hosts = make_hosts(net, tmp_path, preset=preset)

    for size in (56, MTU - V4_HEADERS):
        sent, answered = traffic.ping(hosts.a, V4_B, size=size)
        assert answered == sent, f"IPv4, {size} B"
    for size in (56, MTU - V6_HEADERS):
        sent, answered = traffic.ping(hosts.b, V6_A, size=size)
        assert answered == sent, f"IPv6, {size} B"
    for server, client, address in ((hosts.b, hosts.a, V4_B), (hosts.a, hosts.b, V6_A)):
        sent, received = traffic.tcp_transfer(server, client, address, 4 << 20)
        assert received == sent

    report = hosts.airpath.stop()
    fine = ("queue_full", *program.NO_CPU)
    lost = {k: n for k, n in program.drops(report).items() if not k.endswith(fine)}
    assert lost == {}, "only a full queue may cost TCP a packet here"


def test_tcp_completes_over_one_percent_tb_loss(net, tmp_path):
    hosts = make_hosts(net, tmp_path, tb_loss=0.01, seed=7)

    traffic.ping(hosts.a, V4_B, size=56)  # some may be lost
    for server, client, address in ((hosts.b, hosts.a, V4_B), (hosts.a, hosts.b, V6_A)):
        sent, received = traffic.tcp_transfer(server, client, address, 2 << 20, timeout=120)
        assert received == sent

    report = hosts.airpath.stop()
    lost = program.drops(report)
    assert sum(n for k, n in lost.items() if k.startswith("phy.")) > 0, lost


def test_both_directions_at_once(net, tmp_path):
    hosts = make_hosts(net, tmp_path)
    sent, answered = traffic.ping(hosts.b, V4_A, size=1000, count=100)
    assert answered == sent
    sent, answered = traffic.ping(hosts.a, V6_B, size=1000, count=100)
    assert answered == sent
    lost = program.drops(hosts.airpath.stop())
    assert [k for k in lost if not k.endswith(program.NO_CPU)] == []


@pytest.mark.parametrize("sn_bits", [12, 18])
def test_tcp_sees_no_loss_over_acknowledged_mode(net, tmp_path, sn_bits):
    # Long enough for a repaired loss on a machine that others use, too.
    pdcp = {"t_reordering_ms": 3000}
    bearers = [d.bearer(pdcp=pdcp, rlc={"mode": "am", "sn_bits": sn_bits, "queue_sdus": 8192})]
    hosts = make_hosts(net, tmp_path, bearers=bearers, tb_loss=0.05, seed=11)

    sent, answered = traffic.ping(hosts.a, V4_B, size=MTU - V4_HEADERS, count=100)
    assert answered == sent
    for server, client, address in ((hosts.b, hosts.a, V4_B), (hosts.a, hosts.b, V6_A)):
        sent, received = traffic.tcp_transfer(server, client, address, 4 << 20, timeout=120)
        assert received == sent

    report = hosts.airpath.stop()
    through = {n["node"]: n["out"] for n in report["nodes"]}
    for one, other in (("a", "b"), ("b", "a")):
        assert through[f"{one}.sdap_tx"] == through[f"{other}.sdap_rx"]
    lost = program.drops(report)
    again = {k for k in lost if k.endswith(("rlc_rx_sn_old", "rlc_rx_duplicate"))}
    assert {k for k in lost if not k.startswith("phy.")} <= again, "only what came twice"
    assert sum(n for k, n in lost.items() if k.startswith("phy.")) > 0, "no loss, no proof"
