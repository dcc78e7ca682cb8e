# SPDX-License-Identifier: BSD-3-Clause
import pytest
from harness import netns
from harness.edge import Edge
from harness.fixtures import make_upf, smf, stranger, upf  # noqa: F401
from harness.program import AIRPATH
from harness.stack import Stack


@pytest.fixture
def stack(tmp_path):
    """Makes a Stack; it is gone when the test ends, however it ends."""
    if not AIRPATH.exists():
        pytest.fail(f"{AIRPATH} is not built: make build")
    if not netns.available():
        pytest.skip("no right to make network namespaces here; run as root")
    made: list[Stack] = []

    def make(**options) -> Stack:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Stack(folder, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def edge(tmp_path):
    """Makes an Edge; as stack()."""
    if not netns.available():
        pytest.skip("no right to make network namespaces here; run as root")
    made: list[Edge] = []

    def make(**options) -> Edge:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Edge(folder, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()
