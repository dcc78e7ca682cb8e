# SPDX-License-Identifier: BSD-3-Clause
"""The UPF's ports: what it answers by itself, and how it carries packets, over real interfaces.
Frames are made and read by scapy; tshark finds nothing to object to in what the UPF sent."""

import contextlib
import socket

from harness import telemetry
from harness.edge import (
    GNB_6,
    GNB_MAC,
    GW,
    GW_6,
    GW_MAC,
    HOST,
    N3,
    N3_6,
    N3_MAC,
    N6,
    N6_6,
    N6_MAC,
    N9,
    Wire,
    arp,
    from_gnb,
    g_pdu,
    solicitation,
    sums_hold,
)
from harness.edge_agent import GNB, TEID_DOWN, UE, UE_6
from harness.wait import until
from scapy.contrib.gtp import GTP_U_Header
from scapy.layers.inet import ICMP, IP, UDP, fragment
from scapy.layers.inet6 import (
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6PacketTooBig,
    IPv6,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw


def test_arp_nd_and_echo_to_own_addresses(edge):
    e = edge()
    e.n3.send(arp(GNB_MAC, GNB, N3))
    reply = e.n3.receive(lambda f: ARP in f)
    assert (reply.dst, reply[ARP].op, reply[ARP].hwsrc, reply[ARP].psrc) == (GNB_MAC, 2, N3_MAC, N3)
    e.n3.send(arp(GNB_MAC, GNB, "10.3.0.77"))
    e.n3.quiet()
    e.n3.send(solicitation(GNB_MAC, GNB_6, N3_6))
    na = e.n3.receive(lambda f: ICMPv6ND_NA in f)
    assert (na[IPv6].dst, na[ICMPv6ND_NA].S, na[ICMPv6ND_NA].O) == (GNB_6, 1, 1)
    assert na[ICMPv6NDOptDstLLAddr].lladdr == N3_MAC
    dad = solicitation(GNB_MAC, "::", N3_6)
    dad[ICMPv6ND_NS].remove_payload()
    e.n3.send(dad)
    na = e.n3.receive(lambda f: ICMPv6ND_NA in f)
    assert (na.dst, na[IPv6].dst, na[ICMPv6ND_NA].S) == ("33:33:00:00:00:01", "ff02::1", 0)
    for size in (0, 56, 1400):
        e.n3.send(Ether(src=GNB_MAC, dst=N3_MAC) / IP(src=GNB, dst=N3) / ICMP(id=5) / bytes(size))
        reply = e.n3.receive(lambda f: ICMP in f)
        assert (reply[ICMP].type, reply[ICMP].id) == (0, 5)
        assert sums_hold(reply)
        e.n3.send(
            Ether(src=GNB_MAC, dst=N3_MAC)
            / IPv6(src=GNB_6, dst=N3_6)
            / ICMPv6EchoRequest(id=6, data=bytes(size))
        )
        reply = e.n3.receive(lambda f: ICMPv6EchoReply in f)
        assert len(reply[ICMPv6EchoReply].data) == size
        assert sums_hold(reply)
    drops = e.stop()
    assert drops == {"upf_local_not_ours": 1}


def test_neighbours_ask_for_ues(edge):
    """A network that has the UEs' addresses on its link reaches them: RFC 1027, RFC 4861 §7.2.8."""
    e = edge(proxy_neigh=True)
    e.introduce()
    e.n6.send(arp(GW_MAC, GW, UE))
    e.n6.quiet()
    e.agent().session()
    e.n6.send(arp(GW_MAC, GW, UE))
    reply = e.n6.receive(lambda f: ARP in f)
    assert (reply.dst, reply[ARP].op, reply[ARP].hwsrc) == (GW_MAC, 2, N6_MAC)
    assert (reply[ARP].psrc, reply[ARP].pdst) == (UE, GW)
    e.n6.send(solicitation(GW_MAC, GW_6, f"{UE_6}5"))
    na = e.n6.receive(lambda f: ICMPv6ND_NA in f)
    assert (na[ICMPv6ND_NA].tgt, na[ICMPv6ND_NA].S, na[ICMPv6ND_NA].O) == (f"{UE_6}5", 1, 0)
    assert na[ICMPv6NDOptDstLLAddr].lladdr == N6_MAC
    e.n6.send(Ether(src=GW_MAC, dst=reply[ARP].hwsrc) / IP(src=GW, dst=UE) / UDP(dport=7))
    got = e.n3.receive(lambda f: UDP in f)
    assert got[GTP_U_Header].teid == TEID_DOWN
    e.n3.send(arp(GNB_MAC, GNB, UE))  # N3 answers for itself alone
    e.n3.quiet()
    assert e.stop() == {"upf_local_not_ours": 2}


def whole(wire: Wire, count: int) -> bytes:
    """Payload of an IPv4 packet that comes in fragments."""
    parts = [wire.receive(lambda f: IP in f)[IP] for _ in range(count)]
    assert [p.flags.MF for p in parts] == [True] * (count - 1) + [False]
    out = b""
    for part in parts:
        assert part.frag * 8 == len(out)
        assert part.len <= 1500
        out += bytes(part.payload)[: part.len - 20]
    return out


def test_fragmented_echo(edge):
    e = edge(tap=True, reassembly_ms=300)
    e.introduce()
    ping = IP(src=GNB, dst=N3, id=77) / ICMP(id=9) / Raw(bytes(i & 0xFF for i in range(4000)))
    parts = fragment(ping, 1400)
    assert len(parts) == 3
    for part in (parts[2], parts[0], parts[1]):
        e.n3.send(Ether(src=GNB_MAC, dst=N3_MAC) / part)
    reply = ICMP(whole(e.n3, 3))
    assert (reply.type, reply.id) == (0, 9)
    assert bytes(reply.payload) == bytes(ping[ICMP].payload)
    # one that stays incomplete
    e.n3.send(Ether(src=GNB_MAC, dst=N3_MAC) / fragment(ping, 1400)[0])
    until(lambda: telemetry.drops(e.name)["upf_local_fragment_timeout"])
    assert e.stop() == {"upf_local_fragment_timeout": 1}


def test_gtpu_echo(edge):
    e = edge()
    e.introduce()
    for v6 in (False, True):
        request = GTP_U_Header(gtp_type=1, S=1, seq=0xABCD, teid=0)
        e.n3.send(from_gnb(request, port=40001, v6=v6))
        reply = e.n3.receive(lambda f: UDP in f)
        assert reply[IPv6 if v6 else IP].dst == (GNB_6 if v6 else GNB)
        assert (reply[UDP].sport, reply[UDP].dport) == (2152, 40001)
        assert bytes(reply[UDP].payload) == bytes.fromhex("32 02 0006 00000000 ABCD 0000 0E00")
        assert sums_hold(reply)
    assert e.stop() == {}


def test_supported_extension_headers_notification(edge):
    e = edge()
    e.introduce()
    # PDCP PDU number: an endpoint must understand it (TS 29.281 figure 5.2.1-2)
    e.n3.send(from_gnb(Raw(bytes.fromhex("34 FF 0008 00000007 0000 00 C0 01 0000 00")), port=40001))
    reply = e.n3.receive(lambda f: UDP in f)
    assert reply[UDP].dport == 2152
    assert bytes(reply[UDP].payload) == bytes.fromhex("32 1F 0008 00000000 0000 0000 8D 02 8540")
    assert e.stop() == {"upf_local_extension_header": 1}


def test_error_indication_once_all_sessions_are_back(edge):
    e = edge()
    e.introduce()
    stray = from_gnb(g_pdu(0x12345678, IP(src=UE, dst=HOST) / UDP()), port=40001)
    e.n3.send(stray)
    e.n3.quiet()
    agent = e.agent(refilled=False)
    e.n3.send(stray)
    e.n3.quiet()
    agent.config(refilled=True)
    e.n3.send(stray)
    reply = e.n3.receive(lambda f: UDP in f)
    assert (reply[IP].src, reply[IP].dst, reply[UDP].dport) == (N3, GNB, 2152)
    # UDP Port 40001, TEID Data I, GTP-U Peer Address
    golden = "36 1A 0014 00000000 0000 00 40 01 9C41 00 10 12345678 85 0004 0A030001"
    assert bytes(reply[UDP].payload) == bytes.fromhex(golden)
    assert e.stop() == {"upf_local_unknown_teid_filling": 2, "upf_local_unknown_teid": 1}


def test_an_interface_by_vlan(edge):
    e = edge()
    e.n3.send(arp(GNB_MAC, "10.9.0.2", N9, vlan=9))
    reply = e.n3.receive(lambda f: ARP in f)
    assert (reply[Dot1Q].vlan, reply[ARP].psrc) == (9, N9)
    tagged = Ether(src=GNB_MAC, dst=N3_MAC) / Dot1Q(vlan=9)
    e.n3.send(tagged / IP(src="10.9.0.2", dst=N9) / ICMP() / (b"x" * 40))
    reply = e.n3.receive(lambda f: ICMP in f)
    assert (reply[Dot1Q].vlan, reply[ICMP].type, reply.dst) == (9, 0, GNB_MAC)
    # Interfaces are apart: N9's address is not asked for without a tag; VLAN 10 is nobody's.
    e.n3.send(arp(GNB_MAC, GNB, N9))
    e.n3.send(arp(GNB_MAC, "10.9.0.2", N9, vlan=10))
    e.n3.quiet()
    assert e.stop() == {"upf_local_not_ours": 1, "upf_in_vlan": 1}


def test_packets_wait_while_the_gateway_is_asked_for(edge):
    e = edge()
    teid = e.agent().session()
    for n in range(3):
        e.n3.send(from_gnb(g_pdu(teid, IP(src=UE, dst=HOST, ttl=9) / UDP(sport=n + 1))))
    asked = e.n6.receive(lambda f: ARP in f)
    assert (asked.dst, asked[ARP].psrc, asked[ARP].pdst) == ("ff:ff:ff:ff:ff:ff", N6, GW)
    e.n6.quiet(lambda f: IP in f)
    e.n6.send(
        Ether(src=GW_MAC, dst=N6_MAC)
        / ARP(op="is-at", hwsrc=GW_MAC, psrc=GW, hwdst=N6_MAC, pdst=N6)
    )
    for n in range(3):
        got = e.n6.receive(lambda f: UDP in f)
        assert (got.dst, got[IP].src, got[IP].ttl, got[UDP].sport) == (GW_MAC, UE, 8, n + 1)
        assert sums_hold(got)
    ip6 = IPv6(src=f"{UE_6}5", dst="2001:db8::9") / UDP(sport=7)
    e.n3.send(from_gnb(g_pdu(teid, ip6)))
    asked = e.n6.receive(lambda f: ICMPv6ND_NS in f)
    assert (asked.dst, asked[IPv6].src) == ("33:33:ff:00:00:02", N6_6)
    assert asked[IPv6].dst == "ff02::1:ff00:2"
    e.n6.send(
        Ether(src=GW_MAC, dst=N6_MAC)
        / IPv6(src=GW_6, dst=N6_6, hlim=255)
        / ICMPv6ND_NA(tgt=GW_6, R=1, S=1, O=1)
        / ICMPv6NDOptDstLLAddr(lladdr=GW_MAC)
    )
    got = e.n6.receive(lambda f: IPv6 in f and UDP in f)
    assert (got.dst, got[IPv6].hlim) == (GW_MAC, 63)
    assert e.stop() == {}


def test_fragmented_tunnels_both_ways(edge):
    e = edge(tap=True, oversize="fragment")
    teid = e.agent().session()
    e.introduce()
    inner = IP(src=UE, dst=HOST, flags="DF") / UDP(sport=1, dport=2) / Raw(bytes(1472))
    outer = from_gnb(g_pdu(teid, inner))[IP]
    outer.id = 5
    parts = fragment(outer, 1000)
    for part in reversed(parts):
        e.n3.send(Ether(src=GNB_MAC, dst=N3_MAC) / part)
    got = e.n6.receive(lambda f: UDP in f)
    assert (got[IP].len, got[IP].src, got[IP].ttl) == (1500, UE, 63)
    assert sums_hold(got)
    # Down: too long for N3, so the outer packet goes in two.
    down = IP(src=HOST, dst=UE, flags="DF", ttl=40) / UDP(sport=2, dport=1) / Raw(bytes(1472))
    e.n6.send(Ether(src=GW_MAC, dst=N6_MAC) / down)
    datagram = UDP(whole(e.n3, 2))
    assert datagram.dport == 2152
    pdu = GTP_U_Header(bytes(datagram.payload))
    assert pdu.teid == TEID_DOWN
    assert (pdu[IP].dst, pdu[IP].len, pdu[IP].ttl) == (UE, 1500, 39)
    assert e.stop() == {}


def test_senders_of_long_packets_are_told(edge):
    e = edge(oversize="too_big")
    teid = e.agent().session()
    e.introduce()
    down = IP(src=HOST, dst=UE, flags="DF") / UDP(sport=2, dport=1) / Raw(bytes(1472))
    e.n6.send(Ether(src=GW_MAC, dst=N6_MAC) / down)
    told = e.n6.receive(lambda f: ICMP in f)
    assert (told[IP].src, told[IP].dst, told.dst) == (N6, HOST, GW_MAC)
    assert (told[ICMP].type, told[ICMP].code, told[ICMP].nexthopmtu) == (3, 4, 1500 - 36)
    assert sums_hold(told)
    down6 = IPv6(src="2001:db8::9", dst=f"{UE_6}5") / UDP(sport=2, dport=1) / Raw(bytes(1450))
    e.n6.send(Ether(src=GW_MAC, dst=N6_MAC) / down6)
    told = e.n6.receive(lambda f: ICMPv6PacketTooBig in f)
    assert told[ICMPv6PacketTooBig].mtu == 1500 - 36
    assert told[IPv6].dst == "2001:db8::9"
    # What may be fragmented is.
    down[IP].flags = 0
    e.n6.send(Ether(src=GW_MAC, dst=N6_MAC) / down)
    assert GTP_U_Header(bytes(UDP(whole(e.n3, 2)).payload))[IP].dst == UE
    # A UE with a TTL of 1 hears by its own session.
    e.n3.send(from_gnb(g_pdu(teid, IP(src=UE, dst=HOST, ttl=1) / UDP(sport=1, dport=33434))))
    told = e.n3.receive(lambda f: UDP in f)
    pdu = GTP_U_Header(bytes(told[UDP].payload))
    assert (pdu.teid, pdu[IP].src, pdu[IP].dst, pdu[ICMP].type) == (TEID_DOWN, N6, UE, 11)
    # And a host.
    e.n6.send(Ether(src=GW_MAC, dst=N6_MAC) / IP(src=HOST, dst=UE, ttl=1) / UDP(dport=33434))
    told = e.n6.receive(lambda f: ICMP in f)
    assert (told[IP].src, told[IP].dst, told[ICMP].type) == (N6, HOST, 11)
    drops = e.stop()
    assert drops == {"upf_out_too_big": 2, "upf_out_expired": 1, "upf_local_expired": 1}


def test_a_path_is_watched(edge):
    e = edge()
    agent = e.agent(echo_s=1)
    e.introduce()
    e.n3.quiet(lambda f: UDP in f)
    agent.session()
    asked = e.n3.receive(lambda f: UDP in f)
    assert (asked[IP].dst, asked[UDP].dport) == (GNB, 2152)
    octets = bytes(asked[UDP].payload)
    assert octets[:4] == bytes.fromhex("32 01 0004")
    # Silence: down after two requests 300 ms apart; an answer brings it back.
    down = agent.event(6)
    assert (down[1], down.get(3, 0)) == (socket.inet_aton(GNB), 0)
    octets = bytes(e.n3.receive(lambda f: UDP in f, timeout=4)[UDP].payload)
    while True:
        with contextlib.suppress(TimeoutError):
            octets = bytes(e.n3.receive(lambda f: UDP in f, timeout=0.4)[UDP].payload)
            continue
        break
    e.n3.send(from_gnb(Raw(b"\x32\x02\x00\x06" + bytes(4) + octets[8:10] + b"\0\0\x0e\0")))
    up = agent.event(6)
    assert (up[1], up[3]) == (socket.inet_aton(GNB), 1)
    assert e.stop() == {}


def test_a_received_error_indication_is_told(edge):
    e = edge()
    agent = e.agent()
    agent.session()
    e.introduce()
    octets = bytes.fromhex("32 1A 0010 00000000 0000 0000 10") + TEID_DOWN.to_bytes(4, "big")
    octets += b"\x85\x00\x04" + socket.inet_aton(GNB)
    e.n3.send(from_gnb(Raw(octets)))
    event = agent.event(4)
    assert (event[1], event[2]) == (7, TEID_DOWN)
    assert event[3] == socket.inet_aton(GNB)
    assert e.stop() == {}


def test_broken_frames_are_named(edge):
    e = edge()
    e.introduce()
    good = from_gnb(g_pdu(1, IP(src=UE, dst=HOST) / UDP()))
    ether = Ether(src=GNB_MAC, dst=N3_MAC)
    e.n3.send(ether / IP(src=GNB, dst=N3, chksum=1) / ICMP() / bytes(30))
    e.n3.send(ether / IP(src=GNB, dst=N3, len=1000) / ICMP() / bytes(30))
    e.n3.send(ether / IP(src="127.0.0.1", dst=N3) / ICMP() / bytes(30))
    e.n3.send(ether / IP(src=N3, dst=N3) / ICMP() / bytes(30))
    e.n3.send(ether / IP(src=GNB, dst=HOST) / ICMP() / bytes(30))
    e.n3.send(Ether(src=GNB_MAC, dst="02:00:00:00:00:77") / good[IP])
    e.n3.send(Ether(src=GNB_MAC, dst=N3_MAC, type=0x88CC) / bytes(50))
    e.n3.send(from_gnb(g_pdu(1, Raw(b"\x50" + bytes(40)))))
    e.n3.send(from_gnb(Raw(b"\x30\xff\x01\x00" + bytes(40))))
    e.n3.send(arp(GNB_MAC, GNB, N3))  # in order: all before were looked at
    e.n3.receive(lambda f: ARP in f)
    drops = e.stop()
    assert drops == {
        "upf_in_checksum": 1,
        "upf_in_truncated": 1,
        "upf_in_source": 2,
        "upf_in_not_ours": 1,
        "upf_in_link_address": 1,
        "upf_in_ethertype": 1,
        "upf_in_inner": 1,
        "upf_in_gtpu": 1,
    }
