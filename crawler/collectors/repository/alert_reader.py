"""Reads Dependabot's alerts where one of the operator's tokens has write access to the repository."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from crawler.collectors.repository.api.calls import Calls
from crawler.collectors.repository.api.responses import AccessRefused, ApiResponse, GitHubUnreachable
from crawler.collectors.repository.api.token_rotation import Token
from crawler.collectors.repository.parsing import rest_sections
from crawler.collectors.repository.parsing.json_values import as_object, as_text, list_objects
from evidence.canonical import Json, NotJson, canonical_json
from evidence.model import Absent, Observed, Reason

_WRITE_PERMISSIONS: Final = ("admin", "maintain", "push")


class AlertReader:
    """Reads alerts of the repositories that the tokens may write to; asks each token once which those are."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._asking = asyncio.Lock()
        self._own: Mapping[str, Token] | None = None

    async def read_alerts(self, name: str) -> Observed | Absent:
        """The alerts of `OWNER/REPO`, or why they are not read; raise CollectionPrevented for a failure of ours."""
        if self._calls.rotation.anonymous:
            return Absent(Reason.NOT_COLLECTED, "alerts are read with a token of the repository's maintainers")
        token = (await self._find_own_repositories()).get(name.lower())
        if token is None:
            return Absent(Reason.FORBIDDEN, "no token of the operator has a say in the repository")
        return await self._pages(name, token)

    async def _find_own_repositories(self) -> Mapping[str, Token]:
        async with self._asking:
            if self._own is None:
                own: dict[str, Token] = {}
                for token in self._calls.rotation.tokens:
                    for name in await self._list_own_repositories(token):
                        own.setdefault(name, token)
                self._own = own
            return self._own

    async def _list_own_repositories(self, token: Token) -> set[str]:
        try:
            names = await self._list_repositories(token, "/user/repos")
            if names is None:
                # An installation of a GitHub App has no account; it may write to every repository with the app.
                names = await self._list_repositories(token, "/installation/repositories")
            return names or set()
        except AccessRefused:
            return set()

    async def _list_repositories(self, token: Token, path: str) -> set[str] | None:
        names: set[str] = set()
        for page in range(1, rest_sections.MAX_PAGES + 1):
            query = {"per_page": rest_sections.PAGE, "page": page}
            answer = await self._calls.get(path, key=path, parameters=query, token=token)
            if answer.status != 200:
                return names if page > 1 else None
            value = _value(answer)
            listed = list_objects(as_object(value).get("repositories") if isinstance(value, Mapping) else value)
            own = (as_text(entry.get("full_name")) for entry in listed if _may_write(entry))
            names |= {name.lower() for name in own if name}
            if len(listed) < rest_sections.PAGE:
                break
        return names

    async def _pages(self, name: str, token: Token) -> Observed | Absent:
        alerts: list[dict[str, Json]] = []
        query: dict[str, str | int] = {"per_page": rest_sections.PAGE}
        for _ in range(rest_sections.MAX_PAGES):
            path = f"/repos/{name}/dependabot/alerts"
            answer = await self._calls.get(path, key=name, parameters=query, token=token)
            if answer.status != 200:
                return _refusal(answer)
            alerts += rest_sections.read_alerts(_value(answer))
            cursor = rest_sections.find_next_cursor(answer.headers.get("link", ""))
            if cursor is None:
                return _observed(alerts, complete=True)
            query["after"] = cursor
        return _observed(alerts, complete=False)


def _refusal(answer: ApiResponse) -> Absent:
    # 403: alerts are switched off, or the token lacks the permission to read them.
    return Absent(Reason.FORBIDDEN, f"HTTP {answer.status}: GitHub does not let the token read alerts")


def _observed(alerts: list[dict[str, Json]], *, complete: bool) -> Observed:
    return Observed(canonical_json(rest_sections.alerts_body(alerts, complete=complete)))


def _value(answer: ApiResponse) -> Json:
    try:
        return answer.json()
    except NotJson as error:
        raise GitHubUnreachable("GitHub's answer is not JSON") from error


def _may_write(entry: Mapping[str, Json]) -> bool:
    """True for a repository that the account may write to; an installation does not see its own permissions."""
    permissions = entry.get("permissions")
    return not isinstance(permissions, Mapping) or any(permissions.get(right) is True for right in _WRITE_PERMISSIONS)
