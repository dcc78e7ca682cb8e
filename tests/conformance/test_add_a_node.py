# SPDX-License-Identifier: BSD-3-Clause
"""docs/add-a-node.md, done to a copy of the tree."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from harness.program import ROOT

PAGE = ROOT / "docs" / "add-a-node.md"
FENCE = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.M | re.S)


def copy_tree(to: Path) -> None:
    skip = shutil.ignore_patterns("build*", ".git", ".venv", "out", "__pycache__", "corpus")
    shutil.copytree(ROOT, to, ignore=skip)


@pytest.mark.slow
def test_the_page_is_right(tmp_path):
    tree = tmp_path / "airpath"
    copy_tree(tree)
    built = False
    for language, name, text in FENCE.findall(PAGE.read_text()):
        if name:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        elif language == "sh":
            if "build/airpath" in text and not built:
                options = ["-Dtests=false", "-Dbuildtype=plain", "-Doptimization=0"]
                sh(tree, "meson setup build " + " ".join(options) + " && ninja -C build")
                built = True
            sh(tree, text)
    assert built, "the page runs what it builds"


def sh(tree: Path, text: str) -> None:
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", text], cwd=tree, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{text}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
