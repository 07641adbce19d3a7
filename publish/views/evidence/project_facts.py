"""A few facts about the project behind a server, each one cell of the dataset; empty where it is not known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC
from functools import lru_cache
from typing import Final, TypeVar

from evidence.canonical import NotJson
from evidence.kinds import advisories, package, repository
from evidence.kinds.advisories import Advisories
from evidence.kinds.package import Package
from evidence.kinds.repository import Repository
from evidence.model import Absent, Record
from scoring.text.timestamps import parse_timestamp

Records = Mapping[str, Record]
ProjectFact = Callable[[Records], str]
View = TypeVar("View")

_KEPT: Final = 8
"""Number of cached views: the rows of one server, one for each rubric, follow each other."""


def package_fact(value: Callable[[Package], str | int | bool | None]) -> ProjectFact:
    """A fact of the package index."""
    return _of(package.KIND, _package, value)


def format_moment(text: str | None) -> str | None:
    """A time of the evidence in ISO 8601 and UTC; None for other text."""
    moment = parse_timestamp(text)
    try:
        return moment.astimezone(UTC).isoformat() if moment else None
    except OverflowError:
        return None


def repository_fact(value: Callable[[Repository], str | int | bool | None]) -> ProjectFact:
    """A fact of the source repository."""
    return _of(repository.KIND, _repository, value)


def advisories_fact(value: Callable[[Advisories], str | int | bool | None]) -> ProjectFact:
    """A fact of the published advisories."""
    return _of(advisories.KIND, _advisories, value)


def find_licence(records: Records) -> str:
    """The licence that the host recognised, or else the one that the package names."""
    return repository_fact(lambda seen: seen.licence)(records) or package_fact(lambda seen: seen.licence)(records)


def find_worst_severity(seen: Advisories) -> str:
    """The severity of the worst advisory; they are sorted."""
    return seen.groups[0].severity.value if seen.groups else ""


def _of(kind: str, parse: Callable[[bytes], View], value: Callable[[View], str | int | bool | None]) -> ProjectFact:
    def fact(records: Records) -> str:
        record = records.get(kind)
        if record is None or isinstance(record.content, Absent):
            return ""
        try:
            found = value(parse(record.content.body))
        except NotJson:
            return ""
        return _word(found)

    return fact


def _word(value: str | int | bool | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


_package = lru_cache(_KEPT)(Package.parse)
_repository = lru_cache(_KEPT)(Repository.parse)
_advisories = lru_cache(_KEPT)(Advisories.parse)
