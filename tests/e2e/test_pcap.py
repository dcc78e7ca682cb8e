# SPDX-License-Identifier: BSD-3-Clause
"""A capture of mixed traffic goes into the UE loop and comes out identical."""

import signal

from harness import deployment as d
from harness import telemetry, traffic
from harness.hosts import MAC_A, MAC_B, V4_A, V4_B, V6_A, V6_B
from harness.program import Airpath
from harness.wait import until
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_RR, fragment
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapReader, wrpcap


def ip_packets(file):
    with RawPcapReader(str(file)) as frames:
        return [data[14:] for data, _ in frames]


def capture(net, folder):
    """Two hosts talk directly; tcpdump writes down what they say."""
    a, b = net.add("ca"), net.add("cb")
    net.veth(a, "h0", MAC_A, b, "h0", MAC_B)
    net.address(a, "h0", f"{V4_A}/24", f"{V6_A}/64")
    net.address(b, "h0", f"{V4_B}/24", f"{V6_B}/64")
    file = folder / "capture.pcap"
    only = "tcp or udp or icmp or (icmp6 and (ip6[40] = 128 or ip6[40] = 129))"
    said = folder / "tcpdump.log"
    with said.open("w") as out:
        command = ["tcpdump", "-q", "-U", "--immediate-mode", "-i", "h0", "-w", file, only]
        dump = net.popen(a, command, stderr=out)
    until(lambda: "listening on" in said.read_text(), seen=said.read_text)
    for address, size in ((V4_B, 56), (V4_B, 1472), (V6_B, 56), (V6_B, 1452)):
        traffic.ping(a, address, size=size, count=5)
    traffic.tcp_transfer(b, a, V4_B, 300_000)
    traffic.tcp_transfer(b, a, V6_B, 300_000)
    until(lambda: len(ip_packets(file)) > 200)
    dump.send_signal(signal.SIGINT)
    dump.wait(30)
    return ip_packets(file)


def rarities():
    """What such a capture seldom holds."""
    v4 = {"src": V4_A, "dst": V4_B}
    v6 = {"src": V6_A, "dst": V6_B}
    packets = [
        IP(**v4) / UDP(sport=1, dport=2),
        IP(**v4, options=[IPOption_RR(routers=["0.0.0.0"] * 4)]) / ICMP() / b"route",
        IP(**v4, tos=0xB8) / TCP(sport=5, dport=6, flags="S"),
        IPv6(**v6) / IPv6ExtHdrDestOpt() / UDP(sport=3, dport=4) / b"options",
        IPv6(**v6) / IPv6ExtHdrFragment(id=9, m=1) / UDP(sport=3, dport=4) / bytes(64),
        IPv6(**v6, tc=0x2E << 2, fl=0xABCDE) / ICMPv6EchoRequest(data=b"flow"),
        *fragment(IP(**v4, id=77) / UDP(sport=7, dport=8) / bytes(4000), fragsize=1400),
    ]
    packets += [IP(**v4) / UDP(sport=1, dport=2) / bytes(n) for n in range(1, 1472, 13)]
    return [bytes(p) for p in packets]


def test_mixed_capture_comes_out_identical(net, tmp_path):
    packets = capture(net, tmp_path) + rarities()
    assert len(packets) > 300
    into, out = tmp_path / "in.pcap", tmp_path / "out.pcap"
    kinds = {4: 0x0800, 6: 0x86DD}
    wrpcap(str(into), [Ether(src=MAC_A, dst=MAC_B, type=kinds[p[0] >> 4]) / p for p in packets])
    user = {"name": "user", "preset": "pcap", "framing": "ethernet"}
    file = d.write(
        tmp_path / "pcap.yaml",
        "pcap",
        ports=[{**user, "rx_file": str(into), "tx_file": str(out)}, *d.ring_pair("ue", "phy")],
        ue=[d.ue("ue", "user", "ue", carriers=2)],
        phy=[{"name": "phy", "port": "phy", "numerology": 3, "tb_bytes": [20000, 5000]}],
        lcores=d.lcores("l2", "phy"),
        place=[{"node": "phy.*", "lcore": "phy"}, {"node": "ue.*", "lcore": "l2"}],
    )

    airpath = Airpath(net, net.add("m"), file)
    until(lambda: telemetry.ask("pcap", "/airpath/node", "ue.user_tx")["in"] >= len(packets))
    airpath.stop()

    got = ip_packets(out)
    assert len(got) == len(packets)
    assert got == packets
