# SPDX-License-Identifier: BSD-3-Clause
"""UE stack, gNB and UPF: hosts of UEs and of the internet, TCP between them, contexts meanwhile."""

import ipaddress
import subprocess
import threading

import pytest
from harness import cell, pfcp, program, traffic
from harness import deployment as d
from harness import pfcp_ies as ies
from harness.agent import AGENT
from harness.capture import Capture, judge
from harness.gnb_n3 import DN, GNB, GNB_6, QFI, RNTI, Radio, Wire, dl_teid, make_radio
from harness.pfcp import Session
from harness.upf import DN_6, N3, Upf, pdu_session
from harness.wait import until
from scapy.contrib import pfcp as p

V4, V6 = "10.45.200.1", "2001:db8:45:1::"
AGAIN = ("rlc_rx_sn_old", "rlc_rx_duplicate")  # AM: what came twice
LATE = ("phy_slot_no_mbuf", "phy_loop_late", "phy_loop_no_pdu")
DL, UL = 0, 1  # PDU types of TS 38.415
ADD = "add {} --rnti 17921 --session 1 --upf {}/{} --drb id=1,qfi=9,default,rlc=am"
NEW_KEYS = {"key_enc": bytes(range(64, 80)), "key_int": bytes(range(80, 96))}


def addresses(ues: int) -> tuple[list[str], list[str]]:
    """Of UEs one after another: IPv4, and the first one of a /64."""
    prefixes = [ipaddress.IPv6Address(V6) + (u << 64) for u in range(ues)]
    return (
        [str(ipaddress.IPv4Address(V4) + u) for u in range(ues)],
        [str(one + 1) for one in prefixes],
    )


def establish(smf, u: int, teid: int, gnb: str = GNB) -> Session:
    """The PDU session of UE u, whose QoS flow is QFI."""
    v4, v6 = addresses(u + 1)
    ue = ies.ue_ip(v4[u], str(ipaddress.IPv6Address(v6[u]) - 1))
    return pdu_session(smf, ies.qer(9, qfi=QFI), qers=(9,), teid=teid, gnb=gnb, ue=ue)


def lead(session: Session, teid: int) -> None:
    """Downlink packets go to another tunnel of the gNB."""
    session.modify(ies.far(2, "FORW", to=ies.ACCESS, out=(teid, GNB), update=True))


def sha(upf: Upf, radio: Radio, size: int, *, ue: str, dn: str = DN) -> None:
    """TCP both ways, SHA-256 at either end."""
    for server, client, address, source in (
        (upf.dn, radio.ue, dn, ue),
        (radio.ue, upf.dn, ue, None),
    ):
        sent, received = traffic.tcp_transfer(
            server, client, address, size, timeout=150, source=source, window=1 << 15
        )
        assert sent == received


def unexpected(report: dict, *expected: str) -> dict[str, int]:
    """As of test_gnb.py; slots in which a busy machine did not run the stacks; and what a kernel
    may say to groups on N3."""
    fine = ("queue_full", "sdap_tx_no_ue", "gnb_in_multicast", *LATE, *AGAIN)
    lost = program.drops(report)
    return {k: n for k, n in lost.items() if not k.endswith((*fine, *expected))}


@pytest.fixture
def core(make_upf):
    """A UPF with an SMF."""
    upf = make_upf(governor="adaptive")
    smf = upf.smf()
    smf.associate()
    return upf, smf


def test_tcp_between_ues_and_the_internet(core, tmp_path):
    """Contexts of the deployment file; tshark reads the tunnels."""
    upf, smf = core
    v4, v6 = addresses(2)
    sessions = [establish(smf, u, dl_teid(u)) for u in range(2)]
    tunnels = [one.tunnels[1] for one in sessions]
    contexts = [{"ue": u, "upf": N3, "teid": teid} for u, (teid, _) in enumerate(tunnels)]
    radio = make_radio(upf, tmp_path, v4, v6, contexts=contexts)
    with Wire(upf, tmp_path / "n3.pcap") as wire:
        for address in (*v4, *v6):
            sent, answered = traffic.ping(upf.dn, address, size=1000, count=3)
            assert answered == sent, address
        sha(upf, radio, 1 << 18, ue=v4[0])
        sha(upf, radio, 1 << 16, ue=v6[1], dn=DN_6)
    count, problems = judge(wire.path, "gtp", "-o", "gtp.dissect_tpdu_as:None")
    assert problems == []
    flows = wire.flows()
    assert set(flows) == {
        *((UL, QFI, teid) for teid, _ in tunnels),
        *((DL, QFI, dl_teid(u)) for u in range(2)),
    }
    assert count >= sum(flows.values()) > 300
    # More than fits one frame of N3: fragments both ways.
    sent, answered = traffic.ping(upf.dn, v4[1], size=1440, count=5)
    assert answered == sent
    seen = {one.ue_id: one.pdu_sessions[0] for one in radio.control().contexts()}
    assert [seen[u].dl_teid for u in range(2)] == [dl_teid(0), dl_teid(1)]
    assert all(0 < view.drbs[0].dl_count <= view.drbs[0].dl_packets for view in seen.values())
    report = radio.airpath.stop()
    assert unexpected(report) == {}
    through = {n["node"]: n for n in report["nodes"]}
    assert through["gnb.bearer"]["out"] == through["ue.sdap_rx"]["out"]
    assert through["gnb.tunnel"]["in"] == through["ue.sdap_tx"]["out"]
    (gnb,) = (r for r in report["roles"] if r["role"] == "gnb")
    assert (gnb["sessions"], gnb["drbs"]) == (2, 2)
    assert {k: n for k, n in upf.drops().items() if n and not k.startswith("upf_in_")} == {}


