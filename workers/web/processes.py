"""Several processes of the site at one port. Each has a listener of its own, and the kernel shares connections out.

With one listener for all, whichever process wakes first takes every connection that waits: of 50 clients one process
was seen to serve 45. A connection to a process that has died waits at its listener, which is kept, for the next one.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from threading import Thread
from typing import Final

import uvicorn

from workers.clock import SystemClock
from workers.settings.environment import Settings
from workers.web.app import create_app

MAX_STARTS: Final = 3
SHORT_LIFE_SECONDS: Final = 10.0
"""A process that ends so many times within so many seconds of its start is not started again."""

_GRACE: Final = 10  # seconds for answers that are under way


class SiteStartFailed(Exception):
    """Processes of the site end as soon as they are started."""


def serve_site(settings: Settings, listener: socket.socket) -> None:
    """Answer at a listener until this process is told to end."""
    config = uvicorn.Config(
        create_app(settings),
        access_log=False,
        log_config=None,
        proxy_headers=False,  # the site reads them itself, as HALLMARK_WEB_PROXIES says
        server_header=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=_GRACE,
    )
    with suppress(KeyboardInterrupt):  # it has ended in order by then
        uvicorn.Server(config).run(sockets=[listener])


def serve_by_processes(settings: Settings, own: Sequence[socket.socket], died: Callable[[str], None]) -> None:
    """Answer with a process for each listener until Ctrl-C or SIGTERM; one that dies is started again, and `died` told.

    Raise SiteBroken when one ends `TRIES` times without having run for a while. Shows metrics of the first process at
    the port of the settings, of the second one at the next, and so on.
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    fleet = [_Place(_watched_at(settings, number), listener) for number, listener in enumerate(own)]
    try:
        while True:
            wait([place.process.sentinel for place in fleet])
            for place in fleet:
                if not place.process.is_alive():
                    code = place.process.exitcode
                    place.begin_again()
                    died(f"a process of the site ended with {code}; another one takes its place")
    except KeyboardInterrupt:
        pass
    finally:
        for place in fleet:
            place.process.terminate()
        for place in fleet:
            place.process.join(_GRACE + 1)
            place.process.kill()
        signal.signal(signal.SIGTERM, before)


class _Place:
    """A listener and the process that answers at it."""

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self._settings = settings
        self._listener = listener
        self._clock = SystemClock()
        self._short = 0
        self._begin()

    def begin_again(self) -> None:
        """Start another process after one that has ended."""
        lasted = self._clock.monotonic() - self._began
        self._short = self._short + 1 if lasted < SHORT_LIFE_SECONDS else 0
        if self._short >= MAX_STARTS:
            raise SiteStartFailed(
                f"a process of the site ended {MAX_STARTS} times within {SHORT_LIFE_SECONDS:.0f} s of its start"
            )
        self._begin()

    def _begin(self) -> None:
        self._began = self._clock.monotonic()
        self.process = multiprocessing.get_context("spawn").Process(
            target=_serve_while_wanted, args=(self._settings, self._listener)
        )
        self.process.start()


def _serve_while_wanted(settings: Settings, listener: socket.socket) -> None:
    """What a process does. It ends in order when the one that started it is gone, however that ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=follow, name="follow", daemon=True).start()
    serve_site(settings, listener)


def _watched_at(settings: Settings, number: int) -> Settings:
    host, _, port = settings.web_metrics.rpartition(":")
    return settings.model_copy(update={"web_metrics": f"{host}:{int(port) + number}"}) if port else settings
