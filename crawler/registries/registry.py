"""The interface of registries: a walk over pages of server references that can resume after any page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct

from evidence.model import ServerRef, Status

PAGE_SIZE: Final = 100

_STATUS_ORDER: Final = (Status.ACTIVE, Status.DEPRECATED, Status.DELETED, Status.INVALID)


class Page(Struct, frozen=True):
    """References, and the cursor for the next page; None after the last page."""

    refs: tuple[ServerRef, ...]
    cursor: str | None


class RegistryUnavailable(Exception):
    """A registry could not be read in spite of retries. The message is for people and contains no secrets.

    `cursor` is the position of the failure: a later walk from there misses nothing.
    """

    def __init__(self, message: str, *, cursor: str | None = None) -> None:
        super().__init__(message)
        self.cursor = cursor


class Registry(Protocol):
    """A source of server references."""

    @property
    def name(self) -> str:
        """The name of the registry in evidence; the same source has the same name in every run."""
        ...

    @property
    def incremental(self) -> bool:
        """Whether `since` leaves out unchanged entries; otherwise each walk covers the whole registry."""
        ...

    def walk(self, *, cursor: str | None, since: datetime | None) -> AsyncIterator[Page]:
        """All pages after `cursor`; with `since`, an incremental registry may leave out entries unchanged since then.

        Raises RegistryUnavailable. An entry that does not match its schema is a reference with status INVALID.
        """
        ...


def keep_newest_versions(refs: Iterable[ServerRef]) -> list[ServerRef]:
    """One reference for each name, sorted by name: the best status first, then the highest version."""
    best: dict[str, ServerRef] = {}
    for ref in refs:
        known = best.get(ref.name)
        if known is None or _precedence(ref) > _precedence(known):
            best[ref.name] = ref
    return [best[name] for name in sorted(best)]


def split_into_pages(refs: Iterable[ServerRef], cursor: str | None) -> Iterator[Page]:
    """The pages of a registry that is read at once; the cursor is the last name of a page."""
    rest = [ref for ref in keep_newest_versions(refs) if cursor is None or ref.name > cursor]
    for start in range(0, max(len(rest), 1), PAGE_SIZE):
        page = tuple(rest[start : start + PAGE_SIZE])
        yield Page(page, page[-1].name if start + PAGE_SIZE < len(rest) else None)


def _precedence(ref: ServerRef) -> tuple[int, list[tuple[int, int, str]], bytes]:
    return -_STATUS_ORDER.index(ref.status), _version_key(ref.version), ref.entry


def _version_key(version: str) -> list[tuple[int, int, str]]:
    """Sort key of dotted versions by number; a pre-release (`1.0.0-rc1`) sorts before its release."""
    release, dash, pre = version.partition("+")[0].partition("-")
    key = [_part_key(part) for part in release.split(".")]
    return [*key, (0, 0, pre)] if dash else [*key, (1, 0, "")]


def _part_key(part: str) -> tuple[int, int, str]:
    return (3, int(part), "") if part.isascii() and part.isdigit() and len(part) < 20 else (2, 0, part)
