# SPDX-License-Identifier: BSD-3-Clause
"""docs/conformance.md names tests; each must exist, and what is done must name one."""

import re

import pytest
from harness.program import ROOT

PAGE = (ROOT / "docs" / "conformance.md").read_text()
# `pdcp_rx_test: name` is a C test, `test_gtpu.py: name` one of pytest, `control/n4/cache_test.go:
# TestName` one of Go.
NAMED = sorted(set(re.findall(r"`((?:[\w./-]+/)?(?:\w+_test|\w+\.py|\w+_test\.go)): (\w+)`", PAGE)))
DECLARATION = {".c": r"\b{}\b", ".py": r"\bdef {}\b", ".go": r"\bfunc {}\b"}


def rows():
    """Rows of the tables as (section, clause, state, tests)."""
    section = ""
    for line in PAGE.splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 4 and cells[0] != "clause" and not cells[0].startswith("---"):
            yield section, cells[0], cells[2], cells[3]


@pytest.mark.parametrize(("file", "test"), NAMED, ids=lambda v: str(v))
def test_named_test_exists(file, test):
    name = file if file.endswith((".py", ".go")) else file + ".c"
    found = [
        p
        for p in ROOT.glob("**/" + name)
        if not p.relative_to(ROOT).parts[0].startswith((".", "build"))
    ]
    assert found, f"{file} is in no folder"
    declared = DECLARATION[found[0].suffix].format(test)
    assert any(re.search(declared, p.read_text()) for p in found), f"{file} has no {test}"


@pytest.mark.parametrize(
    ("section", "clause", "tests"),
    [(s, c, t) for s, c, state, t in rows() if state.startswith("done")],
    ids=lambda v: str(v)[:40],
)
def test_done_names_its_test(section, clause, tests):
    named = re.findall(r"`([^`]+)`", tests)
    assert named, f"{section}, {clause}: done, and no test named"
    for each in named:
        assert re.fullmatch(r"[\w./-]+: \w+", each), f"{section}, {clause}: {each!r} is no test"


def test_the_page_names_tests():
    assert len(NAMED) > 40
