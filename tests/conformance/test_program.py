# SPDX-License-Identifier: BSD-3-Clause
"""The program `airpath` beside what it forwards: files it writes, what it leaves behind."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from harness import deployment as d
from harness import netns
from harness.program import AIRPATH, ROOT

OLD = time.time() - 3600


@pytest.fixture(autouse=True)
def _able():
    if not netns.available():
        pytest.skip("EAL does not start here; run as root")


@pytest.fixture
def runtime():
    """A folder that EAL takes for /var/run: the others on this machine keep theirs. Its name is
    short, for sockets lie in it."""
    folder = tempfile.mkdtemp(prefix="ap-", dir="/tmp")
    yield Path(folder)
    shutil.rmtree(folder)


@pytest.fixture
def deployment(tmp_path):
    ports = [
        {"name": name, "preset": "null", "devargs": "no-rx=1", "framing": "raw"} for name in "ab"
    ]
    interfaces = [
        {"name": "a", "port": "a", "addresses": ["192.0.2.1/24"]},
        {"name": "b", "port": "b", "addresses": ["198.51.100.1/24"]},
    ]
    return d.write(
        tmp_path / "tidy.yaml",
        "tidy",
        ports=ports,
        upf=[{"name": "u", "socket": str(tmp_path / "s"), "interfaces": interfaces}],
        lcores=d.lcores("w"),
        place=[{"node": "u.*", "lcore": "w"}],
    )


def airpath(runtime, *command, **options) -> subprocess.CompletedProcess:
    environment = os.environ | {"RUNTIME_DIRECTORY": str(runtime)}
    return subprocess.run(
        [str(AIRPATH), *map(str, command)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        **options,
    )


@pytest.mark.parametrize("where", ["no/such/folder/out.json", "."])
def test_a_report_that_cannot_be_written_is_told_at_once(runtime, deployment, tmp_path, where):
    """A run without --seconds would last for ever."""
    file = tmp_path / where
    for command in (
        ("run", "--quiet", "--json", file, deployment),
        ("bench", "mac-build", "--seconds", "3600", "--json", file),
    ):
        done = airpath(runtime, *command)
        assert done.returncode == 1
        assert f"{file}: " in done.stderr
        assert done.stdout == ""


def test_a_run_that_does_not_start_leaves_the_last_report(runtime, deployment, tmp_path):
    report = tmp_path / "report.json"
    report.write_text("the last one, which is a little longer than nothing" * 1000)
    deployment.write_text(deployment.read_text().replace('"cpu": ', '"cpu": 9999'))
    assert airpath(runtime, "run", "--json", report, deployment).returncode == 1
    assert report.read_text().startswith("the last one")


def test_a_report_replaces_the_last_one(runtime, deployment, tmp_path):
    report = tmp_path / "report.json"
    report.write_text("x" * 1000000)
    done = airpath(runtime, "run", "--quiet", "--seconds", 0.2, "--json", report, deployment)
    assert done.returncode == 0, done.stderr
    text = report.read_text()
    assert text.startswith("{")
    assert "x" * 100 not in text


def listener(folder: Path, name: str = "dpdk_telemetry.v2") -> socket.socket:
    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    folder.mkdir(parents=True, exist_ok=True)
    one.bind(str(folder / name))
    one.listen()
    return one


def test_folders_of_processes_that_are_gone_are_removed(runtime, deployment):
    """Ours when it ends; of others those where nobody listens, unless they are just starting."""
    base = runtime / "dpdk"
    alive = listener(base / "airpath-alive")
    listener(base / "airpath-dead").close()
    listener(base / "airpath-two").close()
    second = listener(base / "airpath-two", "dpdk_telemetry.v2:1")
    listener(base / "airpath-young").close()
    listener(base / "other-dead").close()
    (base / "airpath-empty").mkdir()
    (base / "airpath-starting").mkdir()
    (base / "airpath-full").mkdir()
    (base / "airpath-full" / "config").touch()
    for name in ("alive", "dead", "two", "empty", "full"):
        os.utime(base / f"airpath-{name}", (OLD, OLD))
    os.utime(base / "other-dead", (OLD, OLD))
    with contextlib.closing(alive), contextlib.closing(second):
        done = airpath(runtime, "run", "--quiet", "--seconds", 0.2, deployment)
        assert done.returncode == 0, done.stderr
        left = {path.name for path in base.iterdir()}
        assert left == {
            "airpath-alive",
            "airpath-two",
            "airpath-young",
            "airpath-starting",
            "airpath-full",
            "other-dead",
        }
        assert [path.name for path in (base / "airpath-two").iterdir()] == ["dpdk_telemetry.v2:1"]


def test_a_killed_one_is_followed_by_its_namesake(runtime, deployment):
    """The folder it left is taken over, however old it is, and goes with the next."""
    folder = runtime / "dpdk" / "airpath-tidy"
    listener(folder).close()
    os.utime(folder, (OLD, OLD))
    assert airpath(runtime, "run", "--quiet", "--seconds", 0.2, deployment).returncode == 0
    assert not folder.exists()


@pytest.mark.parametrize(
    ("total", "free", "kib", "said", "advice"),
    [
        (0, 0, 2048, 0, 320),
        (2048, 100, 2048, 200, 2268),  # those of others stay where they are
        (0, 0, 1048576, 0, 1),
    ],
)
def test_without_hugepages_it_runs_and_says_how_many_are_enough(
    runtime, deployment, tmp_path, total, free, kib, said, advice
):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(
        f"HugePages_Total: {total}\nHugePages_Free: {free}\nHugepagesize: {kib} kB\n"
    )
    as_if = f'mount --bind "{meminfo}" /proc/meminfo && exec "$@"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", as_if, "sh", AIRPATH, "run", "--seconds", "0.1", deployment],
        env=os.environ | {"RUNTIME_DIRECTORY": str(runtime)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert f"warning: {said} MB of free hugepages, this deployment wants 512" in done.stderr
    assert f"sysctl vm.nr_hugepages={advice}\n" in done.stderr
    assert ", no hugepages\n" in done.stderr


def test_check_reads_the_tables_of_power(runtime, deployment):
    """One that is not there, or is none, is not left for `run` to find."""
    parts = json.loads(deployment.read_text())

    def check(table: Path) -> subprocess.CompletedProcess:
        power = [{"name": "eco", "backend": "model", "table": str(table)}]
        file = d.write(deployment, **parts, power=power)
        return airpath(runtime, "check", file)

    good = ROOT / "deploy" / "power" / "xeon-gold-5418y.yaml"
    assert check(good).returncode == 0
    for table, why in (("nowhere.yaml", "cannot be opened"), (deployment.name, "Unexpected key")):
        done = check(table)
        assert done.returncode == 1
        lines = deployment.read_text().splitlines()
        at = next(i for i, line in enumerate(lines, 1) if '"table"' in line)
        assert done.stderr.startswith(f"{deployment}:{at}: power eco: table: "), done.stderr
        assert why in done.stderr
