"""Sockets inside the network namespace of a box, which are sent to the host before the command starts.

The host connects them to a port on which the server listens. The box gets nothing: no socket, address or process of
the host, and no way to open a connection itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Mapping, Sequence
from typing import Final

from crawler.sandbox.boxes import bubblewrap
from crawler.sandbox.boxes.box import Box
from crawler.sandbox.boxes.process_tree import ContainedProcess
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.failure_messages import find_last_error_line
from crawler.sandbox.kernel.user_ids import Identity
from evidence.canonical import Json

COUNT: Final = 160
"""Connections of one probe; a full one makes about 100 requests, and some servers close after each."""

_SEND_SOCKETS: Final = f"""
import os, socket, sys
made = [socket.socket() for _ in range({COUNT})]
channel = socket.socket(fileno=int(sys.argv[1]))
socket.send_fds(channel, [b"x"], [one.fileno() for one in made])
channel.close()
for one in made:
    one.close()
os.execvp(sys.argv[2], sys.argv[2:])
"""
_SECONDS: Final = 10.0


async def start_with_sockets(
    box: Box, command: Sequence[str], identity: Identity, *, facts: Mapping[str, Json] | None = None
) -> ContainedProcess:
    """Start `command` with bubblewrap in a box whose ports can be reached; raises SandboxError."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            prelude = ["/usr/bin/python3", "-I", "-S", "-c", _SEND_SOCKETS, str(theirs.fileno()), *command]
            contained = await bubblewrap.start_in_box(box, prelude, identity, facts=facts, inherited=(theirs.fileno(),))
        try:
            found = await asyncio.to_thread(_receive, ours)
            if len(found) < COUNT:
                end = await contained.stop()
                raise SandboxError(f"the box sent no sockets: {find_last_error_line(end.stderr)}")
            contained.keep_sockets(found)
        except BaseException:
            await contained.stop()
            raise
    return contained


def _receive(channel: socket.socket) -> list[socket.socket]:
    channel.settimeout(_SECONDS)
    with contextlib.suppress(OSError):
        return [socket.socket(fileno=handle) for handle in socket.recv_fds(channel, 1, COUNT)[1]]
    return []
