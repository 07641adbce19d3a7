"""A relay's place inside a box: a listener in the box's own network namespace, handed out before the command starts."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from crawler.sandbox.boxes import bubblewrap
from crawler.sandbox.boxes.box import Box
from crawler.sandbox.boxes.egress_relay import PORT, AllowedEndpoints, EgressRelay
from crawler.sandbox.boxes.process_tree import ContainedProcess
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.failure_messages import find_last_error_line
from crawler.sandbox.kernel.user_ids import Identity
from evidence.canonical import Json

_OPEN: Final = f"""
import os, socket, sys
listener = socket.socket()
listener.bind(("127.0.0.1", {PORT}))
listener.listen(256)
channel = socket.socket(fileno=int(sys.argv[1]))
socket.send_fds(channel, [b"x"], [listener.fileno()])
channel.close()
listener.close()
os.execvp(sys.argv[2], sys.argv[2:])
"""
_PROXY: Final = f"http://127.0.0.1:{PORT}"
PROXY_ENVIRONMENT: Final[Mapping[str, str]] = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _PROXY),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), ""),
}
"""Variables that lead programs to the relay."""


def listen_before(channel: int, command: Sequence[str]) -> list[str]:
    """`command`, after a listener was opened and sent over the descriptor `channel`."""
    return ["/usr/bin/python3", "-I", "-S", "-c", _OPEN, str(channel), *command]


def receive_listener(channel: socket.socket) -> socket.socket | None:
    """The listener, once the box has opened it; None when it ended before. Blocks for ten seconds at most."""
    channel.settimeout(10.0)
    try:
        _, handles, _, _ = socket.recv_fds(channel, 1, 1)
    except OSError:
        return None
    return socket.socket(fileno=handles[0]) if handles else None


@dataclass(frozen=True, slots=True)
class RelayedBubblewrap:
    """bubblewrap with a way out to named hosts, over TLS; only ever made because a person named them.

    Its name is none of `CONTAINING`: what a server does there may stay, so no tool that writes is tried and no
    placeholder is handed out.
    """

    doors: AllowedEndpoints
    name: str = field(default="bubblewrap, network", init=False)

    async def start(
        self, box: Box, command: Sequence[str], identity: Identity, *, facts: Mapping[str, Json] | None = None
    ) -> ContainedProcess:
        """Start `command` in `box`; raises SandboxError when the box or the way out cannot be had."""
        environment = {**PROXY_ENVIRONMENT, "NODE_USE_ENV_PROXY": "1", **box.environment}
        noted: dict[str, Json] = {**(facts or {}), "network": _named(self.doors)}
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                contained = await bubblewrap.start_in_box(
                    replace(box, environment=environment),
                    listen_before(theirs.fileno(), command),
                    identity,
                    facts=noted,
                    inherited=(theirs.fileno(),),
                    runtime=self.name,
                )
            relay = EgressRelay(self.doors)
            contained.after_stop(relay.close)
            try:
                listener = await asyncio.to_thread(receive_listener, ours)
                if listener is None:
                    end = await contained.stop()
                    raise SandboxError(f"the box opened no door to the network: {find_last_error_line(end.stderr)}")
                await relay.serve(listener)
            except BaseException:
                await contained.stop()
                raise
        return contained


def _named(doors: AllowedEndpoints) -> list[str]:
    return sorted(f"{one.host}:{one.port}" for one in doors.configured | doors.learned)
