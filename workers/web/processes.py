"""Several processes of the site at one port. Each has its own listener, and the kernel distributes connections.

With one shared listener the process that wakes first takes all waiting connections: one process was observed to serve
45 of 50 clients. The listener of a process that dies is kept, so its waiting connections go to the next process.
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
from msgspec.structs import replace

from workers.clock import SystemClock
from workers.settings.environment import Settings
from workers.web.app import create_app

MAX_STARTS: Final = 3
SHORT_LIFE_SECONDS: Final = 10.0
"""A process that ends MAX_STARTS times within SHORT_LIFE_SECONDS of its start is not started again."""

_GRACE: Final = 10  # seconds for responses in progress


class SiteStartFailed(Exception):
    """Processes of the site end soon after their start."""


def serve_site(settings: Settings, listener: socket.socket) -> None:
    """Serve the site at a listener until SIGINT or SIGTERM."""
    config = uvicorn.Config(
        create_app(settings),
        access_log=False,
        log_config=None,
        proxy_headers=False,  # the site reads them itself, as HALLMARK_WEB_PROXIES says
        server_header=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=_GRACE,
    )
    with suppress(KeyboardInterrupt):  # the server has shut down by then
        uvicorn.Server(config).run(sockets=[listener])


def serve_by_processes(settings: Settings, listeners: Sequence[socket.socket], died: Callable[[str], None]) -> None:
    """Serve with one process per listener until SIGINT or SIGTERM; restart a process that dies, and call `died`.

    Raise SiteStartFailed when a process dies MAX_STARTS times soon after its start. The metrics of the first process
    are at the port of the settings, those of the second at the next port, and so on.
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    fleet = [_Server(_with_metrics_port(settings, number), listener) for number, listener in enumerate(listeners)]
    try:
        while True:
            wait([server.process.sentinel for server in fleet])
            for server in fleet:
                if not server.process.is_alive():
                    code = server.process.exitcode
                    server.restart()
                    died(f"a process of the site ended with exit code {code} and was restarted")
    except KeyboardInterrupt:
        pass
    finally:
        for server in fleet:
            server.process.terminate()
        for server in fleet:
            server.process.join(_GRACE + 1)
            server.process.kill()
        signal.signal(signal.SIGTERM, before)


class _Server:
    """A listener and the process that serves it."""

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self._settings = settings
        self._listener = listener
        self._clock = SystemClock()
        self._short_lives = 0
        self._start()

    def restart(self) -> None:
        lifetime = self._clock.monotonic() - self._started
        self._short_lives = self._short_lives + 1 if lifetime < SHORT_LIFE_SECONDS else 0
        if self._short_lives >= MAX_STARTS:
            raise SiteStartFailed(
                f"a process of the site ended {MAX_STARTS} times within {SHORT_LIFE_SECONDS:.0f} s of its start"
            )
        self._start()

    def _start(self) -> None:
        self._started = self._clock.monotonic()
        self.process = multiprocessing.get_context("spawn").Process(
            target=_serve_while_parent_lives, args=(self._settings, self._listener)
        )
        self.process.start()


def _serve_while_parent_lives(settings: Settings, listener: socket.socket) -> None:
    """Serve the site, and shut down when the parent process has ended in any way."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=follow, name="follow", daemon=True).start()
    serve_site(settings, listener)


def _with_metrics_port(settings: Settings, number: int) -> Settings:
    host, _, port = settings.web_metrics.rpartition(":")
    return replace(settings, web_metrics=f"{host}:{int(port) + number}") if port else settings
