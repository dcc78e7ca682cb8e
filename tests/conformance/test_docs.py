# SPDX-License-Identifier: BSD-3-Clause
"""docs/conformance.md names tests; each must exist."""

import re

import pytest
from harness.program import ROOT

PAGE = (ROOT / "docs" / "conformance.md").read_text()
NAMED = sorted(set(re.findall(r"`((?:\w+/)?\w+_test|\w+\.py): (\w+)`", PAGE)))


@pytest.mark.parametrize(("file", "test"), NAMED, ids=lambda v: str(v))
def test_named_test_exists(file, test):
    python = file.endswith(".py")
    found = [
        p
        for p in ROOT.glob("**/" + (file if python else file + ".c"))
        if not p.relative_to(ROOT).parts[0].startswith((".", "build"))
    ]
    assert found, f"{file} is in no folder"
    texts = "".join(p.read_text() for p in found)
    assert re.search(rf"\b(?:def )?{test}\b", texts), f"{file} has no {test}"


def test_the_page_names_tests():
    assert len(NAMED) > 40
