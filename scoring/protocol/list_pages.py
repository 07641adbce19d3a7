"""The pages of the four lists in a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from evidence.canonical import Json
from evidence.kinds.exchanges import Exchange
from evidence.kinds.listing import LISTS
from scoring.scopes.base import Scope
from scoring.text import evidence_path

LIST_STEPS: Final = tuple(f"list-{name}" for name in LISTS)
"""The steps that request the lists page by page."""


def list_member(exchange: Exchange) -> str:
    """The member of the result that holds the entries, such as `resourceTemplates`."""
    return exchange.step.removeprefix("list-")


def list_page_exchanges(exchanges: Iterable[Exchange]) -> list[tuple[Exchange, ...]]:
    """The exchanges of each list on each connection, in the order of the pages."""
    ordered = sorted(exchanges, key=lambda one: (one.connection.index, one.step, one.page, one.index))
    return [tuple(group) for _, group in groupby(ordered, key=lambda one: (one.connection.index, one.step))]


def list_page_entries(exchange: Exchange, name: str) -> Sequence[Json]:
    """The entries of one page; empty when the member is not an array."""
    found = exchange.fields.get(name)
    return found if isinstance(found, list) else ()


def list_entry_places(exchange: Exchange, name: str) -> Iterator[tuple[Scope, Json]]:
    """Every entry of one page with the place for a finding."""
    found = list_page_entries(exchange, name)
    labels = evidence_path.name_segments([entry_label(entry) for entry in found])
    for index, (entry, segment) in enumerate(zip(found, labels, strict=True)):
        yield Scope(at=evidence_path.join_segments(exchange.at, segment), position=(exchange.index, index)), entry


def entry_label(entry: Json) -> str:
    """The name of an entry, else its URI, else the empty string."""
    members = entry if isinstance(entry, dict) else {}
    found = (members.get(name) for name in ("name", "uri", "uriTemplate"))
    return next((value for value in found if isinstance(value, str) and value), "")
