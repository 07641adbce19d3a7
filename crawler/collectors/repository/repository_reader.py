"""Reads one repository: first whether it changed, then the facts of GraphQL and those that only REST has."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from crawler.collectors.repository.api.batching import Batcher
from crawler.collectors.repository.api.calls import Calls
from crawler.collectors.repository.api.responses import (
    AccessRefused,
    ApiResponse,
    GitHubUnreachable,
    OutOfQuota,
    RepositoryGone,
)
from crawler.collectors.repository.concurrency import run_together
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
        self._turn = asyncio.Lock()

    async def __call__(self, name: str, known: EarlierRepository | None) -> RepositoryProbe:
        """The facts of `OWNER/REPO`; raise RepositoryGone or CollectionPrevented. `known` is the earlier result."""
        if not self._calls.purse.anonymous:
            return await self._look(name, known)
        # Sixty requests an hour are for few repositories, one after another: many at once would finish none of them.
        with pause_deadline():
            await self._turn.acquire()
        try:
            if self._etag(known) is None and not await self._calls.purse.affords(1 + rest_facts.CALLS):
                raise OutOfQuota
            return await self._look(name, known)
        finally:
            self._turn.release()

    async def _look(self, name: str, known: EarlierRepository | None) -> RepositoryProbe:
        with self._batcher.coming() as ask:
            first = await self._first(name, known)
            if known and known.full_at and first.status == 304:
                return RepositoryProbe(
                    facts=known.facts,
                    etags=known.etags,
                    full_at=known.full_at,
                    looked_at=self._now(),
                    way="unchanged",
                )
            said = _public(first)
            pager = RestPager(self._calls, parse_repository_name(said.get("full_name")) or name, known, self._pause)
            found, way = await self._read(said, pager, ask)
        found["name"] = found["name"] or pager.name
        etag = as_text(first.headers.get("etag"))
        if etag and not pager.unread:
            pager.etags[REPOSITORY] = etag
        now = self._now()
        return RepositoryProbe(
            facts=found, etags=pager.etags, full_at=now, looked_at=now, way=way, unread=tuple(sorted(pager.unread))
        )

    async def _first(self, name: str, known: EarlierRepository | None) -> ApiResponse:
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

    async def _read(self, said: Mapping[str, Json], pager: RestPager, ask: Ask) -> tuple[dict[str, Json], str]:
        if self._knows_graphql and not self._calls.purse.anonymous:
            try:
                return await self._by_graphql(pager, ask), "graphql"
            except QueryUnsupported:
                self._knows_graphql = False
        return await self._by_rest(said, pager), "rest"

    async def _by_graphql(self, pager: RestPager, ask: Ask) -> dict[str, Json]:
        node, more = await run_together(ask(pager.name), pager.parts())
        now = self._now()
        if node.get(PARTIAL):
            pager.unread.add("graphql")
        found = graphql_facts.read_graphql_facts(node, now)
        year = graphql_facts.count_yearly_committers(node, now)
        if year is None and found["commits_year"] is not None:
            year = await pager.persons_by_statistics(now)
        return _merged(found, more, year)

    async def _by_rest(self, said: Mapping[str, Json], pager: RestPager) -> dict[str, Json]:
        """All or nothing: a partial reading for want of quota would be scored for the missing parts."""
        if not await self._calls.purse.affords(rest_facts.CALLS):
            raise OutOfQuota
        pages, more = await run_together(pager.pages(), pager.parts(whole=True))
        now = self._now()
        read = rest_facts.RestPages(repository=said, profile=pager.profile, **pages)
        return _merged(
            rest_facts.read_rest_facts(read, now), more, rest_facts.count_listed_committers(read.commits, now)
        )


def _public(answer: ApiResponse) -> Mapping[str, Json]:
    """The repository as REST gives it. A repository that only the operator's token can see stays private."""
    try:
        said = as_object(answer.json())
    except NotJson as error:
        raise GitHubUnreachable("GitHub's answer is not JSON") from error
    if not said:
        raise GitHubUnreachable("GitHub's answer is not a repository")
    visibility = said.get("visibility") or ("private" if said.get("private") is True else "public")
    if visibility != "public":
        # Also `internal`: everybody in the operator's enterprise may see it, and nobody else. The same words as for one
        # that is not there, since they are published.
        raise RepositoryGone(_GONE[404])
    return said


def _merged(found: Mapping[str, Json], more: Mapping[str, Json], year: int | None) -> dict[str, Json]:
    merged = {**found, **more}
    health = merged.pop("health", None)
    merged["community"] = {**as_object(found.get("community")), "health": health}
    if isinstance(contributors := merged.get("contributors"), Mapping):
        merged["contributors"] = {**contributors, "year": year}
    return merged
