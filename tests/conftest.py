# SPDX-License-Identifier: BSD-3-Clause
import pytest
from harness import program


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """What the program said stands under a test that failed."""
    report = yield
    if report.when == "call":
        for number, one in enumerate(program.started):
            if report.failed:
                report.sections.append((f"airpath {number}", one.end_and_log()))
        program.started.clear()
    if report.failed:
        for name, log in program.watched.items():
            report.sections.append((name, log()))
    return report
