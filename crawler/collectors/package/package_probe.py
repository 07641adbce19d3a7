"""Reads the documents of one package: each once, and in the next run only if it changed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from crawler.collectors.package.archives import Archive
from crawler.collectors.package.document_fields import Members, as_exact_text
from crawler.collectors.package.index_client import Document, IndexClient, Missing, Unchanged
from evidence.canonical import Json, NotJson, parse_json
from evidence.model import Absent, Reason

_MOST_DOCUMENTS: Final = 8
_LONGEST: Final = 4096


class PackageResult(Struct, frozen=True):
    """The body of the kind, and the file of the version."""

    body: dict[str, Json]
    archive: Archive | Absent


class SourceDocument(Struct, frozen=True):
    """A document that was read, with the `etag` for the next conditional request."""

    name: str
    address: str
    accept: str
    etag: str | None

    @property
    def written(self) -> dict[str, Json]:
        return {"name": self.name, "address": self.address, "accept": self.accept, "etag": self.etag}


def parse_source_documents(value: Json) -> tuple[SourceDocument, ...]:
    """The documents of an earlier observation; empty when they are not valid."""
    found = []
    for entry in value[:_MOST_DOCUMENTS] if isinstance(value, list) else []:
        given = entry if isinstance(entry, Mapping) else {}
        name, address, accept = (as_exact_text(given.get(member), _LONGEST) for member in ("name", "address", "accept"))
        if name is None or address is None or accept is None:
            return ()
        found.append(SourceDocument(name, address, accept, as_exact_text(given.get("etag"), _LONGEST)))
    return tuple(found)


class PackageProbe:
    """Reads documents; afterwards `read` lists them and `incomplete` names those that failed."""

    def __init__(self, client: IndexClient, *, most_bytes: int) -> None:
        self._client = client
        self._most_bytes = most_bytes
        self._prefetched: dict[tuple[str, str], Document | Missing | Absent] = {}
        self.read: list[SourceDocument] = []
        self.incomplete: list[str] = []

    async def are_unchanged(self, known: Sequence[SourceDocument]) -> bool:
        """Whether all documents are unchanged; the first changed one is kept for later use and ends the requests."""
        if not known or any(source.etag is None for source in known):
            return False
        for source in known:
            answer = await self._client.get(source.address, source.accept, source.etag)
            if not isinstance(answer, Unchanged):
                self._prefetched[source.address, source.accept] = answer
                return False
        return True

    def refusal(self, reason: Reason, what: str) -> Absent:
        return self._client.refusal(reason, what)

    async def fetch_document(self, name: str, address: str, accept: str) -> Document | Missing | Absent:
        answer = self._prefetched.pop((address, accept), None) or await self._client.get(address, accept)
        if isinstance(answer, Unchanged):  # to a request without an ETag
            return self.refusal(Reason.UNREACHABLE, "answered HTTP 304")
        if isinstance(answer, Document):
            self.read.append(SourceDocument(name, address, accept, answer.etag))
        return answer

    async def fetch_object(self, name: str, address: str, accept: str) -> Members | Missing | Absent:
        answer = await self.fetch_document(name, address, accept)
        return await self.parse_object(answer) if isinstance(answer, Document) else answer

    async def parse_object(self, document: Document) -> Members | Absent:
        """The document's JSON object, parsed in a thread because it may be large."""
        try:
            value = await asyncio.to_thread(parse_json, document.body, max_bytes=self._most_bytes)
        except NotJson:
            value = None
        if isinstance(value, Mapping):
            return value
        return self.refusal(Reason.UNREACHABLE, "gave something that is not a JSON object")

    async def fetch_optional_object(self, name: str, address: str, accept: str) -> Members:
        """A document that is not essential; empty when there is none. A failure is added to `incomplete`."""
        answer = await self.fetch_object(name, address, accept)
        if isinstance(answer, Absent):
            self.incomplete.append(name)
        return answer if isinstance(answer, Mapping) else {}
