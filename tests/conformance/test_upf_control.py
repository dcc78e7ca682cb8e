# SPDX-License-Identifier: BSD-3-Clause
"""The contract between agent and forwarding unit (api/upf.proto), against the forwarding unit."""

import os
import socket
import stat
import subprocess
import time

import pytest
from harness import deployment as d
from harness import netns, telemetry
from harness import upf_control as control
from harness.control import MESSAGE_MAX
from harness.netns import Net
from harness.program import AIRPATH, ROOT, Airpath
from harness.upf_control import Control


class Unit:
    """A forwarding unit on ports without packets."""

    def __init__(self, folder, name: str, **upf):
        self.folder, self.name = folder, name
        self.socket = folder / "upf.sock"
        self.net = Net()
        self.ns = self.net.add("upf")
        workers = upf.get("workers", 1)
        self.file = d.write(
            folder / f"{name}.yaml",
            name,
            ports=[self._port("n3"), self._port("n6")],
            upf=[
                {
                    "name": "upf",
                    "socket": str(self.socket),
                    "sessions": 4096,
                    "interfaces": [
                        self._interface("n3", ["access"], "192.0.2.1/24"),
                        self._interface("n6", ["core", "sgi_n6_lan"], "198.51.100.1/24"),
                    ],
                    **upf,
                }
            ],
            lcores=d.lcores(*(f"w{k}" for k in range(workers))),
            place=[{"node": f"upf.*_w{k}", "lcore": f"w{k}"} for k in range(workers)],
        )
        self.airpath = Airpath(self.net, self.ns, self.file)

    def _port(self, name):
        return {"name": name, "preset": "null", "devargs": "no-rx=1", "framing": "raw"}

    def _interface(self, name, types, address):
        return {"name": name, "port": name, "types": types, "addresses": [address]}

    def agent(self, **options) -> Control:
        return Control(self.socket, **options)

    def ask(self, command, *params):
        return telemetry.ask(self.name, f"/airpath/upf/{command}", *params)


@pytest.fixture
def make_unit(tmp_path):
    if not netns.available():
        pytest.skip("no right to make network namespaces here; run as root")
    made = []

    def make(name="upf-control", **upf):
        made.append(Unit(tmp_path, name, **upf))
        return made[-1]

    yield make
    for unit in made:
        unit.net.close()


@pytest.fixture
def unit(make_unit):
    one = make_unit()
    yield one
    report = one.airpath.stop()
    assert next(r for r in report["roles"] if r["role"] == "upf")["sessions"] >= 0
    assert "did not come back" not in one.airpath.log()


def test_welcome_says_what_the_unit_is(unit):
    agent = unit.agent()
    w = agent.welcome
    assert [(i.index, i.name) for i in w.interfaces] == [(1, "n3"), (2, "n6")]
    assert w.interfaces[0].ip4 == socket.inet_aton("192.0.2.1")
    assert w.interfaces[0].ip6 == b""
    assert list(w.interfaces[1].types) == [agent.pb.CORE, agent.pb.SGI_N6_LAN]
    assert (w.workers, len(w.bucket_workers), set(w.bucket_workers)) == (1, 4096, {0})
    assert w.steering == "rss"
    assert w.instance != 0
    assert w.sessions == 0
    assert stat.S_IMODE(unit.socket.stat().st_mode) == 0o600


def test_hello_comes_first_and_speaks_our_protocol(unit):
    agent = unit.agent(hello=False)
    assert "Hello" in agent.config().error
    assert "protocol" in agent.hello(protocol=9).error
    assert agent.hello().error == ""
    assert "kind" in agent.reply(agent.send()).error


def test_bad_config_changes_nothing(unit):
    agent = unit.agent()
    pool = agent.pb.Pool(address=b"\x0a\x2d\x00\x00", prefix_bits=16, interface=2)
    assert agent.config(pools=[pool]).error == ""
    for bad in (
        agent.pb.Pool(address=b"\x0a", prefix_bits=8, interface=2),
        agent.pb.Pool(address=b"\x0a\x2d\x00\x00", prefix_bits=40, interface=2),
        agent.pb.Pool(address=b"\x0a\x2d\x00\x00", prefix_bits=16, interface=9),
    ):
        assert "pools" in agent.config(pools=[bad]).error
    assert unit.ask("pools") == ["10.45.0.0/16 on n6"]


