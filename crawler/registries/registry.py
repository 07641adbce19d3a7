"""What every registry offers: a walk in pages of server references that can be resumed from any page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from evidence.model import ServerRef, Status

PAGE_SIZE: Final = 100

_STATUS_ORDER: Final = (Status.ACTIVE, Status.DEPRECATED, Status.DELETED, Status.INVALID)


@dataclass(frozen=True, slots=True)
class Page:
    """Some references and the cursor that continues after them; None after the last page."""

    refs: tuple[ServerRef, ...]
    cursor: str | None


class RegistryUnavailable(Exception):
    """A registry could not be read, after its own retries. The message is for people and holds no secrets.

    `cursor` is where the walk stopped: a later walk from it misses nothing.
    """

    def __init__(self, message: str, *, cursor: str | None = None) -> None:
        super().__init__(message)
        self.cursor = cursor


class Registry(Protocol):
    """A source of server references."""

    @property
    def name(self) -> str:
        """Names the registry in evidence; the same source has the same name in every run."""
        ...

    @property
    def incremental(self) -> bool:
        """True when `since` makes a walk leave out entries; else every walk sees the whole registry."""
        ...

    def walk(self, *, cursor: str | None, since: datetime | None) -> AsyncIterator[Page]:
        """All pages after `cursor`; with `since`, a registry that can may leave out what has not changed since then.

        Raises RegistryUnavailable. An entry that does not match its schema is a reference with status INVALID.
        """
        ...


def keep_newest_versions(refs: Iterable[ServerRef]) -> list[ServerRef]:
    """One reference per name, sorted by name: the best status first, then the highest version."""
    best: dict[str, ServerRef] = {}
    for ref in refs:
        known = best.get(ref.name)
        if known is None or _precedence(ref) > _precedence(known):
            best[ref.name] = ref
    return [best[name] for name in sorted(best)]


def split_into_pages(refs: Iterable[ServerRef], cursor: str | None) -> Iterator[Page]:
    """Cut a registry that is read at once into pages; the cursor is the last name of a page."""
    rest = [ref for ref in keep_newest_versions(refs) if cursor is None or ref.name > cursor]
    for start in range(0, max(len(rest), 1), PAGE_SIZE):
        page = tuple(rest[start : start + PAGE_SIZE])
        yield Page(page, page[-1].name if start + PAGE_SIZE < len(rest) else None)


def _precedence(ref: ServerRef) -> tuple[int, list[tuple[int, int, str]], bytes]:
    return -_STATUS_ORDER.index(ref.status), _version_key(ref.version), ref.entry


def _version_key(version: str) -> list[tuple[int, int, str]]:
    """Orders dotted versions by number; a pre-release (`1.0.0-rc1`) comes before its release."""
    release, dash, pre = version.partition("+")[0].partition("-")
    key = [_part_key(part) for part in release.split(".")]
    return [*key, (0, 0, pre)] if dash else [*key, (1, 0, "")]


def _part_key(part: str) -> tuple[int, int, str]:
    return (3, int(part), "") if part.isascii() and part.isdigit() and len(part) < 20 else (2, 0, part)
