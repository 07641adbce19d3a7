"""Sends the official client to a server that our launcher starts; the SDK itself never starts or reads a process."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from crawler.collectors.interop.errand import Errand
from crawler.collectors.interop.process import send
from crawler.collectors.interop.relay import Relay
from crawler.collectors.protocol.starting import MORE
from crawler.collectors.protocol.verdict import cut_off, exited
from crawler.configuring import configure, still_missing
from crawler.wire.failures import Unreachable
from crawler.wire.launch import Launched, Launcher
from crawler.wire.transcript import Exchange, Reply
from evidence.canonical import Json, canonical_json, parse_json
from evidence.inputs import Input
from evidence.kinds.interop import Interop
from evidence.kinds.listing import CONTAINING
from evidence.model import Absent, Observed, Reason, Target

# What the SDK says when the other side has ended.
_CLOSED: Final = -32000
_GONE: Final = frozenset({"BrokenResourceError", "ClosedResourceError", "EndOfStream"})
_ENDED: Final = "the process ended before answering"


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """What came of a meeting, and stable facts about what was started for it."""

    content: Observed | Absent
    facts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    """The server ended while the client was `asking` it, why it would be absent for that, and its words in a box."""

    met: Met
    seen: Interop
    absent: Absent
    said: str


async def meet_process(launcher: Launcher, target: Target, errand: Errand) -> Met:
    """Start a package or command with placeholders and send the client to it; whatever was started is stopped.

    A server in a box that ends and says what it misses is started again with that, as it is by the prober.
    """
    named: tuple[Input, ...] = ()
    for _ in range(MORE):
        configured = configure(target, named)
        met, said = await _meet_started(launcher, configured.target, errand)
        more = still_missing(target, configured.given, said) if said and isinstance(met.content, Absent) else ()
        if not more:
            return met
        named = (*named, *more)
    return (await _meet_started(launcher, configure(target, named).target, errand))[0]


async def _meet_started(launcher: Launcher, target: Target, errand: Errand) -> tuple[Met, str]:
    """What came of a meeting, and what the server said of itself when it ended in a box before it was met.

    The client's first question is `server/discover`. A server that ends, and not for want of credentials, is started
    once more: when the handshake opens it, that question was what it died of, and that is the observation.
    """
    first = await _meet(launcher, target, errand)
    if isinstance(first, Met):
        return first, ""
    if first.seen.connected:
        return replace(first.met, content=Absent(Reason.UNREACHABLE, f"{_ENDED} {first.seen.asked}")), ""
    if first.absent.reason is Reason.CREDENTIALS_REQUIRED:
        return replace(first.met, content=first.absent), first.said
    second = await _meet(launcher, target, replace(errand, handshake=True))
    if (second.seen if isinstance(second, _Ended) else _seen(second)).connected:
        return replace(first.met, content=_at_discover(first.met.content)), ""
    if isinstance(second, _Ended):
        return replace(second.met, content=second.absent), second.said
    return second, ""


async def _meet(launcher: Launcher, target: Target, errand: Errand) -> Met | _Ended:
    launched = await launcher.launch(target)
    if isinstance(launched, Absent):
        return Met(content=launched)
    facts: dict[str, Json] = {"sandbox": launched.runtime, "facts": dict(launched.facts)}
    try:
        content, relay = await _introduce(launched, errand)
    finally:
        ending = await launched.stop()
    if relay.failure:
        return Met(content=relay.failure.absent(), facts=facts)
    met = Met(content=content, facts=facts)
    seen = _seen(met)
    if not relay.ended or not (seen.code == _CLOSED or seen.error in _GONE):
        return met
    gone = Exchange(transport="stdio", method="", request=b"", began=0, seconds=0, failure=Unreachable(_ENDED))
    noise = b"\n".join(relay.noise)
    absent = exited(ending, launched.facts, noise, Reply(gone), "initialize")
    if launched.runtime not in CONTAINING:
        return _Ended(met=met, seen=seen, absent=absent, said="")
    said = "\n".join((ending.stderr, noise.decode("utf-8", "replace")))
    return _Ended(met=met, seen=seen, absent=cut_off(absent, said), said=said)


async def _introduce(launched: Launched, errand: Errand) -> tuple[Observed | Absent, Relay]:
    """Run client and relay until the client has ended."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        relay = Relay(launched, ours)
        async with asyncio.TaskGroup() as tasks:
            relaying = tasks.create_task(relay.run())
            handle = theirs.fileno()
            content = await send(replace(errand, handle=handle), handles=[handle])
            relaying.cancel()
    return content, relay


def _seen(met: Met) -> Interop:
    return Interop.parse(met.content.body if isinstance(met.content, Observed) else b"{}")


def _at_discover(content: Observed | Absent) -> Observed | Absent:
    """The same refusal with the question that it was an answer to."""
    body = parse_json(content.body) if isinstance(content, Observed) else None
    said = body.get("said") if isinstance(body, Mapping) else None
    if not isinstance(body, Mapping) or not isinstance(said, Mapping):
        return content
    return Observed(canonical_json({**body, "said": {**said, "asked": "server/discover"}}))
