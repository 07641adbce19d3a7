"""Checks the proof of control of a server: in a file, in a DNS record, or in a repository.

Every request is one small GET through the guarded client, without redirects: a redirected answer proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol, TypeAlias

import aiodns
from msgspec import Struct

from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine, Request
from crawler.http.failures import WireFailure
from crawler.http.url import parse_url
from evidence.model import Absent, Reason
from evidence.store.community.claim_values import ProofMethod

LIMITS: Final = Limits(connect=5, first_byte=10, between_bytes=5, total=15, wire_bytes=65_536, body_bytes=65_536)
PROOF_FILE: Final = ".well-known/hallmark.txt"

_NO_RECORD: Final = frozenset({aiodns.error.ARES_ENODATA, aiodns.error.ARES_ENOTFOUND})
_PASSING: Final = 500


class ProofFound(Struct, frozen=True):
    """The challenge is present."""


class ProofMissing(Struct, frozen=True):
    """The proof is missing; `note` describes the content found instead."""

    note: str


class ProofNotChecked(Struct, frozen=True):
    """The place could not be read, which proves nothing either way."""

    note: str


ProofResult: TypeAlias = ProofFound | ProofMissing | ProofNotChecked


class ProofPlace(Struct, frozen=True):
    """The lines at a place; `where` names it, `unread` names the parts that could not be read."""

    lines: frozenset[str]
    where: str
    unread: str = ""

    def judge(self, challenge: str) -> ProofResult:
        """The result for a challenge, which must be a separate line: a page that quotes its request proves nothing."""
        if challenge in self.lines:
            return ProofFound()
        if self.unread:
            return ProofNotChecked(self.unread)
        return ProofMissing(f"{self.where} does not hold the challenge on a line of its own")


ProofContent: TypeAlias = ProofPlace | ProofMissing | ProofNotChecked
"""The content of a place, for all claims about it: many claims of one place cost one request."""


class TxtRecords(Protocol):
    """Reads TXT records."""

    async def texts(self, name: str) -> Sequence[str] | None:
        """The TXT records of a name, each joined; empty when there are none; None when no resolver answered."""
        ...


class RepositoryFiles(Protocol):
    """Reads single files of repositories; `crawler.collectors.repository.GitHub` implements it."""

    async def file(self, name: str, path: str) -> bytes | Absent:
        """A file of `OWNER/REPO` on its default branch; an empty path is its README."""
        ...


class DnsRecords:
    """Reads TXT records by c-ares, with the servers of the system unless others are named."""

    def __init__(self, servers: Sequence[str] | None = None, port: int | None = None) -> None:
        self._servers = servers
        self._more: dict[str, Any] = {} if port is None else {"udp_port": port, "tcp_port": port}

    async def texts(self, name: str) -> Sequence[str] | None:
        """The TXT records of exactly this name."""
        resolver = aiodns.DNSResolver(self._servers, timeout=5, tries=2, **self._more)
        try:
            found = await resolver.query_dns(name, "TXT")
        except aiodns.error.DNSError as error:
            return () if error.args[0] in _NO_RECORD else None
        finally:
            await resolver.close()
        return [_text(record.data.data) for record in found.answer if hasattr(record.data, "data")]


class ProofFinder:
    """Checks proofs. Bound to one event loop; nothing is cached."""

    def __init__(self, engine: HttpEngine, files: RepositoryFiles, records: TxtRecords | None = None) -> None:
        self._engine = engine
        self._files = files
        self._records = records or DnsRecords()

    async def read(self, way: ProofMethod, place: str) -> ProofContent:
        """The content at a place."""
        match way:
            case ProofMethod.WELL_KNOWN:
                return await self._well_known(place)
            case ProofMethod.DNS:
                return await self._dns(place)
            case ProofMethod.REPOSITORY:
                return await self._repository(place)
            case ProofMethod.SERVER:
                raise ValueError("what a server says of itself is in its evidence")

    async def _well_known(self, url: str) -> ProofContent:
        try:
            async with self._engine.open_session(seconds=LIMITS.total) as visit:
                answer = await visit.fetch(Request("GET", parse_url(url), (("accept", "text/plain"),), limits=LIMITS))
        except WireFailure as failure:
            return ProofNotChecked(f"{url} was not read: {failure.detail}")
        if answer.status == 429 or answer.status >= _PASSING:
            return ProofNotChecked(f"{url} answered HTTP {answer.status}")
        if answer.status != 200:
            return ProofMissing(f"{url} answered HTTP {answer.status}, expected 200; redirects are not followed")
        return ProofPlace(_lines(answer.body), url)

    async def _dns(self, name: str) -> ProofContent:
        texts = await self._records.texts(name)
        if texts is None:
            return ProofNotChecked(f"the TXT records of {name} could not be asked for")
        return ProofPlace(frozenset(texts), f"{name}, which has {len(texts)} TXT records,")

    async def _repository(self, name: str) -> ProofContent:
        """The lines of the proof file and of the README."""
        lines: set[str] = set()
        unread = ""
        for path in (PROOF_FILE, ""):
            content = await self._files.file(name, path)
            if isinstance(content, bytes):
                lines |= _lines(content)
            elif content.reason is not Reason.NO_REPOSITORY:
                unread = f"{path or 'the README'} of {name} was not read: {content.detail}"
        return ProofPlace(frozenset(lines), f"{PROOF_FILE} or the README of {name}", unread)


def _lines(body: bytes) -> frozenset[str]:
    return frozenset(line.strip().strip("`") for line in body.decode("utf-8", "replace").splitlines())


def _text(data: bytes | str) -> str:
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else data