def context(control, ue_id: int, tunnel: tuple[int, str], *, rnti: int = RNTI, **more):
    """A bearer context as the deployment's bearers are."""
    drb = control.pb.Drb(
        id=1, qfis=[QFI], default_drb=True, sdap_ul_header=True, sdap_dl_header=True, rlc_mode="AM"
    )
    session = control.pb.PduSession(id=5, ul_up=control.tunnel(tunnel[1], tunnel[0]), drbs=[drb])
    return control.pb.BearerContext(
        ue_id=ue_id, pdu_sessions=[session], f1=control.pb.UeF1(rnti=rnti), **more
    )


def attach(control, *args, **more) -> int:
    """@return TEID of the session, downlink"""
    (result,) = control.setup(context(control, *args, **more))
    assert result.error == ""
    return result.pdu_sessions[0].dl_teid


class Pinger:
    """Echoes to one address all the while: none is lost. A context manager."""

    def __init__(self, ns: str, address: str):
        self._thread = threading.Thread(target=self._run, args=(ns, address))
        self._stop = False
        self.sent = self.answered = 0

    def _run(self, ns: str, address: str) -> None:
        while not self._stop:
            sent, answered = traffic.ping(ns, address, size=200, count=10)
            self.sent += sent
            self.answered += answered

    def __enter__(self) -> "Pinger":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stop = True
        self._thread.join()


def unreached(upf: Upf, radio: Radio, address: str) -> None:
    with pytest.raises(TimeoutError):
        traffic.tcp_transfer(radio.ue, upf.dn, address, 100, timeout=1.5)


def unheard(upf: Upf, radio: Radio, source: str) -> None:
    with pytest.raises(TimeoutError):
        traffic.tcp_transfer(upf.dn, radio.ue, DN, 100, timeout=1.5, source=source)


def test_contexts_come_and_go_while_others_talk(core, tmp_path):
    upf, smf = core
    v4, v6 = addresses(2)
    session, other = establish(smf, 0, 7), establish(smf, 1, 8)
    radio = make_radio(upf, tmp_path, v4, v6)
    control = radio.control(events=True)
    control.complete()
    lead(other, attach(control, 2, other.tunnels[1], rnti=RNTI + 1))
    sent, answered = traffic.ping(upf.dn, v4[1], size=100, count=3)
    assert answered == sent
    with Pinger(upf.dn, v4[1]) as pinger:
        # Nobody has a tunnel there: the UPF hears of it (TS 29.281 §7.3.1), the SMF too.
        unreached(upf, radio, v4[0])
        smf.wait_report(p.IE_ErrorIndicationReport)
        # The UE's own packets end by name.
        unheard(upf, radio, v4[0])
        assert radio.drops("gnb.tunnel")["gnb_tunnel_no_context"] > 0
        teid = attach(control, 1, session.tunnels[1])
        lead(session, teid)
        sha(upf, radio, 1 << 18, ue=v4[0])
        # Gone, and back: the deployment's keys, COUNT runs on.
        count = control.context(1).pdu_sessions[0].drbs[0].dl_count
        assert count > 0
        (result,) = control.release(1)
        assert result.error == ""
        unreached(upf, radio, v4[0])
        smf.wait_report(p.IE_ErrorIndicationReport)
        again = attach(control, 1, session.tunnels[1])
        assert again != teid
        lead(session, again)
        assert control.context(1).pdu_sessions[0].drbs[0].dl_count >= count
        sha(upf, radio, 1 << 18, ue=v4[0])
    assert pinger.answered == pinger.sent > 0
    report = radio.airpath.stop()
    assert unexpected(report, "no_context", "local_unknown_teid") == {}


