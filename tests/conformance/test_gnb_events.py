# SPDX-License-Identifier: BSD-3-Clause
"""What befalls DRBs of role `gnb` reaches the control plane: COUNT near its end and at it, either
way (TS 33.501 §6.4.3.1), and maxRetxThreshold (TS 38.322 §5.3.2)."""

import os
import socket
import struct
import subprocess

import pytest
from harness import cell, gtpu, netns, telemetry, traffic
from harness import deployment as d
from harness.gnb_n3 import DN, GNB, QFI, RNTI, dl_teid, make_radio
from harness.netns import Net
from harness.program import AIRPATH
from harness.wait import until

UPF, UE = "10.3.0.1", "10.45.0.1"
MACS = "02:00:00:00:03:01", "02:00:00:00:03:02"
UE_ID, SESSION, DRB = 0, 1, 1  # of the deployment's context
LAST = 0xFFFFFFFF  # COUNT
KEYS = {"key_enc": bytes(range(64, 80)), "key_int": bytes(range(80, 96))}


class Core:
    """A UPF that is a GTP-U socket, and a gNB with one UE before it."""

    def __init__(self, folder, bearer: dict, **phy):
        self.net, self.name = Net(), f"events-{os.getpid()}"
        self.ns, self.gnb_ns = self.net.add("upf"), self.net.add("gnb")
        self.net.veth(self.ns, "n3p", MACS[0], self.gnb_ns, "n3", MACS[1])
        self.net.mute(self.ns, "n3p")
        self.net.address(self.ns, "n3p", f"{UPF}/24")
        with netns.inside(self.ns):
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((UPF, gtpu.PORT))
        contexts = [{"ue": UE_ID, "upf": UPF, "teid": 7}]
        bearers = [{**bearer, "qfis": [QFI]}]
        self.radio = make_radio(self, folder, [UE], contexts=contexts, bearers=bearers, **phy)
        self.control = self.radio.control(events=True)

    def downlink(self, teid: int, number: int) -> None:
        head = struct.pack(">BBHIHBB", 0x34, gtpu.G_PDU, 8 + 100, teid, 0, 0, 0x85)
        packet = traffic.datagram(0, 100)
        for _ in range(number):
            self.socket.sendto(head + bytes((1, 0, QFI, 0)) + packet, (GNB, gtpu.PORT))

    def uplink(self, number: int) -> None:
        with netns.inside(self.radio.ue):
            one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.bind((UE, 0))
        for _ in range(number):
            one.sendto(b"up", (DN, 9))
        one.close()

    def attach(self, ue_id: int, **drb) -> int:
        """In place of the deployment's context, with keys. @return TEID of the session, downlink"""
        pb = self.control.pb
        drb |= {"sdap_ul_header": True, "sdap_dl_header": True, "rlc_mode": pb.AM}
        one = pb.Drb(id=DRB, qfis=[QFI], default_drb=True, **drb)
        session = pb.PduSession(id=SESSION, ul_up=self.control.tunnel(UPF, 7), drbs=[one])
        keys = pb.SecurityInformation(nea=2, nia=2, **KEYS)
        context = pb.BearerContext(
            ue_id=ue_id, pdu_sessions=[session], f1=pb.UeF1(rnti=RNTI), security=keys
        )
        (result,) = self.control.setup(context)
        assert result.error == ""
        return result.pdu_sessions[0].dl_teid

    def change(self, ue_id: int, **session) -> str:
        """@return what was wrong with it"""
        change = self.control.pb.BearerContextChange(ue_id=ue_id)
        change.modify.add(id=SESSION, **session)
        (result,) = self.control.modify(change)
        return result.error

    def close(self) -> None:
        self.control.close()
        self.socket.close()
        self.net.close()


@pytest.fixture
def core(tmp_path):
    if not netns.available():
        pytest.skip("no right to make network namespaces here; run as root")
    made = []

    def make(bearer: dict, **phy) -> Core:
        made.append(Core(tmp_path, bearer, **phy))
        return made[-1]

    yield make
    for one in made:
        one.close()


def count_event(core: Core):
    one = core.control.wait_event().count
    assert (one.pdu_session, one.drb) == (SESSION, DRB)
    return one


def test_count_near_its_end_and_at_it(core):
    bearer = cell.secured()
    bearer["pdcp"]["count_notify"] = 4
    one = core(bearer)
    one.downlink(dl_teid(0), 8)
    event = count_event(one)
    assert (event.ue_id, event.uplink, event.at_limit) == (UE_ID, False, False)
    assert event.count > 4
    one.uplink(8)
    event = count_event(one)
    assert (event.ue_id, event.uplink, event.at_limit) == (UE_ID, True, False)
    assert event.count > 4

    # Under new keys COUNT begins where the context says, which is its end.
    one.control.release(UE_ID)
    one.downlink(one.attach(8, dl_count=LAST - 1), 4)
    while not (event := count_event(one)).at_limit:
        assert (event.ue_id, event.count) == (8, LAST)
    assert (event.ue_id, event.uplink, event.count) == (8, False, LAST)
    until(lambda: one.radio.drops("gnb.pdcp_tx")["pdcp_tx_count_end"] == 2)
    one.radio.airpath.stop()


def test_radio_link_failure(core):
    """No TB arrives."""
    rlc = {"mode": "am", "max_retx_threshold": 1, "t_poll_retransmit_ms": 10}
    one = core(d.bearer(rlc=rlc), tb_loss=1)

    def reached() -> int:
        return one.radio.tell("/airpath/rlc", "gnb", DRB)["max_retx"]

    def fail(ue_id: int, teid: int, number: int) -> None:
        """The radio link of that UE does, which is event `number`."""
        one.downlink(teid, 1)
        event = one.control.wait_event()
        failed = event.radio_link_failure
        told = (event.number, failed.ue_id, failed.pdu_session, failed.drb)
        assert told == (number, ue_id, SESSION, DRB)
        # Another SDU comes to the threshold: that is the same failure, whatever else is changed.
        assert one.change(ue_id, remove_drbs=[DRB]) != ""
        assert one.change(ue_id, ul_up=one.control.tunnel(UPF, 8)) == ""
        before = reached()
        one.downlink(teid, 1)
        until(lambda: reached() > before)
        assert one.control.status().events == number

    fail(UE_ID, dl_teid(0), 1)
    one.control.release(UE_ID)
    fail(8, one.attach(8), 2)  # whose DRB began anew
    # Nobody acknowledged them: `airpath ctl` has all.
    command = [str(AIRPATH), "ctl", str(one.radio.socket), "events"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as ctl:
        for number, ue in ((1, UE_ID), (2, 8)):
            line = f"{number} radio link failure: ue {ue} session {SESSION} drb {DRB}\n"
            assert ctl.stdout.readline() == line
        ctl.terminate()
    with pytest.raises(telemetry.Refused, match="its DRBs change by contexts"):
        one.radio.tell("/airpath/pdcp/renew", "gnb", DRB)
    one.radio.airpath.stop()
