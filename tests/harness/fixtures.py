# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the tests that need a UPF."""

import contextlib

import pytest

from harness import netns
from harness.agent import AGENT
from harness.pfcp import Smf, Unanswered
from harness.program import AIRPATH
from harness.upf import Upf


@contextlib.contextmanager
def making(tmp_path_factory):
    """@return what makes UPFs. At the end those that live are stopped: then their books must
    balance, and tshark have nothing to object to."""
    for program in (AIRPATH, AGENT):
        if not program.exists():
            pytest.fail(f"{program} is not built: make build")
    if not netns.available():
        pytest.skip("no right to make network namespaces here; run as root")
    made: list[Upf] = []

    def make(**options) -> Upf:
        made.append(Upf(tmp_path_factory.mktemp("upf"), **options))
        return made[-1]

    with contextlib.ExitStack() as stack:
        stack.callback(lambda: [upf.close() for upf in made])
        yield make
        for upf in made:
            if not upf.closed:
                upf.stop()


@pytest.fixture
def make_upf(tmp_path_factory):
    """UPFs of one test."""
    with making(tmp_path_factory) as make:
        yield make


@pytest.fixture(scope="module")
def upf(tmp_path_factory):
    """One for all tests of a module."""
    with making(tmp_path_factory) as make:
        yield make()


@pytest.fixture
def smf(upf):
    """An SMF with an association; the agent still lives when the test is done."""
    made = upf.smf()
    made.associate()
    yield made
    made.heartbeat()
    with contextlib.suppress(AssertionError, Unanswered):
        made.release()
    made.close()


@pytest.fixture
def stranger(upf) -> Smf:
    """An SMF without association."""
    return upf.smf()
