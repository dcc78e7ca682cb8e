# SPDX-License-Identifier: BSD-3-Clause
"""Takes the CPU from one thread of a process, as a neighbour with more right to it does."""

import contextlib
import ctypes
import os
from pathlib import Path

_ATTACH, _DETACH, _WALL = 16, 17, 0x40000000  # of Linux's ptrace(2) and waitpid(2)
_libc = ctypes.CDLL(None, use_errno=True)


def thread(pid: int, name: str) -> int | None:
    """@return the id of the thread of a process that is called so, if it is there by now"""
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            if (task / "comm").read_text().strip() == name:
                return int(task.name)
    return None


def _ptrace(request: int, tid: int) -> None:
    if _libc.ptrace(request, tid, None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")


@contextlib.contextmanager
def frozen(tid: int):
    """The thread stands still in here; the others of its process run on."""
    _ptrace(_ATTACH, tid)
    os.waitpid(tid, _WALL)
    try:
        yield
    finally:
        _ptrace(_DETACH, tid)