def test_a_context_brings_keys(core, tmp_path):
    """DRBs begin anew under them: at the gNB, and when RRC would say so at the UE."""
    upf, smf = core
    v4, v6 = addresses(1)
    session = establish(smf, 0, 7)
    radio = make_radio(upf, tmp_path, v4, v6)
    control = radio.control()
    security = control.pb.SecurityInformation(nea=2, nia=2, **NEW_KEYS)
    lead(session, attach(control, 1, session.tunnels[1]))
    sent, answered = traffic.ping(upf.dn, v4[0], size=100, count=3)
    assert answered == sent
    control.release(1)
    old = {name: bytes.fromhex(key) for name, key in cell.KEYS.items()}
    for keys, why in (
        (old, "COUNT would begin again"),
        ({"key_enc": NEW_KEYS["key_enc"], "key_int": b"short"}, "5 octets"),
    ):
        wrong = control.pb.SecurityInformation(nea=2, nia=2, **keys)
        (result,) = control.setup(context(control, 1, session.tunnels[1], security=wrong))
        assert why in result.error
    lead(session, attach(control, 1, session.tunnels[1], security=security))
    assert control.context(1).pdu_sessions[0].drbs[0].dl_count == 0
    told = radio.tell("/airpath/pdcp/renew", "ue", 1, *(k.hex() for k in NEW_KEYS.values()))
    assert told["drb"] == 1
    sha(upf, radio, 1 << 18, ue=v4[0])
    control.release(1)
    for more, why in (
        ({}, "give security"),
        ({"security": security}, "COUNT would begin again"),
    ):
        (result,) = control.setup(context(control, 1, session.tunnels[1], **more))
        assert why in result.error
    report = radio.airpath.stop()
    expected = ("no_context", "reestablished", "local_unknown_teid_filling")
    assert unexpected(report, *expected) == {}


def test_wrong_contexts_are_refused(core, tmp_path):
    upf, _ = core
    v4, v6 = addresses(2)
    radio = make_radio(upf, tmp_path, v4, v6)
    control = radio.control()
    tunnel = (0x77, N3)
    attach(control, 1, tunnel)

    def refused(one, why: str) -> None:
        (result,) = control.setup(one)
        assert why in result.error

    refused(context(control, 2, tunnel), "C-RNTI 17921 is another UE's")
    refused(context(control, 2, tunnel, rnti=RNTI + 2), "none of this gNB's, 17921..17922")
    for key, value, why in (
        ("id", 2, "no bearer of the deployment"),
        ("pdcp_sn_bits", 12, "in the deployment has 18"),
        ("rlc_mode", 0, "RLC UM, but its bearer in the deployment has AM"),
        ("lcid", 9, "has 4"),
        ("priority", 1, "has 8"),
        ("sdap_dl_header", False, "both ways"),
        ("dl_count", 7, "without new keys"),
    ):
        one = context(control, 2, tunnel, rnti=0)
        setattr(one.pdu_sessions[0].drbs[0], key, value)
        refused(one, why)
    one = context(control, 2, tunnel, rnti=0)
    one.pdu_sessions.append(one.pdu_sessions[0])
    one.pdu_sessions[1].id = 6
    refused(one, "a UE has one here")
    one = context(control, 2, tunnel, rnti=0)
    one.f1.buffer_packets = 9
    refused(one, "rlc.queue_sdus")
    attach(control, 2, tunnel, rnti=0)
    refused(context(control, 3, tunnel, rnti=0), "table full: 2 PDU sessions")
    assert control.status().ues == 2
    assert "no SmartNIC" in control.offload(50).error
    radio.airpath.stop()


def test_tunnels_over_ipv6_and_wrong_flows(core, tmp_path):
    """UM without SDAP headers, the N3 side on an lcore of its own; then no DRB takes the flow, and
    then the UPF has no such tunnel."""
    upf, smf = core
    v4, v6 = addresses(1)
    um = d.bearer(sdap=False, default=False, qfis=[QFI], rlc={"mode": "um", "queue_sdus": 1024})
    session = establish(smf, 0, dl_teid(0), GNB_6)
    teid, upf_6 = session.tunnels6[1]
    nodes = ("rx_n3", "in_n3", "tx_n3", "drb", "bearer", "tunnel", "out", "local", "control")
    place = {"ue.*": "l2", "gnb.*": "l2", "phy.*": "phy"} | {f"gnb.{n}": "phy" for n in nodes}
    radio = make_radio(
        upf,
        tmp_path,
        v4,
        v6,
        bearers=[um],
        n3=GNB_6,
        place=place,
        contexts=[{"upf": upf_6, "teid": teid}],
    )
    control = radio.control(events=True)
    sha(upf, radio, 1 << 18, ue=v4[0])
    sha(upf, radio, 1 << 16, ue=v6[0], dn=DN_6)
    change = control.pb.DrbChange(id=1, replace_qfis=True, qfis=[QFI + 1])
    session_change = control.pb.PduSessionChange(id=1, modify_drbs=[change])
    (result,) = control.modify(control.pb.BearerContextChange(ue_id=0, modify=[session_change]))
    assert result.error == ""
    unreached(upf, radio, v4[0])
    assert radio.drops("gnb.drb")["gnb_drb_no_drb"] > 0
    session.delete()
    unheard(upf, radio, v4[0])
    event = control.wait_event().error_indication
    assert (event.ue_id, event.pdu_session, event.drb, event.teid) == (0, 1, 0, teid)
    unheard(upf, radio, v4[0])
    assert radio.drops("gnb.tunnel")["gnb_tunnel_ul_stopped"] > 0
    report = radio.airpath.stop()
    assert unexpected(report, "no_drb", "ul_stopped") == {}


