"""A relay's place inside a box: a listener in the box's own network namespace, handed out before the command starts."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from crawler.wire.sandbox.boxes import bubblewrap
from crawler.wire.sandbox.boxes.box import Box
from crawler.wire.sandbox.boxes.process import Contained
from crawler.wire.sandbox.boxes.relay import PORT, Doors, Relay
from crawler.wire.sandbox.errors import SandboxError
from crawler.wire.sandbox.failure import last_words
from crawler.wire.sandbox.kernel.identity import Identity
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
PROXIED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _PROXY),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), ""),
}
"""Variables that lead programs to the relay."""


def through(channel: int, command: Sequence[str]) -> list[str]:
    """`command`, after a listener was opened and sent over the descriptor `channel`."""
    return ["/usr/bin/python3", "-I", "-S", "-c", _OPEN, str(channel), *command]


def received(channel: socket.socket) -> socket.socket | None:
    """The listener, once the box has opened it; None when it ended before. Blocks for ten seconds at most."""
    channel.settimeout(10.0)
    try:
        _, handles, _, _ = socket.recv_fds(channel, 1, 1)
    except OSError:
        return None
    return socket.socket(fileno=handles[0]) if handles else None


@dataclass(frozen=True, slots=True)
class OpenBubblewrap:
    """bubblewrap with a way out to named hosts, over TLS; only ever made because a person named them.

    Its name is none of `CONTAINING`: what a server does there may stay, so no tool that writes is tried and no
    placeholder is handed out.
    """

    doors: Doors
    name: str = field(default="bubblewrap, network", init=False)

    async def start(
        self, box: Box, command: Sequence[str], identity: Identity, *, facts: Mapping[str, Json] | None = None
    ) -> Contained:
        """Start `command` in `box`; raises SandboxError when the box or the way out cannot be had."""
        environment = {**PROXIED, "NODE_USE_ENV_PROXY": "1", **box.environment}
        noted: dict[str, Json] = {**(facts or {}), "network": _named(self.doors)}
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                contained = await bubblewrap.start(
                    replace(box, environment=environment),
                    through(theirs.fileno(), command),
                    identity,
                    facts=noted,
                    inherited=(theirs.fileno(),),
                    runtime=self.name,
                )
            relay = Relay(self.doors)
            contained.after_stop(relay.close)
            try:
                listener = await asyncio.to_thread(received, ours)
                if listener is None:
                    end = await contained.stop()
                    raise SandboxError(f"the box opened no door to the network: {last_words(end.stderr)}")
                await relay.serve(listener)
            except BaseException:
                await contained.stop()
                raise
        return contained


def _named(doors: Doors) -> list[str]:
    return sorted(f"{one.host}:{one.port}" for one in doors.configured | doors.learned)
