"""A listening socket inside the network namespace of a box, which is sent to the host before the command starts."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from crawler.sandbox.boxes import bubblewrap
from crawler.sandbox.boxes.box import Bind, Box
from crawler.sandbox.boxes.egress_relay import PORT, AllowedEndpoints, EgressRelay
from crawler.sandbox.boxes.process_tree import ContainedProcess
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.failure_messages import find_last_error_line
from crawler.sandbox.kernel.user_ids import Identity
from crawler.sandbox.toolchain.package_indexes import Endpoint
from evidence.canonical import Json

if TYPE_CHECKING:
    from crawler.sandbox.boxes.private_indexes import Authority

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
_BUNDLE: Final = "/etc/ssl/certs/ca-certificates.crt"
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
    """bubblewrap with network access to the hosts that a person named, over TLS, and stubs that answer for others.

    Its name is not in `CONTAINING`: the effects of a server may be permanent, so no writing tool is tried and no
    placeholder is used.
    """

    allowed: AllowedEndpoints
    name: str = field(default="bubblewrap, network", init=False)

    async def start(
        self, box: Box, command: Sequence[str], identity: Identity, *, facts: Mapping[str, Json] | None = None
    ) -> ContainedProcess:
        """Start `command` in `box`; raises SandboxError if the box or its network access cannot be created."""
        reached, stubs = _list_hosts(self.allowed.configured | self.allowed.learned), _list_hosts(self.allowed.stubs)
        noted: dict[str, Json] = {**(facts or {}), "network": reached, **({"stubs": stubs} if stubs else {})}
        with contextlib.ExitStack() as undo:
            authority, box = _trust_stubs(box, undo) if stubs else (None, box)
            box = replace(box, environment={**PROXY_ENVIRONMENT, "NODE_USE_ENV_PROXY": "1", **box.environment})
            relay = EgressRelay(self.allowed, authority=authority)
            contained = await self._start_relayed(box, command, identity, noted, relay=relay)
            contained.after_stop(_closing(undo.pop_all()))
        return contained

    async def _start_relayed(
        self, box: Box, command: Sequence[str], identity: Identity, facts: Mapping[str, Json], *, relay: EgressRelay
    ) -> ContainedProcess:
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                contained = await bubblewrap.start_in_box(
                    box,
                    listen_before(theirs.fileno(), command),
                    identity,
                    facts=facts,
                    inherited=(theirs.fileno(),),
                    runtime=self.name,
                )
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


def _list_hosts(endpoints: frozenset[Endpoint]) -> list[Json]:
    return [*sorted(f"{one.host}:{one.port}" for one in endpoints)]


def _trust_stubs(box: Box, undo: contextlib.ExitStack) -> tuple[Authority, Box]:
    """An authority for the certificates of stubs, and the box with a bundle in which it is trusted."""
    from crawler.sandbox.boxes.private_indexes import Authority  # noqa: PLC0415  it imports cryptography

    authority = Authority()
    file = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="hallmark-"))) / "bundle.pem"
    usual = box.root / _BUNDLE.lstrip("/")
    file.write_bytes((usual.read_bytes() if usual.is_file() else b"") + b"\n" + authority.certificate())
    file.chmod(0o644)
    trusting = dict.fromkeys(("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"), _BUNDLE)
    return authority, replace(box, binds=(*box.binds, Bind(file, _BUNDLE)), environment={**trusting, **box.environment})


def _closing(stack: contextlib.ExitStack) -> Callable[[], Awaitable[None]]:
    async def close() -> None:
        await asyncio.to_thread(stack.close)

    return close
