"""How the tests look at repositories: a collector over the local GitHub, with a clock that only they move."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from crawler.collectors.repository import CallLimits, GitHub, GitHubLimits, RepositoryCollector
from evidence.model import Absent, Dossier, Observed, Record, Server
from tests.servers.github.server import Local
from tests.servers.github.world import Account, Commit, Discussion, Repository, Said

LINGER = 1e9
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
ANN, BEN, CAT = Account("ann"), Account("ben"), Account("cat")
DEPENDABOT = Account("dependabot[bot]", "Bot")


@dataclass
class Time:
    """A clock that moves only when a caller pauses, so that waiting costs nothing and can be counted."""

    now: datetime = NOW
    pauses: list[float] = field(default_factory=list)

    def time(self) -> datetime:
        return self.now

    def tick(self) -> float:
        return self.now.timestamp()

    async def pause(self, seconds: float) -> None:
        if seconds >= LINGER:
            await asyncio.Event().wait()
        self.pauses.append(seconds)
        self.now += timedelta(seconds=seconds)
        await asyncio.sleep(0)

    def pass_by(self, **spans: float) -> None:
        self.now += timedelta(**spans)


def limits(**given: Any) -> GitHubLimits:
    """Limits for tests. No call lingers: a query leaves when it is full or no other question is expected."""
    return GitHubLimits(**{"pace": 0.0, "linger": LINGER, "calls": CallLimits(timeout=60), **given})


@dataclass
class Looker:
    """A collector, and the last dossier of each server, as a night after a night finds it."""

    local: Local
    tokens: tuple[str, ...] = ("one",)
    time: Time = field(default_factory=Time)
    given: GitHubLimits = field(default_factory=limits)
    earlier: dict[str, Dossier] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.local.world.clock = self.time.tick

    def night(self, *servers: Server, found: Iterable[Record] = ()) -> list[dict[str, Record]]:
        """The records of each server in one run; they are `earlier` in the next one."""
        return asyncio.run(self._night(servers, {record.kind: record for record in found}))

    async def _night(self, servers: tuple[Server, ...], found: dict[str, Record]) -> list[dict[str, Record]]:
        github = self.github()
        collector = RepositoryCollector(github, self.time.time)
        try:
            records = await asyncio.gather(
                *(
                    collector.follow(
                        Dossier(server=server, as_of=self.time.now, records=found),
                        self.earlier.get(server.id) or Dossier(server=server, as_of=self.time.now),
                    )
                    for server in servers
                )
            )
        finally:
            github.close()
        nights = [{record.kind: record for record in listed} for listed in records]
        for server, listed in zip(servers, nights, strict=True):
            self.earlier[server.id] = Dossier(server=server, as_of=self.time.now, records=listed)
        return nights

    def github(self) -> GitHub:
        return GitHub(
            self.local.api,
            self.tokens,
            now=self.time.time,
            user_agent="hallmark-tests",
            limits=self.given,
            tick=self.time.tick,
            pause=self.time.pause,
        )

    def one(self, address: str) -> dict[str, Record]:
        return self.night(server(address))[0]


def server(address: str | None, ref: str = "") -> Server:
    return Server(ref=ref or f"npm:{address}", name="io.example/server", repository=address)


def at(name: str) -> str:
    return f"https://github.com/{name}"


def body(record: Record) -> dict[str, Any]:
    assert isinstance(record.content, Observed), record.content
    read: dict[str, Any] = json.loads(record.content.body)
    return read


def absent(record: Record) -> tuple[str, str]:
    assert isinstance(record.content, Absent), record.content
    return record.content.reason.value, record.content.detail


def ago(**spans: float) -> str:
    return (NOW - timedelta(**spans)).strftime("%Y-%m-%dT%H:%M:%SZ")


def lively(name: str = "octo/lively", **given: Any) -> Repository:
    """A repository with something of everything."""
    issues = [
        Discussion(ago(days=10), CAT, closed=ago(days=8), comments=[Said(ago(days=10, hours=-2), ANN, "MEMBER")]),
        Discussion(ago(days=20), CAT, comments=[Said(ago(days=20, hours=-1), DEPENDABOT, "MEMBER")]),
        Discussion(ago(days=30), ANN, "OWNER"),
        Discussion(ago(days=40), DEPENDABOT),
        Discussion(ago(days=500), CAT, comments=[Said(ago(days=499), ANN, "MEMBER")]),
    ]
    pulls = [
        Discussion(ago(days=5), CAT, closed=ago(days=4), merged=ago(days=4), merged_by=ANN),
        Discussion(ago(days=6), CAT, reviews=[Said(ago(days=6, hours=-3), BEN, "COLLABORATOR")]),
    ]
    commits = [
        Commit(ago(days=1), "dependabot[bot]", DEPENDABOT),
        Commit(ago(days=2), "Ann", ANN),
        Commit(ago(days=3), "Ann", ANN),
        Commit(ago(days=4), "Ben", BEN),
        Commit(ago(days=5), "Dora without account"),
        Commit(ago(days=400), "Cat", CAT),
    ]
    given = {
        "issues": issues,
        "pulls": pulls,
        "commits": commits,
        "releases": [("v2.0.0", ago(days=7)), ("v1.0.0", ago(days=100))],
        "tags": ["v2.0.0", "v1.0.0", "v0.1.0"],
        "files": [
            "README.md", "CHANGELOG.md", "CONTRIBUTING.md", ".github/workflows/ci.yml", ".github/ISSUE_TEMPLATE/bug.md",
            "src/main.py",
        ],
        "security_policy": True,
        **given,
    }  # fmt: skip
    return Repository(name, **given)
