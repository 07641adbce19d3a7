"""What there is at the local GitHub: repositories, tokens with budgets, and scripted faults."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

HOUR = 3600


@dataclass
class Account:
    login: str
    type: str = "User"


@dataclass
class Commit:
    at: str
    name: str
    account: Account | None = None
    mail: str = "somebody@mail.example"


@dataclass
class Said:
    """A comment or a review. `as_` is the association of who said it."""

    at: str
    by: Account | None
    as_: str = "NONE"


@dataclass
class Discussion:
    """An issue, or a pull request when `pull`."""

    opened: str
    by: Account | None
    as_: str = "NONE"
    closed: str | None = None
    merged: str | None = None
    merged_by: Account | None = None
    comments: list[Said] = field(default_factory=list)
    reviews: list[Said] = field(default_factory=list)


@dataclass
class Repository:
    """`status` other than 200 is how GitHub answers for it; `heavy` makes any GraphQL query with it end in 502.

    A `private` one may be `internal`, which an enterprise shares with its members.
    """

    name: str
    status: int = 200
    message: str = ""
    private: bool = False
    internal: bool = False
    archived: bool = False
    fork: bool = False
    disabled: bool = False
    template: bool = False
    created: str = "2024-01-01T00:00:00Z"
    pushed: str = "2026-10-01T00:00:00Z"
    licence: str | None = "MIT"
    topics: list[str] = field(default_factory=lambda: ["mcp"])
    language: str | None = "Python"
    size: int = 120
    stars: int = 7
    forks: int = 2
    branch: str | None = "main"
    protected: bool = False
    rules: tuple[str, ...] = ()
    owner_type: str = "Organization"
    verified: bool = True
    website: str | None = "https://owner.example/"
    commits: list[Commit] = field(default_factory=list)
    contributors: list[dict[str, Any]] | None = None
    contributors_status: int = 200
    statistics: list[dict[str, Any]] = field(default_factory=list)
    statistics_pending: int = 0
    releases: list[tuple[str, str]] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    issues: list[Discussion] = field(default_factory=list)
    pulls: list[Discussion] = field(default_factory=list)
    files: list[str] = field(default_factory=lambda: ["README.md", "LICENSE"])
    health: int = 57
    security_policy: bool = False
    advisories: list[dict[str, Any]] = field(default_factory=list)
    alerts: list[dict[str, Any]] = field(default_factory=list)
    alerts_status: int = 200
    writers: tuple[str, ...] = ()
    sbom: list[str] | None = None
    archive: bytes | None = None
    heavy: bool = False
    withheld: tuple[str, ...] = ()
    kind: str = ""

    @property
    def id(self) -> int:
        return sum(ord(char) * (place + 7) for place, char in enumerate(self.name.lower()))

    @property
    def login(self) -> str:
        return self.name.partition("/")[0]

    @property
    def head(self) -> str | None:
        return f"{self.id:040x}" if self.branch and self.commits else None


@dataclass
class Answer:
    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None


@dataclass
class Fault:
    """Answers requests whose path contains `where` so many times, before GitHub itself does."""

    where: str
    answer: Callable[[], Answer]
    times: int = 1
    token: str | None = None


@dataclass
class Quota:
    """Requests left to one token, or to one address without."""

    limit: int
    remaining: int
    reset: float


@dataclass
class Asked:
    method: str
    path: str
    query: str
    token: str | None
    etag: str | None
    agent: str
    body: Any = None
    status: int = 0
    cost: int = 0


@dataclass
class World:
    """Everything there is. `clock` is GitHub's own, in seconds since 1970; answers take `latency` seconds."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    anonymous: int = 60
    refused: set[str] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    clock: Callable[[], float] = time.time
    batch: int = 100
    latency: float = 0.0
    lock: threading.RLock = field(default_factory=threading.RLock)
    quotas: dict[tuple[str | None, str], Quota] = field(default_factory=dict)

    def add(self, *repositories: Repository) -> None:
        self.repositories |= {repository.name.lower(): repository for repository in repositories}

    def move(self, old: str, new: str) -> None:
        repository = self.repositories.pop(old.lower())
        repository.name = new
        self.add(repository)
        self.moved[old.lower()] = new.lower()

    def find(self, name: str) -> Repository | None:
        return self.repositories.get(self.moved.get(name.lower(), name.lower()))

    def quota(self, token: str | None, resource: str) -> Quota:
        limit = self.anonymous if token is None else self.tokens.get(token, 5000)
        now = self.clock()
        quota = self.quotas.get((token, resource))
        if quota is None or now >= quota.reset:
            quota = self.quotas[token, resource] = Quota(limit, limit, now + HOUR)
        return quota

    def fault(self, path: str, token: str | None) -> Answer | None:
        for fault in self.faults:
            if fault.times and fault.where in path and fault.token in {None, token}:
                fault.times -= 1
                return fault.answer()
        return None

    def paths(self) -> list[str]:
        return [f"{asked.method} {asked.path}" for asked in self.asked]

    def points(self) -> int:
        return sum(asked.cost for asked in self.asked if asked.path.endswith("/graphql"))


def secondary(retry_after: int | None = 1) -> Answer:
    """A secondary limit, documented at /rest/using-the-rest-api/rate-limits-for-the-rest-api."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Answer(403, {"message": "You have exceeded a secondary rate limit. Please wait."}, headers)


def too_many(retry_after: int | None = None) -> Answer:
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Answer(429, {"message": "Too many requests"}, headers)


def broken(status: int = 502) -> Answer:
    page = b"<html><head><title>Unicorn!</title></head><body>GitHub is not available</body></html>"
    return Answer(status, raw=page, headers={"Content-Type": "text/html; charset=utf-8"})
