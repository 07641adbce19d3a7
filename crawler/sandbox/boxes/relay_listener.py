"""A listening socket inside the network namespace of a box, which is sent to the host before the command starts."""

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

_OPEN_LISTENER: Final = f"""
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
"""Environment variables that make programs use the relay."""


def listen_before(channel: int, command: Sequence[str]) -> list[str]:
    """A command line that opens a listener, sends it over the descriptor `channel`, and then runs `command`."""
    return ["/usr/bin/python3", "-I", "-S", "-c", _OPEN_LISTENER, str(channel), *command]


def receive_listener(channel: socket.socket) -> socket.socket | None:
    """Wait for the listener of the box, at most ten seconds; None if the box ended before."""
    channel.settimeout(10.0)
    try:
        _, handles, _, _ = socket.recv_fds(channel, 1, 1)
    except OSError:
        return None
    return socket.socket(fileno=handles[0]) if handles else None


@dataclass(frozen=True, slots=True)
class RelayedBubblewrap:
    """bubblewrap with network access to the hosts that a person named, over TLS.

    Its name is not in `CONTAINING`: the effects of a server may be permanent, so no writing tool is tried and no
    placeholder is used.
    """

    allowed: AllowedEndpoints
    name: str = field(default="bubblewrap, network", init=False)

    async def start(
        self, box: Box, command: Sequence[str], identity: Identity, *, facts: Mapping[str, Json] | None = None
    ) -> ContainedProcess:
        """Start `command` in `box`; raises SandboxError if the box or its network access cannot be created."""
        environment = {**PROXY_ENVIRONMENT, "NODE_USE_ENV_PROXY": "1", **box.environment}
        noted: dict[str, Json] = {**(facts or {}), "network": _list_hosts(self.allowed)}
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
            relay = EgressRelay(self.allowed)
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


def _list_hosts(allowed: AllowedEndpoints) -> list[str]:
    return sorted(f"{one.host}:{one.port}" for one in allowed.configured | allowed.learned)