def test_ctl_loads_contexts_with_keys(core, tmp_path):
    """`airpath ctl` as a person has it."""
    upf, _ = core
    v4, v6 = addresses(2)
    radio = make_radio(upf, tmp_path, v4, v6)
    file = tmp_path / "contexts.yaml"
    file.write_text(
        """contexts:
  - ue: 7
    rnti: 0x4602
    security: {nea: 2, nia: 2, key_enc: "404142434445464748494a4b4c4d4e4f",
               key_int: "505152535455565758595a5b5c5d5e5f"}
    sessions: [{id: 5, upf: {address: 10.3.0.1, teid: 0x77},
                drbs: [{id: 1, qfis: [9], default: true, rlc: am}]}]
"""
    )
    ctl = [str(program.AIRPATH), "ctl", str(radio.socket)]
    for command in (
        ["load", str(file)],
        ADD.format(8, "10.3.0.1", 0x78).split(),
    ):
        done = subprocess.run([*ctl, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    churn = ["churn", "--upf", "10.3.0.1", "--du", "10.7.0.9"]
    done = subprocess.run([*ctl, *churn], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "this is a role gnb, and churn is for gnb_header" in done.stderr
    control = radio.control()
    assert [one.ue_id for one in control.contexts()] == [7, 8]
    radio.airpath.stop()


def test_deployment_before_the_upf(net, tmp_path):
    """deploy/gnb-upf.yaml, upf.yaml and n4.yaml, as the comments in the files say."""

    def copied(name: str):
        text = (program.ROOT / "deploy" / name).read_text()
        for path in ("/run/airpath", "/var/lib/airpath"):
            text = text.replace(path, str(tmp_path))
        (tmp_path / name).write_text(text)
        return tmp_path / name

    up, gnb, inet, ue = (net.add(name) for name in ("up", "gnb", "inet", "ue"))
    net.veth(gnb, "gnb0", "02:00:00:00:03:02", up, "n3", "02:00:00:00:03:01")
    net.veth(inet, "inet0", "02:00:00:00:06:02", up, "n6", "02:00:00:00:06:01")
    for ns, interface in ((up, "n3"), (up, "n6"), (gnb, "gnb0")):
        net.mute(ns, interface)
    net.address(inet, "inet0", "192.168.6.254/24")
    net.run(inet, ["ip", "route", "add", "10.45.0.0/16", "via", "192.168.6.1"])
    radio = program.Airpath(net, gnb, copied("gnb-upf.yaml"))
    net.run(gnb, ["ip", "link", "set", "airpath0", "netns", ue])
    net.address(ue, "airpath0", "10.45.0.2/32")
    net.run(ue, ["ip", "link", "set", "airpath0", "up"])
    net.run(ue, ["ip", "route", "add", "default", "dev", "airpath0", "mtu", "1400"])
    airpath = program.Airpath(net, up, copied("upf.yaml"))
    with (tmp_path / "agent.log").open("w") as log:
        command = [str(AGENT), "run", "-c", str(copied("n4.yaml"))]
        agent = net.popen(up, command, stdout=log, stderr=log)
    said = tmp_path / "agent.log"
    until(lambda: "workers" in said.read_text(), seen=said.read_text)
    smf = pfcp.Smf(up, Capture(tmp_path / "n4.pcap"), upf=("127.0.0.8", pfcp.PORT))
    smf.associate()
    session = pdu_session(
        smf,
        ies.qer(9, qfi=QFI),
        qers=(9,),
        teid=dl_teid(0),
        gnb="192.168.3.2",
        ue=ies.ue_ip("10.45.0.2"),
    )
    command = [str(program.AIRPATH), "ctl", "--name", "gnb-upf", "gnb"]
    command += ADD.format(1, "192.168.3.1", session.tunnels[1][0]).split()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for server, client, address in ((inet, ue, "192.168.6.254"), (ue, inet, "10.45.0.2")):
        sent, received = traffic.tcp_transfer(
            server, client, address, 1 << 20, timeout=150, window=1 << 15
        )
        assert sent == received
    session.delete()
    smf.close()
    agent.terminate()
    assert agent.wait(10) == 0
    for one in (radio, airpath):
        one.stop()
