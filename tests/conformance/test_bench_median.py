# SPDX-License-Identifier: BSD-3-Clause
"""bench/median.py: several runs of a bench become one document."""

import json
import subprocess
import sys
from pathlib import Path

MEDIAN = Path(__file__).resolve().parents[2] / "bench" / "median.py"


def merge(folder: Path, *runs: list[dict]) -> subprocess.CompletedProcess:
    files = []
    for i, rows in enumerate(runs):
        files.append(folder / f"{i}.json")
        files[-1].write_text(json.dumps({"bench": "upf", "host": {"cores": 2}, "rows": rows}))
    command = [sys.executable, MEDIAN, folder / "out.json", *files]
    return subprocess.run(command, capture_output=True, text=True)


def row(mpps, lost=0, sessions=6000, limit="worker") -> dict:
    return {"sessions": sessions, "limit": limit, "mpps": mpps, "lost": lost, "dpi": False}


def test_median_least_and_most(tmp_path):
    done = merge(tmp_path, [row(8.0)], [row(9.5, lost=3)], [row(7.0, limit="generator")])
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "out.json").read_text())
    (merged,) = document["rows"]
    assert merged == {
        **row(8.0, lost=3),
        "mpps_min": 7.0,
        "mpps_max": 9.5,
        "runs": 3,
    }
    assert document["host"] == {"cores": 2}


def test_a_run_without_a_figure_does_not_count_as_0(tmp_path):
    assert merge(tmp_path, [row(None)], [row(6.0)], [row(8.0)]).returncode == 0
    (merged,) = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert (merged["mpps"], merged["mpps_min"]) == (7.0, 6.0)


def test_runs_of_different_settings_are_refused(tmp_path):
    for other in ([row(8.0, sessions=600000)], [row(8.0), row(9.0)]):
        done = merge(tmp_path, [row(8.0)], other)
        assert done.returncode != 0
        assert "1.json: not the same bench and rows" in done.stderr
