# SPDX-License-Identifier: BSD-3-Clause
"""The control socket of a gNB (api/gnb.proto) and `airpath ctl`, against role gnb_header."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from harness import deployment as d
from harness import netns, telemetry
from harness.control import MESSAGE_MAX
from harness.gnb_control import GnbControl
from harness.netns import Net
from harness.program import AIRPATH, Airpath


class Unit:
    """A gNB on ports without packets."""

    def __init__(self, folder, name: str = "gnb-control", *, workers: int = 2, **gnb):
        self.name = name
        self.socket = folder / "gnb.sock"
        self.folder = folder
        self.net = Net()
        file = d.write(
            folder / f"{name}.yaml",
            name,
            ports=[
                {"name": p, "preset": "null", "devargs": "no-rx=1", "framing": "raw"}
                for p in ("n3", "f1")
            ],
            gnb_header=[
                {
                    "name": "gnb",
                    "socket": str(self.socket),
                    "workers": workers,
                    "sessions": 1024,
                    "drbs_per_session": 2,
                    "interfaces": [
                        {"name": "n3", "port": "n3", "type": "n3", "addresses": ["10.3.0.2/24"]},
                        {"name": "f1", "port": "f1", "type": "f1", "addresses": ["10.7.0.1/24"]},
                    ],
                    **gnb,
                }
            ],
            lcores=d.lcores(*(f"w{k}" for k in range(workers))),
            place=[{"node": f"gnb.*_w{k}", "lcore": f"w{k}"} for k in range(workers)],
        )
        self.airpath = Airpath(self.net, self.net.add("gnb"), file)

    def client(self, **options) -> GnbControl:
        return GnbControl(self.socket, **options)

    def info(self) -> dict:
        return telemetry.ask(self.name, "/airpath/gnb/info")

    def ctl(self, *words: str, ok: bool = True) -> str:
        """`airpath ctl gnb …`. @return its output, or what it complains of"""
        command = [str(AIRPATH), "ctl", "--name", self.name, "gnb", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode == 0) == ok, done.stdout + done.stderr
        return done.stdout if ok else done.stderr


@pytest.fixture(scope="module")
def unit(tmp_path_factory):
    if not netns.available():
        pytest.skip("no right to make network namespaces here; run as root")
    one = Unit(tmp_path_factory.mktemp("gnb"))
    yield one
    one.airpath.stop()
    one.net.close()


@pytest.fixture
def client(unit):
    one = unit.client()
    yield one
    one.release(*(c.ue_id for c in one.contexts()))
    assert one.status().pdu_sessions == 0
    one.close()


def test_welcome_says_what_the_unit_is(unit, client):
    w = client.welcome
    assert (w.kind, w.workers, w.sessions_max, w.drbs_per_session) == ("gnb_header", 2, 1024, 2)
    assert [(i.name, i.n3, i.f1) for i in w.interfaces] == [
        ("n3", True, False),
        ("f1", False, True),
    ]
    stranger = unit.client(hello=False)
    assert "Hello" in stranger.reply(stranger.send(status=client.pb.StatusRequest())).error
    assert "protocol" in stranger.hello(protocol=9).error


def test_contexts_are_set_up_changed_and_released(client):
    two = (client.drb(4), client.drb(5, qfis=[1, 2], du_teid=0x56, rlc_mode=client.pb.AM))
    result = client.setup(client.ue(1, client.session(5, "10.3.0.1", 0x77, *two)))[0]
    assert (result.cause, result.error) == (client.pb.OK, "")
    session = result.pdu_sessions[0]
    assert session.dl_teid & 0xF == 15
    assert session.dl_teid >> 24 >= 1
    assert [(b.id, b.ul_teid & 0xF) for b in session.drbs] == [(4, 0), (5, 1)]
    assert len({b.ul_teid >> 4 for b in session.drbs} | {session.dl_teid >> 4}) == 1

    change = client.pb.BearerContextChange(ue_id=1)
    modify = change.modify.add(id=5, ul_up=client.tunnel("10.3.0.3", 0x99), remove_drbs=[4])
    modify.modify_drbs.add(id=5, has_dl_count=True, dl_count=1000)
    change.setup.append(client.session(6))
    result = client.modify(change)[0]
    assert result.cause == client.pb.OK
    assert [s.id for s in result.pdu_sessions] == [5, 6]
    assert result.pdu_sessions[0].dl_teid == session.dl_teid
    assert [(b.id, b.dl_count) for b in result.pdu_sessions[0].drbs] == [(5, 1000)]

    views = {v.session.id: v for v in client.context(1).pdu_sessions}
    assert views[5].session.ul_up.teid == 0x99
    assert [b.id for b in views[5].session.drbs] == [5]
    assert list(views[5].session.drbs[0].qfis) == [1, 2]
    assert [r.cause for r in client.release(1, 1)] == [client.pb.OK, client.pb.UNKNOWN_UE]
    assert "no such UE" in client.context(1)


def wrong_contexts(c):
    """What is asked for, the cause and what the words must name."""
    pb = c.pb
    session = c.session
    plain = (5, "10.3.0.1", 0x77)
    return [
        (pb.BearerContext(ue_id=2), pb.SEMANTIC_ERROR, "no PDU session"),
        (c.ue(2, session(0)), pb.SEMANTIC_ERROR, "1..255"),
        (c.ue(2, session(5), session(5)), pb.MULTIPLE_PDU_SESSION, "PDU session 5"),
        (c.ue(2, session(5, upf_teid=0)), pb.SEMANTIC_ERROR, "TEID 0"),
        (c.ue(2, session(5, "fd00::1")), pb.TRANSPORT, "IPv6"),
        (c.ue(2, session(*plain, c.drb(33))), pb.SEMANTIC_ERROR, "DRB ID 33"),
        (c.ue(2, session(*plain, c.drb(), c.drb())), pb.MULTIPLE_DRB, "DRB 4"),
        (
            c.ue(2, session(*plain, c.drb(4), c.drb(5, qfis=[1]), c.drb(6, qfis=[2]))),
            pb.NO_RESOURCES,
            "drbs_per_session",
        ),
        (c.ue(2, session(*plain, c.drb(qfis=[64]))), pb.SEMANTIC_ERROR, "QFI 64"),
        (c.ue(2, session(*plain, c.drb(qfis=[]))), pb.SEMANTIC_ERROR, "no QoS flow"),
        (
            c.ue(2, session(*plain, c.drb(4), c.drb(5))),
            pb.SEMANTIC_ERROR,
            "QFI 9 is mapped to DRB 5",
        ),
        (c.ue(2, session(*plain, c.drb(pdcp_sn_bits=7))), pb.SEMANTIC_ERROR, "7 bits"),
        (
            c.ue(2, security=pb.SecurityInformation(nea=1, key_enc=bytes(16))),
            pb.SECURITY,
            "does not cipher",
        ),
        (c.ue(1), pb.UE_IN_USE, "UE 1"),
        # The first session is sound: the UE gets neither.
        (c.ue(2, session(5), session(6, upf_teid=0)), pb.SEMANTIC_ERROR, "PDU session 6"),
    ]


def test_wrong_contexts_are_refused_and_change_nothing(client):
    assert client.setup(client.ue(1))[0].cause == client.pb.OK
    before = client.contexts()
    for context, cause, words in wrong_contexts(client):
        result = client.setup(context)[0]
        assert (result.cause, words in result.error) == (cause, True), result
        assert len(result.pdu_sessions) == 0
        assert client.contexts() == before


def test_wrong_changes_are_refused_and_change_nothing(client):
    pb = client.pb
    client.setup(client.ue(1))
    before = client.contexts()
    drb = pb.DrbChange(id=9)
    wrong = [
        (pb.BearerContextChange(ue_id=9), pb.UNKNOWN_UE, "no UE 9"),
        (pb.BearerContextChange(ue_id=1, remove=[7]), pb.UNKNOWN_PDU_SESSION, "no PDU session 7"),
        (pb.BearerContextChange(ue_id=1, remove=[5]), pb.SEMANTIC_ERROR, "release"),
        (
            pb.BearerContextChange(ue_id=1, remove=[5, 5]),
            pb.MULTIPLE_PDU_SESSION,
            "there twice",
        ),
        (
            pb.BearerContextChange(ue_id=1, modify=[pb.PduSessionChange(id=5, modify_drbs=[drb])]),
            pb.UNKNOWN_DRB,
            "no DRB 9",
        ),
        (
            pb.BearerContextChange(ue_id=1, modify=[pb.PduSessionChange(id=5, remove_drbs=[4])]),
            pb.SEMANTIC_ERROR,
            "0 DRBs",
        ),
        (
            pb.BearerContextChange(
                ue_id=1,
                modify=[pb.PduSessionChange(id=5, ul_up=client.tunnel("10.3.0.9", 1))],
                setup=[client.session(5)],
            ),
            pb.MULTIPLE_PDU_SESSION,
            "PDU session 5",
        ),
        (
            pb.BearerContextChange(ue_id=1, setup=[client.session(k) for k in range(10, 26)]),
            pb.NO_RESOURCES,
            "17 PDU sessions",
        ),
    ]
    for change, cause, words in wrong:
        result = client.modify(change)[0]
        assert (result.cause, words in result.error) == (cause, True), result
        assert client.contexts() == before


def test_a_full_table_refuses_the_rest(client):
    ues = [client.ue(k, client.session(upf_teid=k)) for k in range(1, 1101)]
    results = client.setup(*ues)
    assert [r.cause for r in results[:1024]] == [client.pb.OK] * 1024
    assert {r.cause for r in results[1024:]} == {client.pb.NO_RESOURCES}
    assert "table full: 1024" in results[-1].error
    assert client.status().pdu_sessions == 1024
    assert len({r.pdu_sessions[0].dl_teid for r in results[:1024]}) == 1024
    workers = [r.pdu_sessions[0].worker for r in results[:1024]]
    assert 500 < workers.count(0) < 524


@pytest.mark.parametrize(
    "message",
    [b"\xff\xff\xff", b"\x08", b"\x10\x01", bytes(MESSAGE_MAX + 1)],
    ids=["garbage", "cut off", "no seq", "oversize"],
)
def test_bad_messages_end_their_connection_alone(unit, client, message):
    client.setup(client.ue(3))
    bad = unit.client()
    count = unit.info()["bad_messages"]
    bad.socket.send(message)
    with pytest.raises(ConnectionResetError):
        bad.receive()
    assert [c.ue_id for c in client.contexts()] == [3]
    assert unit.info()["bad_messages"] == count + 1


def test_the_largest_message_is_served(client):
    """Every UE there can be in one message: answered in as many as its results need."""
    ids = range(1 << 28, (1 << 28) + 39000)
    results = client.release(*ids)
    assert len(results) == len(ids)
    assert {r.cause for r in results} == {client.pb.UNKNOWN_UE}


def test_a_share_needs_a_smartnic(client):
    assert "no SmartNIC" in client.offload(40).error


def test_ctl_adds_lists_changes_and_deletes(unit, client):
    drb = "id=4,qfi=9+8,du=10.7.0.9/0x55,rlc=am,rlc-sn=12,pdcp-sn=12"
    unit.ctl("add", 7, "--session", 5, "--upf", "10.3.0.1/0x77", "--drb", drb)
    listed = json.loads(unit.ctl("list", "7", "--json"))
    assert listed["sessions"][0]["upf"] == {"address": "10.3.0.1", "teid": 0x77, "interface": 1}
    bearer = listed["sessions"][0]["drbs"][0]
    assert (bearer["qfis"], bearer["rlc"], bearer["pdcp_sn_bits"]) == ([8, 9], "am", 12)
    unit.ctl("modify", 7, "--session", 5, "--du", "4=10.7.0.10/0x66", "--count", "4=12")
    assert "du 10.7.0.10/0x00000066" in unit.ctl("list")
    assert "count 12" in unit.ctl("list", 7)
    assert "UE 7 is there already" in unit.ctl(
        "add", 7, "--session", 5, "--upf", "10.3.0.1/0x77", "--drb", drb, ok=False
    )
    for words, complaint in (
        (["delete", "8"], "no UE 8"),
        (["modify", "7", "--upf", "10.3.0.1/1"], "--session"),
        (["add", "8", "--upf", "10.3.0.1"], "ADDRESS/TEID"),
        (["add", "8", "--upf", "10.3.0.1/1", "--drb", "id=4,teid=4"], "a DRB has no 'teid'"),
        (["offload", "101"], "0..100"),
        (["offload", "50"], "no SmartNIC"),
        (["load", "/nonexistent"], "cannot be opened"),
        (["frobnicate"], "there is no command 'frobnicate'"),
    ):
        assert complaint in unit.ctl(*words, ok=False)
    unit.ctl("delete", 7)
    assert unit.ctl("list") == ""


def test_ctl_loads_files(unit, client):
    path = unit.folder / "ues.yaml"
    path.write_text(
        """
