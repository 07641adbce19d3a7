"""Packs a listed server into its row, and groups servers by the values of their filters."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeAlias

import orjson

from evidence.model import Server
from evidence.store.listing.values import ListedScore, ListedServer, ListingQuery

FilterGroup: TypeAlias = tuple[str, str | None, str, tuple[str, ...], tuple[str, ...], bool]
"""State, reason, ecosystem, registries, badges and gate; the servers with equal values are one group (`kind`)."""


@dataclass(frozen=True, slots=True)
class FilterGroups:
    """The filter groups of an edition, each with its number of servers."""

    counted: tuple[tuple[FilterGroup, int], ...]

    def matching(self, query: ListingQuery) -> dict[int, int] | None:
        """The numbers of the groups that match a query, with their server counts; None when all match."""
        if not any((query.state, query.reason, query.ecosystem, query.registry, query.badge)):
            return None
        return {number: count for number, (kind, count) in enumerate(self.counted) if _matches(kind, query)}

    def gated(self) -> list[int]:
        """The numbers of the groups whose pages may be indexed."""
        return [number for number, ((*_, gate), _) in enumerate(self.counted) if gate]

    def to_json(self) -> str:
        return orjson.dumps(self.counted).decode()

    @classmethod
    def from_json(cls, text: str) -> FilterGroups:
        return cls(
            tuple(
                ((state, reason, ecosystem, tuple(registries), tuple(badges), gate), count)
                for (state, reason, ecosystem, registries, badges, gate), count in orjson.loads(text)
            )
        )


def filter_group_of(listed: ListedServer) -> FilterGroup:
    return listed.state, listed.reason, listed.ecosystem, listed.registries, listed.badges, listed.gate


def pack_server(listed: ListedServer) -> bytes:
    """The values of a listed server that are neither in the server table nor in a column of their own."""
    return orjson.dumps(
        [*filter_group_of(listed), listed.tools, [_packed_score(score) for score in listed.scores], listed.purpose]
    )


def unpack_server(body: bytes, server: Server, run: str, seen: datetime) -> ListedServer:
    state, reason, ecosystem, registries, badges, gate, tools, scores, purpose = orjson.loads(body)
    return ListedServer(
        server=server,
        run=run,
        as_of=seen,
        state=state,
        reason=reason,
        ecosystem=ecosystem,
        registries=tuple(registries),
        tools=tools,
        gate=gate,
        badges=tuple(badges),
        scores=tuple(_score(*score) for score in scores),
        purpose=purpose,
    )


def _matches(kind: FilterGroup, query: ListingQuery) -> bool:
    state, reason, ecosystem, registries, badges, _ = kind
    return (
        query.state in {None, state}
        and query.reason in {None, reason}
        and query.ecosystem in {None, ecosystem}
        and (query.registry is None or query.registry in registries)
        and (query.badge is None or query.badge in badges)
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
