"""Pages of one repository over REST: requested with the earlier ETag, and each read completely or kept as it was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Final

from crawler.collectors.repository.api.calls import Calls
from crawler.collectors.repository.api.responses import ApiResponse, GitHubUnreachable
from crawler.collectors.repository.parsing import rest_facts, rest_sections
from crawler.collectors.repository.parsing.json_values import as_object, as_text
from crawler.collectors.repository.shared_probes import EarlierRepository
from evidence.canonical import Json, NotJson

STATISTICS_TRIES: Final = 3
STATISTICS_PAUSE: Final = 3.0  # seconds

_ADVISORIES: Final = "security-advisories"


class RestPager:
    """Reads pages of `name`. `etags` and `unread` (parts that GitHub did not give) fill while it does."""

    def __init__(
        self, calls: Calls, name: str, known: EarlierRepository | None, pause: Callable[[float], Awaitable[None]]
    ) -> None:
        self.name: Final = name
        self.etags: dict[str, str] = {}
        self.unread: set[str] = set()
        self.profile: Json = None
        self._calls = calls
        self._known = known
        self._pause = pause

    async def parts(self, *, whole: bool = False) -> dict[str, Json]:
        """Members of the body that only REST has, and `health` of its community; `whole` also fills `profile`.

        A part that GitHub cannot give now keeps its earlier value, or is unknown.
        """
        return {**await self._contributors(), **await self._health(whole), **await self._advisories()}

    async def pages(self) -> dict[str, Json]:
        """The pages that replace GraphQL, by the names of `rest_facts.RestPages`; None for a refused page."""
        return {part: await self._page(part, path, query) for part, (path, query) in rest_facts.PATHS.items()}

    async def persons_by_statistics(self, now: datetime) -> int | None:
        """Persons who committed in the last year. GitHub answers 202 while it counts, and is asked a few times."""
        for again in range(STATISTICS_TRIES):
            answer = await self._get("stats/contributors", {})
            if answer is None or answer.status != 202:
                break
            if again + 1 < STATISTICS_TRIES:
                await self._pause(STATISTICS_PAUSE)
        if answer is None or answer.status == 202:
            self.unread.add("statistics")
            return None
        return rest_sections.count_committers_by_statistics(answer.json(), now) if answer.status == 200 else None

    async def _contributors(self) -> dict[str, Json]:
        names = ("contributors", "bus_factor")
        answer = await self._part("contributors", "contributors", {"per_page": rest_sections.PAGE, "anon": 1})
        if answer is None:
            return self._earlier_facts(names)
        # 204: an empty repository. 403: a history that is too long to list.
        listed = [] if answer.status == 204 else answer.json() if answer.status == 200 else None
        return rest_sections.read_contributors(listed, more='rel="next"' in answer.headers.get("link", ""), year=None)

    async def _health(self, whole: bool) -> dict[str, Json]:
        answer = await self._part("profile", "community/profile", {}, again=whole)
        if answer is None:
            known = self._known.facts if self._known else {}
            return {"health": as_object(known.get("community")).get("health")}
        # 404: a fork, for which GitHub has no profile.
        self.profile = answer.json() if answer.status == 200 else None
        return {"health": rest_sections.read_health_percentage(self.profile)}

    async def _advisories(self) -> dict[str, Json]:
        """All pages or none: an advisory of a page that is missing would look as if it had been withdrawn."""
        query: dict[str, str | int] = {"state": "published", "per_page": rest_sections.PAGE}
        answer = await self._part("advisories", _ADVISORIES, query)
        if answer is None:
            return self._earlier_facts(("advisories",))
        listed = answer.json() if answer.status == 200 else None
        pages = 1
        while isinstance(listed, list) and (cursor := rest_sections.find_next_cursor(answer.headers.get("link", ""))):
            self.etags.pop("advisories", None)  # it would say nothing about the other pages
            answer = await self._get(_ADVISORIES, {**query, "after": cursor})
            page = answer.json() if answer and answer.status == 200 else None
            if answer is None or not isinstance(page, list) or pages == rest_sections.MAX_PAGES:
                self.unread.add("advisories")
                return self._earlier_facts(("advisories",))
            listed, pages = [*listed, *page], pages + 1
        return {"advisories": rest_sections.read_advisories(listed)}

    def _earlier_facts(self, names: tuple[str, ...]) -> dict[str, Json]:
        known = self._known.facts if self._known else {}
        return {name: known.get(name) for name in names}

    async def _part(
        self, part: str, path: str, query: Mapping[str, str | int], *, again: bool = False
    ) -> ApiResponse | None:
        """The answer with the page; None when it is unchanged or could not be read."""
        known = self._known.etags.get(part) if self._known and not again else None
        answer = await self._get(path, query, etag=known)
        if answer is None:
            self.unread.add(part)
            return None
        if answer.status == 304 and known:
            self.etags[part] = known
            return None
        if answer.status == 200 and (etag := as_text(answer.headers.get("etag"))):
            self.etags[part] = etag
        return answer

    async def _page(self, part: str, path: str, query: Mapping[str, str | int]) -> Json:
        answer = await self._get(path, query)
        if answer is None:
            self.unread.add(part)
            return None
        # 409: an empty repository. 404 and 410: issues are switched off.
        return answer.json() if answer.status == 200 else [] if answer.status in {404, 409, 410} else None

    async def _get(self, path: str, query: Mapping[str, str | int], etag: str | None = None) -> ApiResponse | None:
        try:
            answer = await self._calls.get(f"/repos/{self.name}/{path}", key=self.name, parameters=query, etag=etag)
            if answer.status == 200:
                answer.json()
        except (GitHubUnreachable, NotJson):
            return None
        return answer
