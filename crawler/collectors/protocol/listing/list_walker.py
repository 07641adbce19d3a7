"""Reads the four lists page by page within caps, tolerant of whatever a page holds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from msgspec import Struct, field

from crawler.collectors.protocol.session.absence_reasons import explain_reply
from crawler.collectors.protocol.session.handshake import Opened
from crawler.http.failures import TooLarge
from crawler.mcp.channel import Era
from crawler.mcp.transcript import Reply
from evidence.canonical import Json
from evidence.derive.secret_scrubbing import scrub_body
from evidence.json_members import array_or_empty, object_or_empty
from evidence.kinds.listing import LISTS, End

LIST_METHODS: Final = {
    "tools": "tools/list",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
    "prompts": "prompts/list",
}
_CAPABILITY: Final = {**{name: name for name in LISTS}, "resourceTemplates": "resources"}
_LOST_SESSION: Final = frozenset({400, 404})
_LONGEST_CURSOR: Final = 16 * 1024
_LONGEST_ERROR: Final = 64 * 1024
_STATUS_WINS: Final = frozenset({401, 402, 403, 429})

Reopen = Callable[[], Awaitable[bool]]


class ListResult(Struct):
    """One list as it was received. `error` is the bytes of a JSON-RPC error, or our own words.

    `items` holds the tools until they were tried; `paged`: a page named a next cursor.
    """

    declared: bool
    end: End = End.NOT_ASKED
    error: bytes | str | None = None
    pages: list[bytes] = field(default_factory=list)
    items: list[Json] = field(default_factory=list)
    paged: bool = False


class ListWalker:
    """Reads the lists of an opened server. `reopen` initialises a lost session again and returns whether it worked."""

    def __init__(self, opened: Opened, reopen: Reopen) -> None:
        self._opened = opened
        self._dialogue = opened.dialogue
        self._limits = opened.dialogue.limits
        self._reopen = reopen
        self._bytes_left = self._limits.list_bytes
        self._values_left = self._limits.values
        self._reopened = False

    async def walk_all(self) -> dict[str, ListResult]:
        """All four lists; a list that is not declared is not requested."""
        capabilities = self._opened.capabilities
        return {name: await self._walk(name, capabilities) for name in LISTS}

    async def _walk(self, name: str, capabilities: Mapping[str, Json] | None) -> ListResult:
        walk = ListResult(declared=is_capability_declared(capabilities, name))
        if walk.declared or (name == "tools" and declares_no_list(capabilities)):
            await self._read_pages(name, walk)
        return walk

    async def _read_pages(self, name: str, walk: ListResult) -> None:
        cursors: set[str] = set()
        items = 0
        params: dict[str, Json] = {}
        while walk.end is End.NOT_ASKED:
            reply = await self._page(LIST_METHODS[name], params, len(walk.pages))
            result = reply.result
            if result is None:
                walk.end, walk.error = _failed(reply, LIST_METHODS[name])
                return
            page = object_or_empty(result.value)
            listed = array_or_empty(page.get(name))
            if too_much := self._too_much(result.span, len(listed)):
                walk.end, walk.error = End.CAPPED, too_much
                return
            walk.pages.append(result.span)
            items += len(listed)
            walk.items += listed if name == "tools" else []
            cursor = page.get("nextCursor")
            walk.paged |= isinstance(cursor, str)
            if stop := self._stop(name, page, cursors, len(walk.pages), items):
                walk.end, walk.error = stop
            cursors.add(str(cursor))
            params = {"cursor": cursor}

    def _too_much(self, span: bytes, items: int) -> str | None:
        """The reason why a page is not kept: it, or all lists with it, would cost every later reader too much."""
        self._bytes_left -= len(span)
        self._values_left -= span.count(b",")
        if self._bytes_left < 0:
            return "more bytes than the probe reads"
        if self._values_left < 0 or items > self._limits.page_items:
            return "more values than the probe reads"
        return None

    def _stop(
        self, name: str, page: Mapping[str, Json], cursors: set[str], pages: int, items: int
    ) -> tuple[End, str | None] | None:
        """How the list ends with this page; None when the next page is to be read."""
        cursor = page.get("nextCursor")
        if not isinstance(page.get(name), list):
            return End.FAILED, f"the result has no {name} array"
        if cursor is None:
            return End.COMPLETE, None
        if not isinstance(cursor, str) or len(cursor) > _LONGEST_CURSOR:
            return End.FAILED, f"nextCursor is not a string of at most {_LONGEST_CURSOR} characters"
        if cursor in cursors:
            return End.CURSOR_REPEATED, "a cursor came twice"
        if pages >= self._limits.pages or items >= self._limits.items:
            return End.CAPPED, "more pages or items than the probe reads"
        return None

    async def _page(self, method: str, params: Mapping[str, Json], page: int) -> Reply:
        era = self._opened.era
        if page:
            reply = await self._dialogue.turn_page(method, params, era, page=page)
        else:
            reply = await self._dialogue.ask(method, params, era)
        session = self._dialogue.channel.session
        lost = era is Era.LEGACY and session and reply.result is None and reply.status in _LOST_SESSION
        if lost and not self._reopened:
            self._reopened = True
            if await self._reopen():
                return await self._dialogue.turn_page(method, params, era, page=page)
        return reply


def find_paged_lists(lists: Mapping[str, ListResult]) -> tuple[str, ...]:
    """The names of the lists that named a next cursor."""
    return tuple(name for name, walk in lists.items() if walk.paged)


def is_capability_declared(capabilities: Mapping[str, Json] | None, name: str) -> bool:
    """True when the capability of a list is declared; any value but null and false counts."""
    value = capabilities.get(_CAPABILITY[name]) if capabilities else None
    return value is not None and value is not False


def declares_no_list(capabilities: Mapping[str, Json] | None) -> bool:
    """True when no list is declared: such a server is still asked for its tools."""
    return not any(is_capability_declared(capabilities, name) for name in LISTS)


def _failed(reply: Reply, asked: str) -> tuple[End, bytes | str]:
    status = reply.status or 200
    if reply.answer and reply.answer.is_error and status < 500 and status not in _STATUS_WINS:
        span = scrub_body(reply.answer.span)  # the only place where a listing is scrubbed
        return End.ERROR, span if len(span) <= _LONGEST_ERROR else f"an error of more than {_LONGEST_ERROR} bytes"
    if isinstance(reply.failure, TooLarge):
        return End.CAPPED, f"{reply.failure.reason}: {reply.failure.detail}"
    absent = explain_reply(reply, asked)
    return End.FAILED, f"{absent.reason}: {absent.detail}"
