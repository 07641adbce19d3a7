"""Scripted crawler wiring for the pipeline: registries with given pages and collectors with given answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from crawler.collector import Collector, Follower, Scarce
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.registries.registry import Page, Registry, RegistryUnavailable
from evidence.canonical import Json
from evidence.kinds import listing
from evidence.kinds.samples import Sample
from evidence.model import Absent, Dossier, Observed, Record, Server, ServerRef, Status, Target, TargetType
from workers.context import AvailabilitySampler, Context, open_context
from workers.runs.pins import VersionedCollector
from workers.settings.environment import Settings, read_settings

NIGHT = datetime(2026, 11, 21, 3, tzinfo=UTC)

LISTING = (
    b'{"target":{"type":"streamable-http","identifier":"https://a.example/mcp","version":null},'
    b'"transport":"streamable-http","era":"legacy","protocolVersion":"2025-06-18","sandbox":"",'
    b'"opening":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}},'
    b'"lists":{"tools":{"declared":true,"end":"complete","error":null,"pages":'
    b'[{"tools":[{"name":"search","description":"Searches the catalogue.","inputSchema":{"type":"object"}}]}]}}}'
)


def ref(number: int, *, registry: str = "first", status: Status = Status.ACTIVE) -> ServerRef:
    url = f"https://server-{number}.example/mcp"
    name = f"io.example/server-{number}"
    entry = f'{{"name":"{name}","version":"1.0.0","remotes":[{{"type":"streamable-http","url":"{url}"}}]}}'
    return ServerRef(
        registry=registry,
        name=name,
        version="1.0.0",
        status=status,
        entry=entry.encode(),
        targets=() if status is Status.INVALID else (Target(type=TargetType.STREAMABLE_HTTP, identifier=url),),
        error="name expected" if status is Status.INVALID else None,
    )


@dataclass
class ScriptedRegistry:
    """Pages of references; the walk fails once before the page whose number is in `broken`."""

    name: str
    pages: Sequence[Sequence[ServerRef]]
    broken: set[int] = field(default_factory=set)
    asked: list[tuple[str | None, datetime | None]] = field(default_factory=list)
    on_page: Callable[[], None] = lambda: None
    incremental: bool = True

    async def walk(self, *, cursor: str | None, since: datetime | None) -> AsyncIterator[Page]:
        self.asked.append((cursor, since))
        for number in range(int(cursor or 0), len(self.pages)):
            if number in self.broken:
                self.broken.discard(number)
                raise RegistryUnavailable(f"page {number} answered 503")
            last = number + 1 == len(self.pages)
            self.on_page()
            yield Page(tuple(self.pages[number]), None if last else str(number + 1))


@dataclass
class ScriptedCollector:
    """Answers `listing` with whatever `answer` returns or raises."""

    answer: Callable[[Server], Observed | Absent] = lambda _: Observed(LISTING)
    name: str = "protocol"
    version: int = 1
    kinds: tuple[str, ...] = ("listing",)
    needs: Scarce = Scarce.SERVER
    probed: list[str] = field(default_factory=list)
    delay: float = 0.0
    earlier: dict[str, Dossier] = field(default_factory=dict)

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        self.probed.append(target.id)
        self.earlier[target.id] = earlier
        await asyncio.sleep(self.delay)
        content = self.answer(target)
        return [
            Record(
                server=target.id,
                kind=kind,
                schema=listing.SCHEMA,
                collector=self.name,
                collector_version=self.version,
                observed_at=NIGHT,
                content=content,
            )
            for kind in self.kinds
        ]


@dataclass
class ScriptedFollower:
    """Answers one kind with what `answer` makes of the records found before it."""

    kind: str
    answer: Callable[[Dossier], Observed | Absent]
    version: int = 1
    observation: Mapping[str, Json] = field(default_factory=dict)
    earlier: list[Dossier] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.kind

    @property
    def needs(self) -> Scarce:
        return Scarce.GITHUB if self.kind == "repository" else Scarce.PROCESSOR

    @property
    def kinds(self) -> tuple[str, ...]:
        return (self.kind,)

    async def follow(self, found: Dossier, earlier: Dossier) -> list[Record]:
        self.earlier.append(earlier)
        return [
            Record(
                server=found.server.id,
                kind=self.kind,
                schema=1,
                collector=self.name,
                collector_version=self.version,
                observed_at=NIGHT,
                content=self.answer(found),
                observation=self.observation,
            )
        ]


@dataclass
class ScriptedSampler:
    """Answers with what `answer` makes of a target, and writes down whom it visited."""

    answer: Callable[[Target], Sample | None] = lambda _: Sample(at=NIGHT)
    visited: list[str] = field(default_factory=list)

    async def sample(self, target: Target) -> Sample | None:
        self.visited.append(target.identifier)
        return self.answer(target)


@dataclass
class World:
    """Registries by name, and collectors."""

    known: Sequence[Registry]
    looking: Sequence[Collector] = field(default_factory=lambda: [ScriptedCollector()])
    sampling: AvailabilitySampler = field(default_factory=ScriptedSampler)
    following: Sequence[Follower] = ()
    closed: bool = False
    chosen: list[QuestionSelection] = field(default_factory=list)

    @property
    def versions(self) -> Sequence[VersionedCollector]:
        return (*self.looking, *self.following)

    async def registries(self, sources: Sequence[str]) -> Sequence[Registry]:
        return [registry for registry in self.known if registry.name in sources]

    async def collectors(self) -> Sequence[Collector]:
        return self.looking

    async def retest_collector(self, chosen: QuestionSelection) -> Collector:
        self.chosen.append(chosen)
        return self.looking[0]

    async def followers(self) -> Sequence[Follower]:
        return self.following

    async def sampler(self) -> AvailabilitySampler:
        return self.sampling

    async def close(self) -> None:
        self.closed = True


def settings(home: Path, **changes: object) -> Settings:
    known: dict[str, object] = {"home": home, "cache": home / "cache", "clock": NIGHT, "commit": "test"}
    known |= {"stop_grace": 0.2, "sources": (), "retries": 0, "canaries": ()}
    return read_settings(**(known | changes))  # type: ignore[arg-type]


def context(home: Path, world: World, **changes: object) -> AbstractAsyncContextManager[Context]:
    return open_context(settings(home, **changes), wiring=world)
