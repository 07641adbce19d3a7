"""How these tests probe: a collector with small deadlines, no pauses and a fixed clock."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from crawler.collectors.protocol import ProbeLimits, ProtocolCollector
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.collectors.protocol.stdio.carried_starts import StartIdentity
from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.http.resolver import Resolver
from crawler.launcher import Launcher
from evidence.kinds.exchanges import Exchanges
from evidence.kinds.listing import KIND, Listing
from evidence.model import Absent, Dossier, Observed, Record, Server, Target, TargetType
from tests.servers.hostile import Behaviour, serving

NOW = datetime(2026, 11, 21, tzinfo=UTC)
AGENT = "Hallmark/0 (+https://hallmark.example/bot)"
WIRE = Limits(connect=10, first_byte=10, between_bytes=10, total=20)
PROBE = ProbeLimits(discover=20, total=60, stdio_answer=20, retry_pause=0, recovery_pause=0)
# For servers that must run into a deadline.
BRISK = Limits(connect=2, first_byte=0.8, between_bytes=0.5, total=1.4)
BRISK_PROBE = ProbeLimits(discover=0.4, total=6, stdio_answer=1, retry_pause=0, recovery_pause=0)


class Timekeeper:
    """A clock and a sleep for Courtesy: sleeping only moves the hand, and is written down."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def tick(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def collector(
    *,
    private: bool = True,
    resolver: Resolver | None = None,
    tls: ssl.SSLContext | None = None,
    brisk: bool = False,
    limits: ProbeLimits = PROBE,
    launcher: Launcher | None = None,
    time: Timekeeper | None = None,
    depth: str = "core",
    at: datetime = NOW,
    chosen: QuestionSelection | None = None,
    opted_out: Sequence[str] = (),
    identify: StartIdentity | None = None,
) -> ProtocolCollector:
    hand = time or Timekeeper()
    engine = HttpEngine(
        user_agent=AGENT,
        guard=AddressGuard(allow_private=private),
        resolver=resolver,
        tls=tls,
        limits=BRISK if brisk else WIRE,
    )
    courtesy = HostRateLimiter(tick=hand.tick, sleep=hand.sleep)
    bounds = BRISK_PROBE if brisk else limits
    return ProtocolCollector(
        engine,
        launcher,
        courtesy,
        lambda: at,
        bounds,
        depth=depth,
        retest=chosen,
        opted_out=opted_out,
        identify=identify,
    )


async def record_of(prober: ProtocolCollector, *targets: Target) -> Record:
    """The listing record, after a look at the others."""
    return (await records_of(prober, *targets))[KIND]


async def records_of(
    prober: ProtocolCollector, *targets: Target, earlier: Mapping[str, Record] | None = None
) -> dict[str, Record]:
    """All records by kind; those of every visit must be sane, whatever the server did."""
    server = Server(ref="test", name="test", targets=targets)
    found = await prober.collect(server, Dossier(server=server, as_of=NOW, records=earlier or {}))
    records = {record.kind: record for record in found}
    assert list(records) == [record.kind for record in found] == list(prober.kinds)
    check_exchanges(records["exchanges"], records[KIND])
    return records


def check_exchanges(record: Record, listed: Record) -> None:
    """Whether an exchanges record is one that rules can read, or absent for the reason of the listing."""
    if isinstance(record.content, Absent):
        assert record.content == listed.content
        return
    known = Listing.parse(listed.content.body) if isinstance(listed.content, Observed) else None
    talk = Exchanges.parse(record.content.body, known)
    assert talk.eras
    assert len(record.content.body) < 4 * 1024 * 1024
    assert len(
        {(one.connection.index, one.step, one.page) for one in talk.exchanges if one.step != "redirected"}
    ) == len([one for one in talk.exchanges if one.step != "redirected"])
    for one in talk.exchanges:
        assert one.step
        assert one.form in {"json", "stream", "lines", "other", "none"}
        for received in one.received:
            assert received.message is not None or received.text == received.text[:200]
            assert not received.missing or received.missing.startswith("too_large"), one


def remote(url: str, kind: TargetType = TargetType.STREAMABLE_HTTP) -> Target:
    return Target(type=kind, identifier=url)


def probe(
    behaviour: Behaviour, kind: TargetType = TargetType.STREAMABLE_HTTP, prober: ProtocolCollector | None = None
) -> Record:
    """The record of one server that misbehaves."""

    async def run() -> Record:
        async with serving(behaviour) as url:
            return await record_of(prober or collector(), remote(url, kind))

    return asyncio.run(run())


def talk(records: Mapping[str, Record]) -> Exchanges:
    """The exchanges of a visit, with the results that lie in its listing."""
    return Exchanges.parse(body(records), listing(records[KIND]))


def body(records: Mapping[str, Record]) -> bytes:
    """The bytes of the exchanges of a visit."""
    content = records["exchanges"].content
    assert isinstance(content, Observed), content
    return content.body


def listing(record: Record) -> Listing:
    assert isinstance(record.content, Observed), record.content
    return Listing.parse(record.content.body)


def absent(record: Record) -> Absent:
    assert isinstance(record.content, Absent), record.content
    return record.content


def names(items: Sequence[object]) -> list[str]:
    return [getattr(item, "name", "") for item in items]