contexts:
  - ue: 100
    count: 500
    sessions:
      - id: 1
        upf: {address: 10.3.0.1, teid: 1000}
        drbs: [{id: 1, qfis: [9], du: {address: 10.7.0.9, teid: 2000}}]
""",
        encoding="utf-8",
    )
    assert "500 done, 0 refused" in unit.ctl("load", path)
    last = json.loads(unit.ctl("list", "599", "--json"))
    assert last["sessions"][0]["upf"]["teid"] == 1499
    assert last["sessions"][0]["drbs"][0]["du"]["teid"] == 2499
    unit.ctl("delete", "--all")
    path.write_text('{"contexts": [{"ue": 1, "sesions": []}]}', encoding="utf-8")
    assert "ues.yaml:1" in unit.ctl("load", path, ok=False)
    assert "sesions" in unit.ctl("load", path, ok=False)
    sessions = "[{id: 1, upf: {address: 10.3.0.1, teid: 1}, drbs: [{id: 1}]}]"
    for wrong in ("1e6", "1k", "010", '"5 6"'):
        text = f"contexts:\n  - ue: {wrong}\n    sessions: {sessions}\n"
        path.write_text(text, encoding="utf-8")
        assert "ues.yaml:2: contexts[0].ue" in unit.ctl("load", path, ok=False)


CHURN = ("churn", "--upf", "10.3.0.1", "--du", "10.7.0.9")
CHURN_FIRST = 1 << 24


def test_churn_leaves_nothing(unit, client):
    client.setup(client.ue(1))
    # At full speed 256 UEs use up the unit's TEIDs in a second, and tests after this one want some.
    limits = ("--batch", 64, "--rate", 50_000, "--seconds", 1)
    done = json.loads(unit.ctl(*CHURN, "--ues", 256, *limits))
    assert done["changes"] >= 3 * 256
    assert [c.ue_id for c in client.contexts()] == [1]
    workers = telemetry.ask(unit.name, "/airpath/gnb/workers")
    assert sum(w["pdu_sessions"] for w in workers.values()) == 1
    assert sorted(telemetry.ask(unit.name, "/airpath/gnb/peers")) == [
        "10.3.0.1 by n3: 1 tunnels",
        "10.7.0.9 by f1: 1 tunnels",
    ]


def test_churn_ends_amid_a_round(unit, client):
    """At 200 a second 1024 UEs take five seconds to come; they need not all come to go."""
    done = json.loads(unit.ctl(*CHURN, "--ues", 1024, "--batch", 32, "--rate", 200, "--seconds", 1))
    assert 0 < done["changes"] < 1024
    assert client.contexts() == []


def test_churn_that_is_interrupted_leaves_nothing(unit, client):
    command = [str(AIRPATH), "ctl", "--name", unit.name, "gnb", *CHURN]
    churn = subprocess.Popen(
        [*map(str, command), "--ues", "512", "--batch", "32", "--rate", "320", "--seconds", "3600"],
        stdout=subprocess.PIPE,
    )
    try:
        until = time.monotonic() + 30
        while len(client.contexts()) <= 64:
            assert time.monotonic() < until
            time.sleep(0.05)
        churn.send_signal(signal.SIGINT)
        out, _ = churn.communicate(timeout=60)
    finally:
        churn.kill()
    assert churn.returncode == 0
    assert json.loads(out)["changes"] > 64
    assert client.contexts() == []


def test_churn_leaves_those_of_others(unit, client):
    assert [r.error for r in client.setup(client.ue(CHURN_FIRST + 3))] == [""]
    why = unit.ctl(*CHURN, "--ues", 64, "--batch", 32, "--seconds", 1, ok=False)
    assert f"UE {CHURN_FIRST + 3} is there already" in why
    assert [c.ue_id for c in client.contexts()] == [CHURN_FIRST + 3]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("-1",), "there is no command '-1'"),
        (("statis",), "status, list, add, modify, delete, load"),
        (("status", "now"), "status takes nothing"),
        (("load",), "load takes one word"),
    ],
)
def test_ctl_says_what_it_takes(unit, command, why):
    assert why in unit.ctl(*command, ok=False)


def test_show_gnb(unit, client):
    assert [r.error for r in client.setup(client.ue(1))] == [""]
    done = subprocess.run(
        [str(AIRPATH), "show", "--name", unit.name, "gnb", "gnb"],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert '"pdu_sessions":1' in done.stdout


def test_control_threads_leave_workers_their_cpus(tmp_path):
    """Changes of contexts do not take a worker's CPU where another one is free."""
    cpus = os.sched_getaffinity(0)
    if len(cpus) < 2:
        pytest.skip("one CPU: all threads share it")
    unit = Unit(tmp_path, "gnb-cpus", workers=1)  # on the first of them
    allowed = {}
    for task in Path(f"/proc/{unit.airpath.pid}/task").iterdir():
        tid = int(task.name)
        allowed[(task / "comm").read_text().strip()] = os.sched_getaffinity(tid)
    unit.airpath.stop()
    unit.net.close()
    assert allowed["w0"] == {min(cpus)}
    assert allowed["gnb-control"] == cpus - {min(cpus)}
