# SPDX-License-Identifier: BSD-3-Clause
"""Detection of applications, TS 29.244 §5.11, with the kernel's TCP and curl on either side: names
in HTTP, TLS, DNS and QUIC lead flows to rules of their own, each counted apart."""

import ipaddress
import json
import re
import socket
import struct
import subprocess
import sys
import time

import pytest
from harness import netns
from harness import pfcp_ies as ies
from harness import upf_control as control
from harness.gnb import Ue
from harness.program import ROOT
from harness.upf import DN, GNB, N3, Upf
from harness.upf_control import Control

NEWS, SHOP, SPAM = 11, 12, 13  # applications, and their URRs
OTHER = 1
BODY = 200_000  # octets of what servers answer
_ASKED = "%{http_code} %{size_download} %{redirect_url}"
_SERVER = """
import http.server, ssl, sys
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", sys.argv[2])
        self.end_headers()
        self.wfile.write(b"x" * int(sys.argv[2]))
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Answer)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False)
print("ready", flush=True)
server.serve_forever()
"""


class Unit(Upf):
    """A forwarding unit whose agent is the test."""

    def start_agent(self) -> None:
        self.control = Control(self.socket, refilled=True)
        self.started: dict = {}  # what START told was detected, by session and URR

    def stop(self) -> dict:
        self.control.close()
        assert self.airpath is not None
        report = self.airpath.stop()
        self.judge()
        self.close()
        return report


def serve(unit: Upf, folder) -> None:
    """HTTP at port 80 and HTTPS at port 443 of the internet's host."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    request = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    names = ["-nodes", "-subj", "/CN=test", "-days", "2", "-keyout", str(key), "-out", str(cert)]
    subprocess.run([*request, *names], check=True, capture_output=True)
    for more in (["80", str(BODY)], ["443", str(BODY), str(cert), str(key)]):
        child = unit.net.popen(
            unit.dn, [sys.executable, "-c", _SERVER, *more], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout.readline() == "ready\n"


def curl(unit: Upf, ue: Ue, url: str, seconds: int = 30) -> tuple[int, int]:
    """@return HTTP status and octets of the body; 0, 0: nothing came"""
    status, octets, _ = curl_full(unit, ue, url, seconds)
    return status, octets


def curl_full(unit: Upf, ue: Ue, url: str, seconds: int = 30) -> tuple[int, int, str]:
    """The same, and where it is redirected to."""
    host = re.match(r"https?://([^/]+)", url)[1]
    names = [f"{host}:{port}:{DN}" for port in (80, 443)]
    command = ["curl", "-sk", "-o", "/dev/null", "-w", _ASKED, "-m", str(seconds)]
    for name in names:
        command += ["--resolve", name]
    done = unit.net.run(ue.ns, [*command, url], check=False)
    status, octets, *to = done.stdout.split()
    return int(status), int(octets), "".join(to)


@pytest.fixture(scope="module")
def unit(tmp_path_factory):
    if not netns.available():
        pytest.skip("no right to make network namespaces here; run as root")
    made = Unit(tmp_path_factory.mktemp("upf"))
    serve(made, made.folder)
    yield made
    if not made.closed:
        made.stop()


@pytest.fixture(scope="module")
def gnb(unit):
    return unit.gnb()


def rules(unit: Unit, number: int, *, version: int = 1):
    """A session whose applications each have PDRs and a URR; SPAM's packets are dropped."""
    c, pb = unit.control, unit.control.pb
    s = c.session(number, version=version, peer="10.3.0.2", peer_teid=number)
    s.urrs[0].duration = False
    s.fars.add(id=3, drop=True)
    for app in (NEWS, SHOP, SPAM):
        s.urrs.add(id=app, volume=True, triggers=pb.START | pb.STOPT)
        for base, far in ((s.pdrs[0], 1), (s.pdrs[1], 2)):
            pdr = s.pdrs.add()
            pdr.CopyFrom(base)
            pdr.id = app * 10 + far
            pdr.precedence = app
            pdr.application = app
            pdr.far_id = 3 if app == SPAM else far
            del pdr.urr_ids[:]
            pdr.urr_ids.append(app)
    return s