def test_sessions_come_change_and_go(unit):
    agent = unit.agent()
    assert agent.set(agent.session(5)).status == agent.pb.OK
    assert agent.set(agent.session(5, version=2, peer="192.0.2.3")).status == agent.pb.OK
    seen = unit.ask("session", 5)
    assert (seen["id"], seen["version"], seen["ue_ip4"]) == (5, 2, "10.45.0.5")
    assert len(seen["pdrs"]) == 2
    assert len(seen["urrs"]) == 1
    assert unit.ask("info")["sessions"] == 1
    assert unit.ask("peers") == ["192.0.2.3 port 2152 by n3, 1 uses"]
    result = agent.delete(5)
    assert result.status == agent.pb.OK
    assert [(r.urr_id, r.triggers) for r in result.reports] == [(1, agent.pb.TERMR)]
    with pytest.raises(telemetry.Refused, match="no such session"):
        unit.ask("session", 5)
    assert unit.ask("peers") == []
    assert agent.delete(5).status == agent.pb.UNKNOWN_SESSION
    assert agent.query(5).status == agent.pb.UNKNOWN_SESSION


def test_owner_is_what_the_schema_says(unit):
    agent = unit.agent()
    agent.set(agent.session(77))
    for what in ("10.45.0.77", f"0x{control.handle_of(77):08x}"):
        owner = unit.ask("owner", what)
        assert owner["bucket"] == control.bucket(control.ue_ip(77).packed)
        assert owner["worker"] == 0
        assert owner["handle"] == f"{control.handle_of(77):08x}"
    assert "handle" not in unit.ask("owner", "10.45.0.78")
    with pytest.raises(telemetry.Refused, match="'nobody' is neither an address nor a TEID"):
        unit.ask("owner", "nobody")


def test_failing_rule_leaves_the_old_version(unit):
    agent = unit.agent()
    agent.set(agent.session(6, peer="192.0.2.9"))
    bad = agent.session(6, version=2)
    bad.pdrs[1].far_id = 99
    result = agent.set(bad)
    assert result.status == agent.pb.RULE_FAILED
    assert (result.failed_kind, result.failed_id) == (agent.pb.RULE_PDR, 2)
    assert result.error != ""
    assert [(s.id, s.version) for s in agent.list().sessions] == [(6, 1)]
    assert unit.ask("peers") == ["192.0.2.9 port 2152 by n3, 1 uses"]
    assert agent.set(agent.session(6, version=1)).status == agent.pb.STALE
    assert agent.set(agent.session(6, version=3)).status == agent.pb.OK


def test_addresses_and_slots_are_one_session_s(unit):
    agent = unit.agent()
    agent.set(agent.session(8))
    twin = agent.session(8)
    twin.id = 9
    assert agent.set(twin).status == agent.pb.RULE_FAILED
    twin.handle += 1 << 8
    twin.tunnels[0].teid = twin.handle
    assert agent.set(twin).status == agent.pb.RULE_FAILED
    moved = agent.session(8, version=2)
    moved.handle += 1 << 8
    assert agent.set(moved).status == agent.pb.RULE_FAILED
    assert [s.id for s in agent.list().sessions] == [8]
    assert agent.delete(8).status == agent.pb.OK
    twin.handle, twin.tunnels[0].teid = control.handle_of(8), control.handle_of(8)
    assert agent.set(twin).status == agent.pb.OK


def test_operations_of_a_message_are_done_in_order(unit):
    agent = unit.agent()
    pb = agent.pb
    ops = [
        pb.Op(set=agent.session(1)),
        pb.Op(set=agent.session(1, version=2)),
        pb.Op(delete=pb.Delete(id=1)),
        pb.Op(delete=pb.Delete(id=1)),
        pb.Op(set=agent.session(1, version=1)),
        pb.Op(query=pb.Query(id=1)),
        pb.Op(),
    ]
    results = agent.apply(*ops)
    expected = [pb.OK, pb.OK, pb.OK, pb.UNKNOWN_SESSION, pb.OK, pb.OK, pb.RULE_FAILED]
    assert [r.status for r in results] == expected
    assert [r.triggers for r in results[5].reports] == [pb.IMMER]


def test_removed_urrs_are_reported(unit):
    agent = unit.agent()
    agent.set(agent.session(2))
    changed = agent.session(2, version=2, urr={"id": 3})
    for pdr in changed.pdrs:
        pdr.urr_ids[:] = [3]
    result = agent.set(changed)
    assert result.status == agent.pb.OK
    assert [(r.urr_id, r.triggers) for r in result.removed] == [(1, agent.pb.TERMR)]
    assert len(result.reports) == 0
    again = agent.session(2, version=3, urr={"id": 3}, query_all=True)
    for pdr in again.pdrs:
        pdr.urr_ids[:] = [3]
    result = agent.set(again)
    assert [(r.urr_id, r.triggers) for r in result.reports] == [(3, agent.pb.IMMER)]


