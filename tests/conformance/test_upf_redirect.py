# SPDX-License-Identifier: BSD-3-Clause
"""FARs with Redirect Information (TS 29.244 §5.4.7): what the UE and the server get, octet by
octet, by scapy."""

import pytest
from harness.edge import GW_MAC, HOST, N6_MAC, from_gnb, g_pdu
from harness.upf_control import Control, handle_of, ue_ip
from scapy.contrib.gtp import GTP_U_Header
from scapy.layers.inet import IP, TCP, UDP
from scapy.packet import Packet, Raw

URL = "http://portal.example/pay?ue=1"
UE, TEID = str(ue_ip(1)), handle_of(1)
GET = b"GET /a HTTP/1.1\r\nHost: a.example\r\n\r\n"
ANSWER = (
    f"HTTP/1.1 302 Found\r\nLocation: {URL}\r\nContent-Length: 0\r\n"
    "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
).encode()


def redirecting(control: Control, url: str):
    session = control.session(1, peer="10.3.0.2", peer_teid=0x01020304)
    session.fars[0].forwarding.redirect_url = url
    return session


def segment(flags: str, payload: bytes = b"", **options) -> Packet:
    tcp = TCP(sport=40000, dport=80, flags=flags, seq=0xFFFFFFF0, ack=0x1000, **options)
    return from_gnb(g_pdu(TEID, IP(src=UE, dst=HOST) / tcp / payload))


def as_made_by_scapy(packet: Packet) -> bool:
    """Lengths and checksums are those that scapy makes."""
    again = packet.copy()
    for layer, names in ((IP, ("len", "chksum")), (TCP, ("dataofs", "chksum"))):
        for name in names:
            delattr(again[layer], name)
    return bytes(again) == bytes(packet)


def test_a_request_is_answered_with_the_url(edge):
    e = edge()
    control = Control(e.socket, refilled=True)
    assert control.set(redirecting(control, URL)).error == ""
    e.introduce()
    e.n3.send(segment("S", options=[("MSS", 1400), ("Timestamp", (7, 0))]))
    syn = e.n6.receive(lambda f: TCP in f)
    assert (syn[TCP].flags, syn[IP].src) == ("S", UE), "handshakes are the server's"
    e.n3.send(segment("PA", GET, options=[("NOP", None), ("NOP", None), ("Timestamp", (8, 9))]))

    reset = e.n6.receive(lambda f: TCP in f)
    assert (reset.src, reset.dst) == (N6_MAC, GW_MAC)
    assert (reset[IP].src, reset[IP].dst) == (UE, HOST)
    assert (reset[TCP].sport, reset[TCP].dport, reset[TCP].seq) == (40000, 80, 0xFFFFFFF0)
    assert (reset[TCP].flags, bytes(reset[TCP].payload).strip(b"\0")) == ("RA", b"")
    assert as_made_by_scapy(reset[IP])

    told = GTP_U_Header(
        bytes(e.n3.receive(lambda f: UDP in f and f[UDP].dport == 2152)[UDP].payload)
    )
    assert told.teid == 0x01020304
    answer = told[IP]
    assert (answer.src, answer.dst) == (HOST, UE)
    tcp = answer[TCP]
    assert (tcp.sport, tcp.dport, tcp.flags) == (80, 40000, "FPA")
    assert (tcp.seq, tcp.ack) == (0x1000, (0xFFFFFFF0 + len(GET)) & 0xFFFFFFFF)
    assert ("Timestamp", (9, 8)) in tcp.options
    assert bytes(tcp.payload) == ANSWER
    assert as_made_by_scapy(answer)
    # Both ends are charged what passed: the SYN, the request, and the answer.
    usage = control.query(1, 1).reports[0].usage
    assert (usage.ul_packets, usage.dl_packets, usage.dl_bytes) == (2, 1, answer.len)
    control.close()
    assert e.stop() == {}


def test_what_asks_nothing_goes_nowhere(edge):
    e = edge()
    control = Control(e.socket, refilled=True)
    assert control.set(redirecting(control, URL)).error == ""
    e.introduce()
    e.n3.send(segment("PA", b"\x16\x03\x01\0\x05hello"))
    e.n3.send(from_gnb(g_pdu(TEID, IP(src=UE, dst=HOST) / UDP(sport=1, dport=2) / Raw(b"x"))))
    e.n3.quiet()
    e.n6.quiet()
    control.close()
    assert e.stop() == {"upf_redirect_not_http": 2}


@pytest.mark.parametrize("url", ["http://a b", "http://a\r\nX: y", "http://" + 1000 * "a"])
def test_a_url_that_is_none_is_refused(edge, url):
    e = edge()
    control = Control(e.socket)
    result = control.set(redirecting(control, url))
    assert (result.status, result.failed_id) == (control.pb.RULE_FAILED, 1)
    assert "URL" in result.error
    control.close()
