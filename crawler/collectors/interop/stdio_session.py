"""Connects the official client to a server that our launcher starts; the SDK itself never starts or reads a process."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from crawler.collectors.interop.client_process import run_client_process
from crawler.collectors.interop.request import InteropRequest
from crawler.collectors.interop.stdio_relay import StdioRelay
from crawler.collectors.protocol.session.absence_reasons import describe_ports, explain_containment, explain_exit
from crawler.collectors.protocol.stdio.start_attempts import MAX_FURTHER_STARTS
from crawler.http.failures import Unreachable
from crawler.launcher import LaunchedServer, Launcher
from crawler.mcp.transcript import Exchange, Reply
from crawler.placeholders import configure_target, find_still_missing_inputs
from evidence.canonical import Json, canonical_json, parse_json
from evidence.kinds.interop import Interop
from evidence.kinds.listing import CONTAINING
from evidence.model import Absent, Observed, Reason, Target
from evidence.package_inputs import PackageInput

# The errors of the SDK after the end of the other side.
_CLOSED: Final = -32000
_CLOSED_ERRORS: Final = frozenset({"BrokenResourceError", "ClosedResourceError", "EndOfStream"})
_ENDED: Final = "the process ended before answering"


class InteropResult(Struct, frozen=True, kw_only=True):
    """The content of the record, and stable facts about what was started for it."""

    content: Observed | Absent
    facts: Mapping[str, Json] = field(default_factory=dict)


class _Ended(Struct, frozen=True, kw_only=True):
    """The server ended during a question of the client: the reason for the record, and the server's output in a
    sandbox.
    """

    result: InteropResult
    outcome: Interop
    absent: Absent
    output: str


async def run_interop_over_stdio(launcher: Launcher, target: Target, request: InteropRequest) -> InteropResult:
    """Start a package or command with placeholders and connect the client to it; everything started is stopped.

    A server in a sandbox that ends and names a missing input is started again with it, as in the probe.
    """
    named: tuple[PackageInput, ...] = ()
    for _ in range(MAX_FURTHER_STARTS):
        configured = configure_target(target, named)
        result, output = await _connect_with_restart(launcher, configured.target, request)
        if not output or isinstance(result.content, Observed):
            return result
        missing = find_still_missing_inputs(target, configured.given, output)
        if not missing:
            return result
        named = (*named, *missing)
    return (await _connect_with_restart(launcher, configure_target(target, named).target, request))[0]


async def _connect_with_restart(
    launcher: Launcher, target: Target, request: InteropRequest
) -> tuple[InteropResult, str]:
    """The result, and the output of a server that ended in a sandbox before the client was connected.

    The client's first question is `server/discover`. A server that ends, and not for want of credentials, is started
    once more. If the handshake opens it then, that question ended it, and this is the observation.
    """
    first = await _connect(launcher, target, request)
    if isinstance(first, InteropResult):
        return first, ""
    if first.outcome.connected:
        return replace(first.result, content=Absent(Reason.UNREACHABLE, f"{_ENDED} {first.outcome.asked}")), ""
    if first.absent.reason is Reason.CREDENTIALS_REQUIRED:
        return replace(first.result, content=first.absent), first.output
    second = await _connect(launcher, target, replace(request, handshake=True))
    if (second.outcome if isinstance(second, _Ended) else _parse_outcome(second)).connected:
        return replace(first.result, content=_at_discover(first.result.content)), ""
    if isinstance(second, _Ended):
        return replace(second.result, content=second.absent), second.output
    return second, ""


async def _connect(launcher: Launcher, target: Target, request: InteropRequest) -> InteropResult | _Ended:
    launched = await launcher.launch(target)
    if isinstance(launched, Absent):
        return InteropResult(content=launched)
    facts: dict[str, Json] = {"sandbox": launched.runtime, "facts": dict(launched.facts)}
    try:
        content, relay = await _run_client(launched, request)
    finally:
        ending = await launched.stop()
    if ending.ports and isinstance(content, Absent) and content.reason is Reason.TIMEOUT:
        content = Absent(Reason.TRANSPORT_UNSUPPORTED, describe_ports(ending.ports))
    if relay.failure:
        return InteropResult(content=relay.failure.absent(), facts=facts)
    result = InteropResult(content=content, facts=facts)
    outcome = _parse_outcome(result)
    if not relay.ended or not (outcome.code == _CLOSED or outcome.error in _CLOSED_ERRORS):
        return result
    no_reply = Exchange(transport="stdio", method="", request=b"", began=0, seconds=0, failure=Unreachable(_ENDED))
    noise = b"\n".join(relay.noise)
    absent = explain_exit(ending, launched.facts, noise, Reply(no_reply), "initialize")
    if launched.runtime not in CONTAINING:
        return _Ended(result=result, outcome=outcome, absent=absent, output="")
    output = "\n".join((ending.stderr, noise.decode("utf-8", "replace")))
    return _Ended(result=result, outcome=outcome, absent=explain_containment(absent, output), output=output)


async def _run_client(launched: LaunchedServer, request: InteropRequest) -> tuple[Observed | Absent, StdioRelay]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        relay = StdioRelay(launched, ours)
        async with asyncio.TaskGroup() as tasks:
            relaying = tasks.create_task(relay.run())
            handle = theirs.fileno()
            content = await run_client_process(replace(request, handle=handle), handles=[handle])
            relaying.cancel()
    return content, relay


def _parse_outcome(result: InteropResult) -> Interop:
    return Interop.parse(result.content.body if isinstance(result.content, Observed) else b"{}")


def _at_discover(content: Observed | Absent) -> Observed | Absent:
    """The same refusal, attributed to `server/discover`."""
    body = parse_json(content.body) if isinstance(content, Observed) else None
    refusal = body.get("said") if isinstance(body, Mapping) else None
    if not isinstance(body, Mapping) or not isinstance(refusal, Mapping):
        return content
    return Observed(canonical_json({**body, "said": {**refusal, "asked": "server/discover"}}))
