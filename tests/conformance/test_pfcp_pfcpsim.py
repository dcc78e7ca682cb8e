# SPDX-License-Identifier: BSD-3-Clause
"""pfcpsim, an SMF by others, against the agent: it chooses F-TEIDs itself, and so is let."""

import time

import pytest
from harness.capture import judge
from harness.program import AIRPATH
from harness.upf import GNB, N3
from harness.wait import until

FOLDER = AIRPATH.with_name("pfcpsim")
N4 = "127.0.0.8"  # pfcpsim has 127.0.0.1:8805
SERVER = "127.0.0.1:54321"
COUNT = 10
PATIENCE = 4  # s; after 5 it says that it restarted, and its sessions are deleted


@pytest.fixture
def simulated(make_upf):
    if not (FOLDER / "pfcpctl").exists():
        pytest.fail(f"{FOLDER} is not built: make build")
    unit = make_upf(cp_fteid=True, n4=N4)
    capture = unit.folder / "pfcpsim.pcap"
    said = unit.folder / "tcpdump.log"
    with said.open("w") as out:
        tcpdump = unit.net.popen(
            unit.ns,
            [
                "tcpdump",
                "-i",
                "lo",
                "-U",
                "--immediate-mode",
                "-Z",
                "root",
                "-w",
                str(capture),
                "udp",
                "port",
                "8805",
            ],
            stderr=out,
        )
    until(lambda: "listening on lo" in said.read_text())
    yield unit
    tcpdump.terminate()
    tcpdump.wait(5)
    count, problems = judge(capture, "pfcp")
    assert problems == []
    assert count > 2 * 3 * COUNT


class Sim:
    """A pfcpsim and what pfcpctl says to it."""

    def __init__(self, unit):
        self.unit = unit
        with (unit.folder / "pfcpsim.log").open("a") as log:
            command = [str(FOLDER / "pfcpsim"), "-i", "lo"]
            self._child = unit.net.popen(unit.ns, command, stdout=log, stderr=log)
        until(lambda: "configured" in self.ctl("service", "configure", "-r", N4, "-n", N3))

    def ctl(self, *command: str) -> str:
        done = self.unit.net.run(
            self.unit.ns,
            [str(FOLDER / "pfcpctl"), "-s", SERVER, *command],
            check=False,
            timeout=30,
        )
        return done.stdout + done.stderr

    def end(self) -> None:
        self._child.terminate()
        self._child.wait(5)


def life_of_sessions(unit, ctl) -> None:
    assert "Association established" in ctl("service", "associate")
    rules = ["--count", str(COUNT), "--baseID", "1", "--ue-pool", "10.45.0.0/24"]
    rules += ["--gnb-addr", GNB, "--app-filter", "udp:192.0.2.0/24:80-88:allow:100"]
    rules += ["--app-filter", "ip:any:any:allow:200", "--qfi", "9"]
    assert f"{COUNT} sessions were established" in ctl("session", "create", *rules)
    sessions = unit.agent.sessions()
    assert len(sessions) == COUNT
    assert {one["pdrs"] for one in sessions} == {4}
    assert f"{COUNT} sessions were modified" in ctl("session", "modify", *rules)
    shown = unit.agent.show(sessions[0]["up_seid"])
    assert {far["Action"] for far in shown["far_rules"]} == {2}
    assert f"{COUNT} sessions were modified" in ctl("session", "modify", "--buffer", *rules)
    assert f"{COUNT} sessions deleted" in ctl("session", "delete", *rules[:4])
    assert unit.agent.sessions() == []
    assert "teardown completed" in ctl("service", "disassociate")


def test_pfcpsim(simulated):
    for attempt in range(4):
        sim, start = Sim(simulated), time.monotonic()
        try:
            life_of_sessions(simulated, sim.ctl)
            return
        except AssertionError:
            if attempt == 3 or time.monotonic() < start + PATIENCE:
                raise
        finally:
            sim.end()
