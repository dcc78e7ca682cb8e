# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for what comes, however slow the machine is."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(found: Callable[[], T], timeout: float = 30, seen: Callable[[], object] = str) -> T:
    """@return what `found` returned when it was true at last; `seen` tells what there was instead.
    @throws TimeoutError"""
    give_up = time.monotonic() + timeout
    while not (last := found()):
        if time.monotonic() > give_up:
            raise TimeoutError(f"it did not come in {timeout} s: {seen()}")
        time.sleep(0.02)
    return last