def ue_of(unit: Unit, gnb, number: int) -> Ue:
    """It lives as long as the gNB, and says nothing but what a test has it say."""
    ue = Ue(
        unit.net,
        gnb,
        f"ue{number}",
        str(control.ue_ip(number)),
        downlink=number,
        uplink=(control.handle_of(number), N3),
        qfi=9,
    )
    unit.net.mute(ue.ns, "ue0")
    return ue


def usage(unit: Unit, number: int, enough) -> dict[int, int]:
    """Octets of each URR since last asked, as soon as they are `enough`: the UE's packets are under
    way through a thread of the test."""
    used: dict[int, int] = {}
    until = time.monotonic() + 20
    while True:
        reports = list(unit.control.query(number).reports)
        while unit.control.events:
            event = unit.control.events.pop(0)
            unit.control.ack(event.number)
            reports += event.usage.reports if event.usage.id == number else []
        for report in reports:
            used[report.urr_id] = used.get(report.urr_id, 0) + report.usage.total_bytes
            if report.triggers & unit.control.pb.START:
                unit.started[number, report.urr_id] = report.detected
        if enough(used) or time.monotonic() > until:
            return used
        time.sleep(0.1)


def applications(unit: Unit, generation: int, **more):
    """`more`: hosts of an application in place of the usual one."""
    hosts = {"news": "news.example", "shop": "shop.example", "spam": "spam.example"} | more
    c = unit.control
    done = c.applications(
        generation,
        *(
            c.application(index, name, ("HOST", hosts[name]))
            for index, name in ((NEWS, "news"), (SHOP, "shop"), (SPAM, "spam"))
        ),
    )
    assert (done.generation, done.error, done.rules) == (generation, "", 3)


def test_names_lead_to_rules_and_counters(unit, gnb):
    applications(unit, 1)
    assert unit.control.set(rules(unit, 2)).status == 0
    ue = ue_of(unit, gnb, 2)
    assert curl(unit, ue, "http://news.example/") == (200, BODY)
    assert curl(unit, ue, "https://shop.example/") == (200, BODY)
    assert curl(unit, ue, "http://other.example/") == (200, BODY)
    assert curl(unit, ue, "http://spam.example/", 3) == (0, 0)
    assert curl(unit, ue, "https://spam.example/", 3) == (0, 0)
    used = usage(unit, 2, lambda u: min(u[NEWS], u[SHOP], u[OTHER]) > BODY)
    for urr in (NEWS, SHOP, OTHER):
        assert used[urr] > BODY, urr
    flows = unit.tell("/airpath/upf/flows")
    assert (flows["http"], flows["tls"]) == (3, 2)
    # What was counted is what the UE sent and got, but for what SPAM's FAR dropped.
    dropped = unit.drops()["upf_forward_far"]
    assert dropped > 0
    assert used[SPAM] == 0
    assert used[NEWS] + used[SHOP] + used[OTHER] <= ue.ul_bytes + ue.dl_bytes
    detected = {urr: what for (number, urr), what in unit.started.items() if number == 2}
    assert sorted(detected) == [NEWS, SHOP]
    assert {urr: d.application for urr, d in detected.items()} == {NEWS: NEWS, SHOP: SHOP}
    flow = detected[SHOP].flow
    assert flow.protocol == 6
    assert flow.source.address == ipaddress.ip_address(DN).packed
    assert flow.source_ports[0].first == flow.source_ports[0].last == 443
    assert flow.destination.address == control.ue_ip(2).packed
    told = unit.tell("/airpath/upf/applications")
    assert told["generation"] == 1
    assert told["flows"] == [f"{NEWS} news 1", f"{SHOP} shop 1", f"{SPAM} spam 2"]


def test_octets_of_all_urrs_are_the_ues(unit, gnb):
    applications(unit, 2)
    assert unit.control.set(rules(unit, 3)).status == 0
    ue = ue_of(unit, gnb, 3)
    for url in ("http://news.example/", "https://shop.example/", "https://other.example/"):
        assert curl(unit, ue, url) == (200, BODY)
    used = usage(unit, 3, lambda u: sum(u.values()) == ue.ul_bytes + ue.dl_bytes)
    assert sum(used.values()) == ue.ul_bytes + ue.dl_bytes
    assert min(used[NEWS], used[SHOP], used[OTHER]) > BODY


