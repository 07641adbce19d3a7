"""Packs a listed server into its row, and groups servers by the values of their filters."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson
from msgspec import Struct

from evidence.model import Server
from evidence.store.listing.values import ListedScore, ListedServer, ListingQuery, ServerFacets


class FilterGroup(NamedTuple):
    """The values of the filters; the servers with equal values are one group (`kind`)."""

    state: str
    reason: str | None
    ecosystem: str
    registries: tuple[str, ...]
    badges: tuple[str, ...]
    gate: bool

    @classmethod
    def from_json(cls, values: Iterable[Any]) -> FilterGroup:
        return cls._make(tuple(value) if isinstance(value, list) else value for value in values)


_SINGLE: Final = ("state", "reason", "ecosystem")
"""The filters of which a server has one value, by their names in a query and in a group."""

_MANY: Final = {"registry": "registries", "badge": "badges"}
"""The filters of which a server may have several values, by their names in a query."""


class FilterGroups(Struct, frozen=True):
    """The filter groups of an edition, each with its number of servers."""

    counted: tuple[tuple[FilterGroup, int], ...]

    def matching(self, query: ListingQuery) -> dict[int, int] | None:
        """The numbers of the groups that match a query, with their server counts; None when all match."""
        single = [(name, value) for name in _SINGLE if (value := getattr(query, name)) is not None]
        many = [(members, value) for name, members in _MANY.items() if (value := getattr(query, name)) is not None]
        if not single and not many:
            return None
        return {
            number: count
            for number, (kind, count) in enumerate(self.counted)
            if all(getattr(kind, name) == value for name, value in single)
            and all(value in getattr(kind, members) for members, value in many)
        }

    def gated(self) -> list[int]:
        """The numbers of the groups whose pages may be indexed."""
        return [number for number, (kind, _) in enumerate(self.counted) if kind.gate]

    def to_json(self) -> str:
        return orjson.dumps([(tuple(kind), count) for kind, count in self.counted]).decode()

    @classmethod
    def from_json(cls, text: str) -> FilterGroups:
        return cls(tuple((FilterGroup.from_json(values), count) for values, count in orjson.loads(text)))


def filter_group_of(listed: ListedServer) -> FilterGroup:
    return FilterGroup(listed.state, listed.reason, listed.ecosystem, listed.registries, listed.badges, listed.gate)


def pack_server(listed: ListedServer) -> bytes:
    """The values of a listed server that are neither in the server table nor in a column of their own."""
    scores = [_packed_score(score) for score in listed.scores]
    facets = listed.facets
    packed = [facets.categories, facets.transport, facets.access, facets.read_only, facets.advisories]
    return orjson.dumps([tuple(filter_group_of(listed)), listed.tools, scores, listed.purpose, packed])


def unpack_server(body: bytes, server: Server, run: str, seen: datetime) -> ListedServer:
    values, tools, scores, purpose, (categories, *facets) = orjson.loads(body)
    group = FilterGroup.from_json(values)
    return ListedServer(
        server=server,
        run=run,
        as_of=seen,
        state=group.state,
        reason=group.reason,
        ecosystem=group.ecosystem,
        registries=group.registries,
        tools=tools,
        gate=group.gate,
        badges=group.badges,
        scores=tuple(_score(*score) for score in scores),
        purpose=purpose,
        facets=_facets(tuple(categories), *facets),
    )


@lru_cache(8_192)
def _facets(categories: tuple[str, ...], transport: str, access: str, read_only: str, advisories: str) -> ServerFacets:
    """Cached, since many servers have equal facets."""
    return ServerFacets(
        categories=categories, transport=transport, access=access, read_only=read_only, advisories=advisories
    )


def _packed_score(score: ListedScore) -> list[Any]:
    return [
        score.rubric,
        score.version,
        _text(score.score),
        score.grade,
        _text(score.floor),
        _text(score.ceiling),
        str(score.coverage),
        score.thin,
        score.capped,
        score.not_measured,
    ]


@lru_cache(8_192)
def _score(*packed: Any) -> ListedScore:
    """Cached, since all servers that could not be measured have equal scores."""
    rubric, version, score, grade, floor, ceiling, coverage, thin, capped, not_measured = packed
    return ListedScore(
        rubric=rubric,
        version=version,
        score=_number(score),
        grade=grade,
        floor=_number(floor),
        ceiling=_number(ceiling),
        coverage=Decimal(coverage),
        thin=thin,
        capped=capped,
        not_measured=not_measured,
    )


def _text(number: Decimal | None) -> str | None:
    return None if number is None else str(number)


def _number(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
