"""One GraphQL query for many repositories, and its outcome for each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from crawler.collectors.repository.api.batching import QueryTooHeavy
from crawler.collectors.repository.api.calls import Calls
from crawler.collectors.repository.api.responses import (
    AccessRefused,
    ApiResponse,
    CollectionPrevented,
    GitHubUnreachable,
    RepositoryGone,
)
from crawler.collectors.repository.graphql_query import (
    POINTS,
    PROTECTION,
    build_query,
    build_variables,
    repository_alias,
)
from crawler.collectors.repository.parsing.graphql_facts import PROTECTION_UNREAD
from crawler.collectors.repository.parsing.json_values import as_list, as_object, as_text, list_objects
from crawler.collectors.repository.parsing.responsiveness import YEAR
from evidence.canonical import Json, NotJson
from evidence.model import Reason

Node: TypeAlias = Mapping[str, Json]
Outcome: TypeAlias = Node | RepositoryGone | CollectionPrevented

PARTIAL: Final = "partial"
"""Our own member of a node, for a node that GitHub answered incompletely; GitHub never uses the name."""

_HEAVY: Final = frozenset({"MAX_NODE_LIMIT_EXCEEDED", "RESOURCE_LIMITS_EXCEEDED", "EXCESSIVE_PAGINATION", "TIMEOUT"})
_TIMEOUTS: Final = ("timeout", "something went wrong", "timed out", "too large")


class QueryUnsupported(CollectionPrevented):
    """This GitHub does not support our query, for example an older Enterprise Server."""

    def __init__(self) -> None:
        super().__init__(Reason.NOT_COLLECTED, "this GitHub's GraphQL does not know the query")


class GraphQLClient:
    """Asks for many repositories at once. `now` is the time from which the last year counts."""

    def __init__(self, calls: Calls, now: Callable[[], datetime]) -> None:
        self._calls = calls
        self._now = now

    async def __call__(self, names: Sequence[str]) -> Mapping[str, Outcome]:
        """The outcome for each name; raise QueryTooHeavy, or CollectionPrevented when there is none for any name."""
        since = self._now() - YEAR
        answer = await self._calls.graphql(
            build_query(len(names)), build_variables(names, since), key=names[0], cost=POINTS * len(names)
        )
        data, errors = _read(answer)
        if data is None:
            raise _refusal(errors)
        errors_by_alias = _by_alias(errors)
        if len(names) > 1 and any(_is_too_heavy(error) for error in errors):
            raise QueryTooHeavy
        return {
            name: _outcome(data.get(repository_alias(index)), errors_by_alias.get(repository_alias(index), []))
            for index, name in enumerate(names)
        }


def _read(answer: ApiResponse) -> tuple[Mapping[str, Json] | None, Sequence[Mapping[str, Json]]]:
    """`data` (None when there is none) and `errors`; PyGithub would raise at the first error and hide the rest."""
    if answer.status >= 500:
        raise QueryTooHeavy
    if answer.status in {401, 403}:
        raise AccessRefused("GitHub refused the query")
    try:
        value = as_object(answer.json())
    except NotJson as error:
        raise GitHubUnreachable("GitHub's answer is not JSON") from error
    data, errors = value.get("data"), list_objects(value.get("errors"))
    if not isinstance(data, Mapping) and not errors:
        raise GitHubUnreachable("GitHub's answer holds neither data nor errors")
    return (data if isinstance(data, Mapping) else None), errors


def _refusal(errors: Sequence[Mapping[str, Json]]) -> Exception:
    if any(_is_too_heavy(error) for error in errors):
        return QueryTooHeavy()
    return QueryUnsupported()


def _is_too_heavy(error: Mapping[str, Json]) -> bool:
    message = (as_text(error.get("message"), 2000) or "").lower()
    return error.get("type") in _HEAVY or any(word in message for word in _TIMEOUTS)


def _by_alias(errors: Sequence[Mapping[str, Json]]) -> Mapping[str, list[Mapping[str, Json]]]:
    errors_by_alias: dict[str, list[Mapping[str, Json]]] = {}
    for error in errors:
        path = as_list(error.get("path"))
        if path and isinstance(path[0], str):
            errors_by_alias.setdefault(path[0], []).append(error)
    return errors_by_alias


def _outcome(value: Json, errors: Sequence[Mapping[str, Json]]) -> Outcome:
    if isinstance(value, Mapping) and as_text(value.get("nameWithOwner")):
        missing = [error for error in errors if not PROTECTION & set(map(str, as_list(error.get("path"))))]
        unread = {PROTECTION_UNREAD: True} if len(missing) < len(errors) else {}
        return {**value, **unread, **({PARTIAL: True} if missing else {})}
    kinds = {error.get("type") for error in errors}
    if "NOT_FOUND" in kinds:
        return RepositoryGone("GitHub does not know the repository (404)")
    if "FORBIDDEN" in kinds:
        return AccessRefused("GitHub does not let this token see the repository")
    return GitHubUnreachable("GitHub left the repository out of its answer")
