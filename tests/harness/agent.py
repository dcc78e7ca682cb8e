# SPDX-License-Identifier: BSD-3-Clause
"""build/airpath-n4 under test: its configuration, its life, and what its commands say."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from harness import program
from harness.netns import Net

N4 = "127.0.0.7"
POOL, POOL_6 = "10.45.0.0/16", "2001:db8:45::/48"
AGENT = Path(os.environ.get("AIRPATH_N4", program.AIRPATH.with_name("airpath-n4")))


def config(
    folder: Path,
    socket: Path,
    *,
    n4: str = N4,
    cp_fteid: bool = False,
    peers: list[str] | None = None,
    associate: list[str] | None = None,
    heartbeat_s: int | None = None,
    echo: dict | None = None,
    metrics: str | None = None,
    instances: tuple[str, ...] = ("internet",),
    agent: dict | None = None,
) -> dict:
    """`peers`: the only ones; `associate`: peers to which it sets the association up; `echo`: keys
    of gtpu; `metrics`: ADDRESS:PORT; `agent`: further keys."""
    listed = [{"address": a} for a in peers or []]
    listed += [{"address": a, "associate": True} for a in associate or []]
    return {
        "n4": {
            "addresses": [n4],
            "node_id": n4,
            "t1_ms": 1000,
            **({"peers": listed} if listed else {}),
            **({"heartbeat_interval_s": heartbeat_s} if heartbeat_s else {}),
        },
        "units": [{"name": "unit", "socket": str(socket)}],
        "pools": [
            {"network_instance": name, "prefix": prefix}
            for name in instances
            for prefix in (POOL, POOL_6)
        ],
        "cp_fteid": "allow" if cp_fteid else "refuse",
        **({"gtpu": echo} if echo else {}),
        **({"metrics": metrics} if metrics else {}),
        "store": str(folder / "n4.db"),
        "control": str(folder / "n4.sock"),
        **(agent or {}),
    }


class Agent:
    """`airpath-n4 run` in a namespace, with a store of its own."""

    def __init__(self, net: Net, ns: str, folder: Path, socket: Path, **options):
        """`options`: of config(). Returns when it has its forwarding unit."""
        self.net, self.ns = net, ns
        self._log = folder / "agent.log"
        self._control = str(folder / "n4.sock")
        file = folder / "agent.yaml"
        # JSON is YAML, and needs no library to write.
        file.write_text(json.dumps(config(folder, socket, **options), indent=1) + "\n")
        with self._log.open("a") as log:
            self._child = net.popen(
                ns, [str(AGENT), "run", "-c", str(file)], stdout=log, stderr=subprocess.STDOUT
            )
        self._wait_running()

    def _wait_running(self, timeout: float = 15) -> None:
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            if not self.lives():
                raise RuntimeError(f"airpath-n4 ended with {self._child.returncode}:\n{self.log()}")
            done = self._run("status", "--json")
            if done.returncode == 0 and all(
                u["connected"] for u in json.loads(done.stdout)["units"]
            ):
                return
            time.sleep(0.05)
        raise TimeoutError(f"airpath-n4 does not come up:\n{self.log()}")

    def _run(self, *command: str) -> subprocess.CompletedProcess:
        return self.net.run(self.ns, [str(AGENT), *command, "--socket", self._control], check=False)

    def say(self, *command: str) -> str:
        """What a command of airpath-n4 prints."""
        done = self._run(*command)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def applications(self) -> dict:
        return json.loads(self.say("applications", "list", "--json"))

    def sessions(self) -> list[dict]:
        return json.loads(self.say("sessions", "list", "--json"))

    def show(self, seid: int) -> dict:
        return json.loads(self.say("sessions", "show", str(seid)))

    def log(self) -> str:
        return self._log.read_text()

    @property
    def pid(self) -> int:
        return self._child.pid

    def lives(self) -> bool:
        return self._child.poll() is None

    def kill(self) -> None:
        self._child.kill()
        self._child.wait()

    def stop(self) -> None:
        self._child.send_signal(signal.SIGTERM)
        assert self._child.wait(10) == 0, self.log()