def test_new_rules_are_for_new_flows(unit, gnb):
    applications(unit, 3)
    assert unit.control.set(rules(unit, 4)).status == 0
    ue = ue_of(unit, gnb, 4)
    with netns.inside(ue.ns):
        old = socket.create_connection((DN, 80), timeout=10)
    request = b"GET / HTTP/1.1\r\nHost: news.example\r\n\r\n"

    def ask() -> None:
        old.sendall(request)
        left = None
        data = b""
        while left is None or left > 0:
            data = old.recv(65536)
            assert data
            if left is None:
                left = BODY - len(data) + data.index(b"\r\n\r\n") + 4
            else:
                left -= len(data)

    with old:
        ask()
        assert usage(unit, 4, lambda u: u[NEWS] > BODY)[NEWS] < 2 * BODY
        applications(unit, 4, news="other.example", shop="news.example")
        ask()
        assert curl(unit, ue, "http://news.example/") == (200, BODY)
        assert curl(unit, ue, "http://other.example/") == (200, BODY)
        assert curl(unit, ue, "http://other.example/") == (200, BODY)
        used = usage(unit, 4, lambda u: u[NEWS] > 3 * BODY and u[SHOP] > BODY)
    assert 3 * BODY < used[NEWS] < 4 * BODY  # the old flow's, and those of the new host
    assert BODY < used[SHOP] < 2 * BODY


def dns_query(name: str) -> bytes:
    labels = b"".join(bytes([len(p)]) + p.encode() for p in name.split("."))
    return struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!2H", 1, 1)


def initial_packet() -> bytes:
    """That of RFC 9001 A.2, which names example.com."""
    octets = (ROOT / "tests/vectors/dpi_quic/rfc9001").read_bytes()
    return octets[octets.index(bytes.fromhex("c000000001088394c8f03e515708")) :][:1200]


def test_names_in_datagrams(unit, gnb):
    applications(unit, 5, shop="example.com")
    assert unit.control.set(rules(unit, 5)).status == 0
    ue = ue_of(unit, gnb, 5)
    before = unit.tell("/airpath/upf/flows")
    with netns.inside(ue.ns), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(dns_query("news.example"), (DN, 53))
    with netns.inside(ue.ns), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(initial_packet(), (DN, 443))
    octets = 28 + len(dns_query("news.example")), 28 + 1200
    used = usage(unit, 5, lambda u: u[NEWS] >= octets[0] and u[SHOP] >= octets[1])
    assert used[NEWS] >= octets[0]
    assert used[SHOP] >= octets[1]
    after = unit.tell("/airpath/upf/flows")
    assert after["dns"] - before["dns"] == 1
    assert after["quic"] - before["quic"] == 1


def test_bad_sets_leave_the_one_in_force(unit, gnb):
    c = unit.control
    applications(unit, 6)
    bad = c.application(NEWS, "news", ("HOST", "fine.example"), ("HOST_PATTERN", "a(b"))
    bad.pfds[1].regex = True
    done = c.applications(7, c.application(SHOP, "shop", ("HOST", "x.example")), bad)
    assert done.error
    assert (done.generation, done.failed_application, done.failed_pfd) == (7, NEWS, 1)
    reply = c.reply(c.send(applications=c.pb.Applications(generation=8)))
    assert "first" in reply.error
    assert unit.tell("/airpath/upf/applications")["generation"] == 6
    assert c.set(rules(unit, 6)).status == 0
    ue = ue_of(unit, gnb, 6)
    assert curl(unit, ue, "http://spam.example/", 3) == (0, 0)
    assert curl(unit, ue, "http://news.example/") == (200, BODY)
    assert usage(unit, 6, lambda u: u[NEWS] > BODY)[NEWS] > BODY


def test_everything_is_accounted_for(unit):
    assert unit.stop()["balanced"]


# --- with the management unit -------------------------------------------------------------------

POLICY = {
    "name": "policy",
    "rules": [
        {"application": "news", "rating_group": 1},
        {"application": "shop", "rating_group": 2},
        {"application": "spam", "action": "drop"},
        {"application": "old", "redirect": "http://news.example/"},
    ],
}


