# SPDX-License-Identifier: BSD-3-Clause
import pytest
from harness.fixtures import make_upf, smf, stranger, upf  # noqa: F401
from harness.netns import Net, available
from harness.program import AIRPATH


@pytest.fixture(scope="session", autouse=True)
def _able():
    if not AIRPATH.exists():
        pytest.fail(f"{AIRPATH} is not built: make build")
    if not available():
        pytest.skip("no right to make network namespaces here; run as root")


@pytest.fixture
def net():
    with Net() as net:
        yield net