def test_list_walks_in_chunks(unit):
    agent = unit.agent()
    numbers = [3, 1, 900, 70, 4000]
    agent.apply(*(agent.pb.Op(set=agent.session(n)) for n in numbers))
    first = agent.list(limit=2)
    assert ([s.id for s in first.sessions], first.more) == ([1, 3], True)
    second = agent.list(after=3, limit=2)
    assert ([s.id for s in second.sessions], second.more) == ([70, 900], True)
    last = agent.list(after=900, limit=2)
    assert ([s.id for s in last.sessions], last.more) == ([4000], False)


def test_many_sessions_and_their_results_in_several_replies(unit):
    agent = unit.agent()
    pb = agent.pb
    numbers = range(1, 3001)
    seqs = []
    for begin in range(0, len(numbers), 300):
        ops = [pb.Op(set=agent.session(n)) for n in numbers[begin : begin + 300]]
        seqs.append(agent.send(apply=pb.Apply(ops=ops)))
    for seq in seqs:
        assert {r.status for r in agent.reply(seq).result.results} == {pb.OK}
    results = agent.apply(*(pb.Op(delete=pb.Delete(id=n)) for n in numbers))
    assert len(results) == 3000
    assert {(r.status, len(r.reports)) for r in results} == {(pb.OK, 1)}
    assert unit.ask("info")["sessions"] == 0
    assert unit.ask("peers") == []


def test_limits_are_answered(make_unit):
    unit = make_unit("upf-limits", sessions=2)
    agent = unit.agent()
    results = [agent.set(agent.session(n)).status for n in (1, 2, 3)]
    assert results == [agent.pb.OK, agent.pb.OK, agent.pb.NO_RESOURCES]
    agent.delete(1)
    assert agent.set(agent.session(3)).status == agent.pb.OK


def test_a_second_agent_is_refused_while_the_first_lives(unit):
    first = unit.agent()
    first.set(first.session(11))
    newcomer = unit.agent(hello=False)
    refusal = f"another agent is connected, pid {os.getpid()}"
    assert newcomer.hello().error == refusal
    assert newcomer.config().error == refusal
    run = [AIRPATH, "run", str(unit.file)]
    again = unit.net.run(unit.ns, run, check=False)
    assert again.returncode != 0
    assert "another process listens" in again.stdout + again.stderr
    assert [s.id for s in first.list().sessions] == [11]
    assert unit.ask("info")["connections"] == 1
    # It is gone the moment its end closes, whatever of it was not read.
    newcomer, idle = unit.agent(hello=False), unit.agent(hello=False)
    first.send(list=first.pb.List(max=1))
    first.close()
    assert newcomer.hello().welcome.sessions == 1
    assert "another agent" in idle.hello().error


def test_next_agent_finds_the_sessions(unit):
    first = unit.agent()
    first.set(first.session(11))
    first.close()
    second = unit.agent()
    assert second.welcome.sessions == 1
    assert second.welcome.instance == first.welcome.instance
    assert [(s.id, s.version) for s in second.list().sessions] == [(11, 1)]
    assert second.set(second.session(11, version=2)).status == second.pb.OK


@pytest.mark.parametrize(
    "message",
    [b"\xff" * 50, b"\x08\x01\x22\xff\xff\x03", b"\x22\x00", bytes(MESSAGE_MAX + 1)],
    ids=["garbage", "cut off", "no seq", "oversize"],
)
def test_bad_messages_end_the_connection_alone(unit, message):
    agent = unit.agent()
    agent.set(agent.session(21))
    agent.socket.send(message)
    with pytest.raises(ConnectionResetError):
        agent.receive()
    assert [s.id for s in unit.agent().list().sessions] == [21]
    assert unit.ask("info")["bad_messages"] == 1


def test_events_are_sent_again_until_acknowledged(unit):
    agent = unit.agent()
    periodic = {"triggers": agent.pb.PERIO, "period_s": 1, "immediate_start": True}
    agent.set(agent.session(31, urr=periodic))
    event = agent.wait_event()
    assert (event.number, event.usage.id) == (1, 31)
    assert [(r.urr_id, r.triggers) for r in event.usage.reports] == [(1, agent.pb.PERIO)]
    agent.close()
    time.sleep(1.5)  # one more while nobody listens
    agent = unit.agent()
    assert [agent.wait_event().number, agent.wait_event().number] == [1, 2]
    agent.ack(2)
    agent.list()  # the acknowledgement was taken when this is answered
    agent.close()
    agent = unit.agent()
    assert agent.welcome.acked_event == 2
    assert agent.wait_event().number > 2


