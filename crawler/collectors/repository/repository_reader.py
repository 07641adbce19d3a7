"""Reads one repository: first whether it changed, then the facts of GraphQL and those that only REST has."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Final, TypeAlias, TypeVar

from crawler.collectors.repository.api.batching import Batcher
from crawler.collectors.repository.api.calls import Calls
from crawler.collectors.repository.api.responses import (
    AccessRefused,
    ApiResponse,
    GitHubUnreachable,
    OutOfQuota,
    RepositoryGone,
)
from crawler.collectors.repository.graphql_client import PARTIAL, GraphQLClient, Node, QueryUnsupported
from crawler.collectors.repository.parsing import graphql_facts, rest_facts
from crawler.collectors.repository.parsing.json_values import as_object, as_text
from crawler.collectors.repository.repository_address import parse_repository_name
from crawler.collectors.repository.rest_pages import RestPager
from crawler.collectors.repository.shared_probes import EarlierRepository, RepositoryProbe
from crawler.http.deadlines import pause_deadline
from evidence.canonical import Json, NotJson

FULL_EVERY: Final = timedelta(days=7)
REPOSITORY: Final = "repository"

_GONE: Final = {
    404: "HTTP 404: GitHub does not know the repository",
    410: "HTTP 410: the repository was deleted",
    451: "HTTP 451: the repository is blocked for legal reasons",
}

A = TypeVar("A")
B = TypeVar("B")
Ask: TypeAlias = Callable[[str], Awaitable[Node]]


class GitHubRepositoryReader:
    """Reads repositories through one API. `now` is the time, `pause` waits so many seconds."""

    def __init__(
        self,
        calls: Calls,
        now: Callable[[], datetime],
        pause: Callable[[float], Awaitable[None]],
        batcher: Batcher[Node] | None = None,
        *,
        full_every: timedelta = FULL_EVERY,
    ) -> None:
        self._calls = calls
        self._now = now
        self._pause = pause
        self._batcher = batcher or Batcher(GraphQLClient(calls, now), pause)
        self._full_every = full_every
        self._knows_graphql = True
        self._lock = asyncio.Lock()

    async def __call__(self, name: str, known: EarlierRepository | None) -> RepositoryProbe:
        """The facts of `OWNER/REPO`; raise RepositoryGone or CollectionPrevented. `known` is the earlier result."""
        if not self._calls.rotation.anonymous:
            return await self._read_repository(name, known)
        # Sixty requests an hour suffice for few repositories in sequence; many at once would all remain unfinished.
        with pause_deadline():
            await self._lock.acquire()
        try:
            if self._etag(known) is None and not await self._calls.rotation.affords(1 + rest_facts.CALLS):
                raise OutOfQuota
            return await self._read_repository(name, known)
        finally:
            self._lock.release()

    async def _read_repository(self, name: str, known: EarlierRepository | None) -> RepositoryProbe:
        with self._batcher.announce() as ask:
            answer = await self._fetch_repository(name, known)
            if known and known.full_at and answer.status == 304:
                return RepositoryProbe(
                    facts=known.facts, etags=known.etags, full_at=known.full_at, looked_at=self._now(), way="unchanged"
                )
            repository = _public(answer)
            current_name = parse_repository_name(repository.get("full_name")) or name
            pager = RestPager(self._calls, current_name, known, self._pause)
            facts, way = await self._read_facts(repository, pager, ask)
        facts["name"] = facts["name"] or pager.name
        etag = as_text(answer.headers.get("etag"))
        if etag and not pager.unread:
            pager.etags[REPOSITORY] = etag
        now = self._now()
        return RepositoryProbe(
            facts=facts, etags=pager.etags, full_at=now, looked_at=now, way=way, unread=tuple(sorted(pager.unread))
        )

    async def _fetch_repository(self, name: str, known: EarlierRepository | None) -> ApiResponse:
        """The repository itself, or 304 when it has not changed since a full reading that is young enough."""
        etag = self._etag(known)
        answer = await self._calls.get(f"/repos/{name}", key=name, etag=etag)
        if answer.status in _GONE:
            raise RepositoryGone(_GONE[answer.status])
        if answer.status == 403 and "access blocked" in answer.message.lower():
            raise RepositoryGone("HTTP 403: GitHub blocks access to the repository")
        if answer.status in {401, 403}:
            raise AccessRefused(f"HTTP {answer.status}: GitHub does not let us see the repository")
        if answer.status != 200 and not (answer.status == 304 and etag):
            raise GitHubUnreachable(f"HTTP {answer.status} from GitHub")
        return answer

    def _etag(self, known: EarlierRepository | None) -> str | None:
        if known is None or known.full_at is None or self._now() - known.full_at >= self._full_every:
            return None
        return known.etags.get(REPOSITORY)

    async def _read_facts(
        self, repository: Mapping[str, Json], pager: RestPager, ask: Ask
    ) -> tuple[dict[str, Json], str]:
        if self._knows_graphql and not self._calls.rotation.anonymous:
            try:
                return await self._by_graphql(pager, ask), "graphql"
            except QueryUnsupported:
                self._knows_graphql = False
        return await self._by_rest(repository, pager), "rest"

    async def _by_graphql(self, pager: RestPager, ask: Ask) -> dict[str, Json]:
        node, rest_parts = await _run_together(ask(pager.name), pager.parts())
        now = self._now()
        if node.get(PARTIAL):
            pager.unread.add("graphql")
        facts = graphql_facts.read_graphql_facts(node, now)
        year = graphql_facts.count_yearly_committers(node, now)
        if year is None and facts["commits_year"] is not None:
            year = await pager.persons_by_statistics(now)
        return _merge(facts, rest_parts, year)

    async def _by_rest(self, repository: Mapping[str, Json], pager: RestPager) -> dict[str, Json]:
        """All or nothing: a partial reading for want of quota would be scored for the missing parts."""
        if not await self._calls.rotation.affords(rest_facts.CALLS):
            raise OutOfQuota
        pages, rest_parts = await _run_together(pager.pages(), pager.parts(whole=True))
        now = self._now()
        read = rest_facts.RestPages(repository=repository, profile=pager.profile, **pages)
        return _merge(
            rest_facts.read_rest_facts(read, now), rest_parts, rest_facts.count_listed_committers(read.commits, now)
        )


async def _run_together(first: Awaitable[A], second: Awaitable[B]) -> tuple[A, B]:
    """Both results. When one fails the other is cancelled, and its exception is raised without a group."""
    tasks = asyncio.ensure_future(first), asyncio.ensure_future(second)
    try:
        return await tasks[0], await tasks[1]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _public(answer: ApiResponse) -> Mapping[str, Json]:
    """The repository as REST gives it. A repository that only the operator's token can see stays private."""
    try:
        repository = as_object(answer.json())
    except NotJson as error:
        raise GitHubUnreachable("GitHub's answer is not JSON") from error
    if not repository:
        raise GitHubUnreachable("GitHub's answer is not a repository")
    visibility = repository.get("visibility") or ("private" if repository.get("private") is True else "public")
    if visibility != "public":
        # Also `internal`, which only the operator's enterprise may see. The text is published, so it is the same as for
        # a repository that does not exist.
        raise RepositoryGone(_GONE[404])
    return repository


def _merge(facts: Mapping[str, Json], rest_parts: Mapping[str, Json], year: int | None) -> dict[str, Json]:
    merged = {**facts, **rest_parts}
    health = merged.pop("health", None)
    merged["community"] = {**as_object(facts.get("community")), "health": health}
    if isinstance(contributors := merged.get("contributors"), Mapping):
        merged["contributors"] = {**contributors, "year": year}
    return merged
