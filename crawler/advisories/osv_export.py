"""OSV's public export: `<ECOSYSTEM>/all.zip`, `<ECOSYSTEM>/modified_id.csv` and `<ECOSYSTEM>/<ID>.json`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Final, Protocol
from urllib.parse import quote

from msgspec import Struct

from crawler.advisories.http_client import AdvisoriesUnavailable, AdvisoryClient
from crawler.advisories.records import MAX_RECORD
from evidence.advisories.osv_record import is_timestamp
from evidence.model import Reason

DEFAULT_EXPORT: Final = "https://storage.googleapis.com/osv-vulnerabilities"

MAX_LIST: Final = 512 * 1024 * 1024
_MAX_LINE: Final = 400
_CHUNK: Final = 256 * 1024


class Change(Struct, frozen=True):
    """A line of `modified_id.csv`: a record id and its modification date."""

    modified: str
    id: str


class Export(Protocol):
    """A source in the layout of the export. All methods raise AdvisoriesUnavailable."""

    async def archive(self, ecosystem: str, to: IO[bytes]) -> None:
        """Write `all.zip` of an ecosystem to a seekable file."""
        ...

    def changes(self, ecosystem: str) -> AsyncIterator[Change]:
        """The changes of an ecosystem, newest first; the caller may stop at any of them."""
        ...

    async def record(self, ecosystem: str, name: str) -> bytes: ...


class WebExport:
    """The export over HTTP."""

    def __init__(self, asker: AdvisoryClient, base: str = DEFAULT_EXPORT) -> None:
        self._asker = asker
        self._base = base.rstrip("/")

    async def archive(self, ecosystem: str, to: IO[bytes]) -> None:
        """An interrupted download starts again from the beginning."""
        attempt = 1
        while True:
            await asyncio.to_thread(_rewind, to)
            try:
                async with self._asker.stream(self._url(ecosystem, "all.zip")) as parts:
                    async for part in parts:
                        await asyncio.to_thread(to.write, part)
                return
            except AdvisoriesUnavailable as failure:
                if not await self._asker.again(attempt, failure):
                    raise
                attempt += 1

    async def changes(self, ecosystem: str) -> AsyncIterator[Change]:
        """Invalid lines of `modified_id.csv` are left out."""
        rest, size = b"", 0
        async with self._asker.stream(self._url(ecosystem, "modified_id.csv")) as parts:
            async for part in parts:
                size += len(part)
                if size > MAX_LIST:
                    raise AdvisoriesUnavailable(Reason.TOO_LARGE, f"the export: a list larger than {MAX_LIST} bytes")
                *lines, rest = (rest + part).split(b"\n")
                rest = rest[-_MAX_LINE - 1 :]
                for change in _changes(lines):
                    yield change
        for change in _changes([rest]):
            yield change

    async def record(self, ecosystem: str, name: str) -> bytes:
        return await self._asker.get(self._url(ecosystem, f"{name}.json"), most=MAX_RECORD)

    def _url(self, ecosystem: str, name: str) -> str:
        return f"{self._base}/{quote(ecosystem, safe='')}/{quote(name, safe='')}"


class FolderExport:
    """A folder in the layout of the export."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def archive(self, ecosystem: str, to: IO[bytes]) -> None:
        with self._open(ecosystem, "all.zip") as source:
            while part := await asyncio.to_thread(source.read, _CHUNK):
                to.write(part)

    async def changes(self, ecosystem: str) -> AsyncIterator[Change]:
        with self._open(ecosystem, "modified_id.csv") as source:
            for change in _changes(iter(lambda: source.readline(_MAX_LINE + 1), b"")):
                yield change

    async def record(self, ecosystem: str, name: str) -> bytes:
        with self._open(ecosystem, f"{name}.json") as source:
            return source.read(MAX_RECORD + 1)

    def _open(self, ecosystem: str, name: str) -> IO[bytes]:
        if "/" in name or ecosystem in {"", ".", ".."} or "/" in ecosystem:
            raise AdvisoriesUnavailable(Reason.UNREACHABLE, "no name of a file", 404)
        try:
            return (self._folder / ecosystem / name).open("rb")
        except FileNotFoundError as error:
            raise AdvisoriesUnavailable(Reason.UNREACHABLE, f"there is no {ecosystem}/{name}", 404) from error
        except OSError as error:
            raise AdvisoriesUnavailable(Reason.UNREACHABLE, f"{ecosystem}/{name}: {error.strerror}") from error


@asynccontextmanager
async def closing_changes(changes: AsyncIterator[Change]) -> AsyncIterator[AsyncIterator[Change]]:
    """Changes whose connection is closed at the end of the `with` block."""
    try:
        yield changes
    finally:
        close = getattr(changes, "aclose", None)
        if close is not None:
            await close()


def _changes(lines: Iterator[bytes] | list[bytes]) -> Iterator[Change]:
    for line in lines:
        modified, _, name = line.decode("utf-8", "replace").strip().partition(",")
        if len(line) <= _MAX_LINE and name and is_timestamp(modified):
            yield Change(modified, name)


def _rewind(file: IO[bytes]) -> None:
    file.seek(0)
    file.truncate()