def test_usage_of_answers_is_kept_until_acknowledged(unit):
    agent = unit.agent()
    agent.set(agent.session(41))
    asked = agent.query(41)
    assert asked.told == 1
    agent.close()

    agent = unit.agent()
    assert agent.welcome.told == 1
    told = agent.wait_told()
    assert (told.number, told.id, list(told.reports)) == (1, 41, list(asked.reports))
    changed = agent.session(41, version=2, urr={"id": 3})
    for pdr in changed.pdrs:
        pdr.urr_ids[:] = [3]
    removed = agent.set(changed)
    assert (removed.told, len(removed.removed)) == (2, 1)
    agent.ack_told(1)
    assert agent.told == []  # its own answers it has
    agent.close()

    agent = unit.agent()
    assert agent.welcome.told == 2
    told = agent.wait_told()
    assert (told.number, list(told.reports), list(told.removed)) == (2, [], list(removed.removed))
    agent.ack_told(2)
    # The agent is killed before it reads.
    agent.send(apply=agent.pb.Apply(ops=[agent.pb.Op(delete=agent.pb.Delete(id=41))]))
    while unit.ask("info")["told_kept"] == 0:
        time.sleep(0.01)
    agent.close()

    agent = unit.agent()
    told = agent.wait_told()
    assert (told.number, told.id) == (3, 41)
    assert [(r.urr_id, r.triggers) for r in told.reports] == [(3, agent.pb.TERMR)]
    agent.ack_told(3)
    agent.close()
    assert unit.agent().welcome.told == 0


def test_stale_socket_is_replaced_and_a_live_one_is_not(unit):
    other = d.write(unit.folder / "other.yaml", "upf-other", **d_parts(unit))
    failed = subprocess.run(
        [str(AIRPATH), "run", str(other), "-t", "1"], capture_output=True, text=True, timeout=60
    )
    assert failed.returncode == 1
    assert "another process listens there" in failed.stderr
    assert unit.agent().list().more is False


def d_parts(unit) -> dict:
    """The unit's deployment but for its name."""
    import json

    parts = json.loads(unit.file.read_text())
    return {k: v for k, v in parts.items() if k not in ("name", "memory")}


def test_killed_unit_leaves_a_socket_that_the_next_replaces(make_unit):
    unit = make_unit("upf-killed")
    instance = unit.agent().welcome.instance
    subprocess.run(["kill", "-9", str(unit.airpath.pid)], check=True)
    assert unit.socket.exists()
    unit.airpath = Airpath(unit.net, unit.ns, unit.file)
    welcome = unit.agent().welcome
    assert welcome.instance != instance
    unit.airpath.stop()
    assert not unit.socket.exists()


def test_workers_share_the_buckets(make_unit):
    unit = make_unit("upf-two", workers=2)
    agent = unit.agent()
    assert agent.welcome.workers == 2
    assert set(agent.welcome.bucket_workers) == {0, 1}
    numbers = range(1, 257)
    results = agent.apply(*(agent.pb.Op(set=agent.session(n)) for n in numbers))
    assert {r.status for r in results} == {agent.pb.OK}
    workers = unit.ask("workers")
    expected = [
        sum(agent.welcome.bucket_workers[control.handle_of(n) >> 20] == k for n in numbers)
        for k in (0, 1)
    ]
    assert [workers[f"worker{k}"]["sessions"] for k in (0, 1)] == expected
    owner = unit.ask("owner", "10.45.0.200")
    assert owner["worker"] == agent.welcome.bucket_workers[owner["bucket"]]
    unit.airpath.stop()


def show(unit, *what):
    return subprocess.run(
        [str(AIRPATH), "show", *what, "--name", unit.name], capture_output=True, text=True
    )


def test_people_are_shown_sessions_and_owners(unit):
    agent = unit.agent()
    agent.apply(*(agent.pb.Op(set=agent.session(n)) for n in range(1, 301)))
    assert show(unit, "sessions").stdout.split() == [str(n) for n in range(1, 301)]
    assert "PDR 1 precedence 100" in show(unit, "session", "300").stdout
    assert '"sessions":300' in show(unit, "upf").stdout
    bucket = control.bucket(control.ue_ip(7).packed)
    assert f'"bucket":{bucket}' in show(unit, "owner", "10.45.0.7").stdout
    by_file = show(unit, "owner", "10.45.0.7", "--deployment", str(unit.file))
    assert by_file.stdout == f"bucket {bucket}, worker 0 of 1\n"
    missing = show(unit, "session", "999")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "no such session" in missing.stderr


def test_a_worker_is_on_one_lcore(tmp_path):
    file = tmp_path / "split.yaml"
    text = (ROOT / "deploy" / "upf.yaml").read_text()
    text = text.replace("lcores:\n", "lcores:\n  - {name: OTHER, cpu: 0}\n")
    file.write_text(text.replace("place:\n", "place:\n  - {node: upf.out_w0, lcore: OTHER}\n"))
    check = subprocess.run([str(AIRPATH), "check", str(file)], capture_output=True, text=True)
    assert check.returncode == 1
    assert "belong to one lcore" in check.stderr
