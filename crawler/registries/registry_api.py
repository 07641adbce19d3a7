"""The generic registry API (`/v0.1/servers`): the official registry and compatible ones."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from crawler.json_spans import split_elements, split_members
from crawler.registries.document_client import DocumentClient, DocumentUnavailable
from crawler.registries.registry import PAGE_SIZE, Page, RegistryUnavailable, keep_newest_versions
from crawler.registries.server_json import NotLatest, read_entry
from evidence.canonical import Json, NotJson, parse_json
from evidence.model import ServerRef

OVERLAP: Final = timedelta(hours=1)
MAX_PAGES: Final = 10_000
MAX_ENTRIES: Final = 10_000
MAX_CURSOR: Final = 2048


class GenericRegistry:
    """A walk over the newest versions of all servers."""

    incremental: Final = True

    def __init__(
        self,
        name: str,
        base_url: str,
        fetcher: DocumentClient,
        *,
        overlap: timedelta = OVERLAP,
        include_deleted: bool = True,
        page_size: int = PAGE_SIZE,
        max_pages: int = MAX_PAGES,
    ) -> None:
        self.name = name
        self._url = base_url.rstrip("/") + "/v0.1/servers"
        self._fetcher = fetcher
        self._overlap = overlap
        self._include_deleted = include_deleted
        self._page_size = page_size
        self._max_pages = max_pages

    def __repr__(self) -> str:
        return f"GenericRegistry({self.name!r}, host={urlsplit(self._url).hostname!r})"

    async def walk(self, *, cursor: str | None = None, since: datetime | None = None) -> AsyncIterator[Page]:
        """All pages after `cursor`. Raises RegistryUnavailable with the cursor of the page that failed."""
        seen: set[str] = set()
        for _ in range(self._max_pages):
            page = await self._page(cursor, since)
            yield page
            if page.cursor is None:
                return
            if page.cursor in seen or page.cursor == cursor:
                raise self._unavailable(f"it repeats a cursor after {len(seen) + 1} pages", cursor)
            seen.add(page.cursor)
            cursor = page.cursor
        raise self._unavailable(f"it has more than {self._max_pages} pages", cursor)

    async def _page(self, cursor: str | None, since: datetime | None) -> Page:
        try:
            body = await self._fetcher.get(self._url, self._parameters(cursor, since), _split)
            return self._read(*body)
        except (DocumentUnavailable, NotJson) as error:
            raise self._unavailable(str(error), cursor) from error

    def _parameters(self, cursor: str | None, since: datetime | None) -> dict[str, str]:
        parameters = {"limit": str(self._page_size), "version": "latest"}
        if cursor:
            parameters["cursor"] = cursor
        if since:
            # With updated_since the registry includes deleted servers by itself and refuses include_deleted=false.
            moment = (since - self._overlap).astimezone(UTC)
            parameters["updated_since"] = moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
        elif self._include_deleted:
            parameters["include_deleted"] = "true"
        return parameters

    def _read(self, entries: list[bytes], metadata: Mapping[str, Json]) -> Page:
        following = metadata.get("nextCursor") or metadata.get("next_cursor") or None
        if following is not None and not (isinstance(following, str) and len(following) <= MAX_CURSOR):
            raise NotJson(f"a cursor is text of at most {MAX_CURSOR} characters")
        return Page(tuple(keep_newest_versions(self._refs(entries))), following)

    def _refs(self, entries: list[bytes]) -> list[ServerRef]:
        refs = []
        for entry in entries:
            try:
                refs.append(read_entry(self.name, entry))
            except NotLatest:
                continue
        return refs

    def _unavailable(self, why: str, cursor: str | None) -> RegistryUnavailable:
        return RegistryUnavailable(f"registry {self.name} ({urlsplit(self._url).hostname}): {why}", cursor=cursor)


def _split(body: bytes) -> tuple[list[bytes], Mapping[str, Json]]:
    """The entries of a page as received, and its metadata; raise NotJson when it is not a page."""
    parts = dict(split_members(body))
    if "servers" not in parts:
        raise NotJson("a page with `servers` expected")
    # The reference registry answers null for an empty list.
    entries = [] if parts["servers"] == b"null" else split_elements(parts["servers"], limit=MAX_ENTRIES)
    metadata = parse_json(parts.get("metadata", b"{}"))
    return entries, metadata if isinstance(metadata, Mapping) else {}