@pytest.fixture
def managed(make_upf, tmp_path):
    """An agent with an application file, a predefined policy and charging."""
    file = tmp_path / "applications"
    hosts = ("news", "shop", "spam", "old")
    file.write_text("".join(f"{name} host {name}.example\n" for name in hosts))
    upf = make_upf(
        agent={
            "applications": {"files": [str(file)]},
            "predefined": [POLICY],
            "charging": {"directory": str(tmp_path / "records"), "rating_group": 9},
        }
    )
    serve(upf, upf.folder)
    until = time.monotonic() + 20
    while upf.tell("/airpath/upf/applications")["applications"] != len(hosts):
        assert time.monotonic() < until, "the agent hands its applications over"
        time.sleep(0.05)
    upf.records = tmp_path / "records"
    return upf


def with_policy(smf, teid: int):
    """A session whose first PDRs activate the policy, and whose others take the rest."""
    up = (ies.choose(1), ies.choose_ue_ip(v4=True))
    down = (ies.network_instance("internet"), ies.choose_ue_ip(v4=True, destination=True))
    policy = ies.raw(106, b"policy")
    return smf.establish(
        ies.pdr(1, ies.pdi(ies.ACCESS, *up), far=1, precedence=200, removal=6),
        ies.pdr(2, ies.pdi(ies.CORE, *down), far=2, precedence=200),
        ies.pdr(3, ies.pdi(ies.ACCESS, *up), policy, far=1, precedence=100, removal=6),
        ies.pdr(4, ies.pdi(ies.CORE, *down), policy, far=2, precedence=100),
        ies.far(1, "FORW", to=ies.CORE, instance="internet"),
        ies.far(2, "FORW", to=ies.ACCESS, out=(teid, GNB)),
    )


def records_of(upf, session) -> list[dict]:
    """Charging records of a session that has ended."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        lines = [
            json.loads(line)
            for file in sorted(upf.records.glob("*.ndjson*"))
            for line in file.read_text().splitlines()
        ]
        found = [one for one in lines if one.get("ipv4") == session.ue[1][0]]
        if found and all(one["cause"] == "final" for one in found):
            return found
        time.sleep(0.1)
    raise TimeoutError(f"no final records: {lines}")


def test_policy_and_charging_by_application(managed):
    """Two names over HTTP and HTTPS to two rating groups, one blocked, one redirected; DNS and QUIC
    are seen; records are what the UE sent and got."""
    upf, gnb = managed, managed.gnb()
    smf = upf.smf()
    smf.associate()
    session, other = with_policy(smf, 21), with_policy(smf, 22)
    ue = upf.ue(gnb, session, name="ue21", downlink=21)
    assert curl(upf, ue, "http://news.example/") == (200, BODY)
    assert curl(upf, ue, "https://shop.example/") == (200, BODY)
    assert curl(upf, ue, "http://else.example/") == (200, BODY)
    with netns.inside(ue.ns), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(dns_query("shop.example"), (DN, 53))
        sock.sendto(initial_packet(), (DN, 443))
    policed = upf.ue(gnb, other, name="ue22", downlink=22)
    assert curl(upf, policed, "http://spam.example/", 3) == (0, 0)
    assert curl(upf, policed, "https://spam.example/", 3) == (0, 0)
    assert curl_full(upf, policed, "http://old.example/x")[::2] == (302, "http://news.example/")
    seen = {"http": 4, "tls": 2, "dns": 1, "quic": 1}
    until = time.monotonic() + 20
    while not seen.items() <= (flows := upf.tell("/airpath/upf/flows")).items():
        assert time.monotonic() < until, flows
        time.sleep(0.1)
    upf.settle()
    session.delete()
    records = records_of(upf, session)
    assert sorted(one["rating_group"] for one in records) == [1, 2, 9]
    assert sum(one["uplink_octets"] for one in records) == ue.ul_bytes
    assert sum(one["downlink_octets"] for one in records) == ue.dl_bytes
    assert all(one["downlink_octets"] > BODY for one in records)
    other.delete()
