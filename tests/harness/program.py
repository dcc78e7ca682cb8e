# SPDX-License-Identifier: BSD-3-Clause
"""The program under test: build/airpath with a deployment, and what it says when it stops."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from harness.netns import Net

ROOT = Path(__file__).resolve().parents[2]
AIRPATH = Path(os.environ.get("AIRPATH", ROOT / "build" / "airpath"))


started: list["Airpath"] = []  # by the test that runs
watched: dict[str, Callable[[], str]] = {}  # logs of what serves several tests


class Airpath:
    """`airpath run` of one deployment inside a namespace."""

    def __init__(self, net: Net, ns: str, deployment: Path, *options: str):
        self._report = deployment.with_suffix(".json")
        self._log = deployment.with_suffix(".log")
        command = [str(AIRPATH), "run", str(deployment), "--json", str(self._report), *options]
        with self._log.open("w") as log:
            self._child = net.popen(ns, command, stdout=log, stderr=subprocess.STDOUT)
        started.append(self)
        self._wait_running()

    def end_and_log(self) -> str:
        """For a test that failed: the counters tell where packets went."""
        if self._child.poll() is None:
            self._child.send_signal(signal.SIGINT)
            try:
                self._child.wait(10)
            except subprocess.TimeoutExpired:
                return self.log() + "\n(does not stop)"
        return self.log()

    @property
    def pid(self) -> int:
        return self._child.pid

    def log(self) -> str:
        return self._log.read_text()

    def _wait_running(self, timeout: float = 30) -> None:
        until = time.monotonic() + timeout
        while " lcores, " not in self.log():  # the banner comes when the workers run
            if self._child.poll() is not None:
                raise RuntimeError(
                    f"airpath run ended with {self._child.returncode}:\n{self.log()}"
                )
            if time.monotonic() > until:
                raise TimeoutError(f"airpath run does not come up:\n{self.log()}")
            time.sleep(0.05)

    def kill(self) -> None:
        """kill -9: no report, no cleaning up."""
        self._child.kill()
        self._child.wait()

    def stop(self) -> dict:
        """Ends it as a person would, with SIGINT. @return its report, accounting checked."""
        self._child.send_signal(signal.SIGINT)
        return self.wait()

    def wait(self, timeout: float = 30) -> dict:
        code = self._child.wait(timeout)
        if code != 0:
            raise AssertionError(f"airpath run ended with {code}:\n{self.log()}")
        report = json.loads(self._report.read_text())
        check_accounting(report)
        return report


def check_accounting(report: dict) -> None:
    """rx = tx + held + drops for the whole, and the like at every node."""
    assert report["nodes"], "a report without nodes proves nothing"
    assert report["rx"] == report["tx"] + report["held"] + report["drops"]
    for node in report["nodes"]:
        came = node["in"] + node["made"]
        went = node["out"] + node["used"] + sum(node["drops"].values()) + node["held"]
        assert came == went, f"{node['node']}: {came} packets came, {went} are accounted for"
    assert report["balanced"]


# Slots that a lcore without a CPU never heard of: no packet of anybody's.
NO_CPU = ("phy_slot_no_mbuf",)


def drops(report: dict) -> dict[str, int]:
    """Every drop that happened: `role.node.reason` → packets."""
    return {
        f"{node['node']}.{reason}": count
        for node in report["nodes"]
        for reason, count in node["drops"].items()
        if count
    }
