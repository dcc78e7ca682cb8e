# SPDX-License-Identifier: BSD-3-Clause
"""A thread that serves sockets and devices, and lets go of them before they are closed.

A thread that waits in recv() does not notice that its socket is closed: the number may be another
socket's by the time the call goes on (a stopped process, a frozen machine), and what comes there is
taken from its owner. So nobody waits for a descriptor itself here, and none is closed while it is
served.
"""

import errno
import os
import select
import sys
import threading
from collections.abc import Callable


class Server:
    """Calls what belongs to a descriptor whenever it can be read, all from one thread."""

    def __init__(self):
        self._serve: dict[int, Callable[[], None]] = {}
        self._lock = threading.RLock()  # held while one is served
        self._epoll = select.epoll()
        self._wake = os.eventfd(0)
        self._epoll.register(self._wake, select.EPOLLIN)
        self._closing = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, fd: int, serve: Callable[[], None]) -> None:
        """`serve` must not wait for anything to read. An OSError that it throws is only printed."""
        with self._lock:
            self._serve[fd] = serve
            self._epoll.register(fd, select.EPOLLIN)

    def remove(self, fd: int) -> None:
        """When this returns `fd` is not served any more, and may be closed."""
        with self._lock:
            if self._serve.pop(fd, None) is not None and not self._epoll.closed:
                self._epoll.unregister(fd)

    def close(self) -> None:
        """When this returns nothing is served any more."""
        if self._closing:
            return
        self._closing = True
        os.eventfd_write(self._wake, 1)
        self._thread.join()
        self._epoll.close()
        os.close(self._wake)

    def _run(self) -> None:
        while not self._closing:
            for fd, _ in self._epoll.poll():
                with self._lock:
                    serve = self._serve.get(fd)
                    if serve is None:
                        continue
                    try:
                        serve()
                    except (BlockingIOError, ConnectionRefusedError):
                        pass
                    except OSError as error:
                        print(f"not served: {error!r}", file=sys.stderr)
                        if error.errno == errno.EBADFD:  # a device that is gone
                            self.remove(fd)
