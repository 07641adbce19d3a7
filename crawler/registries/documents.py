"""Reads a file or a folder of server.json documents as a registry."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from crawler.json_spans import split_elements, split_members
from crawler.registries.registry import Page, RegistryUnavailable, split_into_pages
from crawler.registries.server_json import NotLatest, make_invalid_reference, read_entry
from evidence.canonical import NotJson
from evidence.model import ServerRef

MAX_FILE: Final = 64 * 1024 * 1024
MAX_TOTAL: Final = 512 * 1024 * 1024
MAX_FILES: Final = 100_000


class DocumentRegistry:
    """Documents under a path: one object, a list or `{"servers": [...]}` per `*.json` file, of any published schema.

    Hidden files are left out, and so are symbolic links to places outside the folder. An invalid file is one invalid
    reference with the name of the file.
    """

    incremental: Final = False

    def __init__(self, path: Path, *, name: str | None = None) -> None:
        self.name = name or f"file:{path.resolve().name}"
        self._path = path

    async def walk(self, *, cursor: str | None = None, since: datetime | None = None) -> AsyncIterator[Page]:
        """All pages after `cursor`. Documents have no dates, so `since` has no effect."""
        del since
        for page in split_into_pages(await asyncio.to_thread(self._read), cursor):
            yield page

    def _read(self) -> list[ServerRef]:
        refs: list[ServerRef] = []
        total = 0
        try:
            for label, path in _files(self._path):
                total += path.stat().st_size
                if total > MAX_TOTAL:
                    raise RegistryUnavailable(f"{self._path}: at most {MAX_TOTAL} bytes of documents expected")
                refs += self._read_file(label, path)
        except OSError as error:
            raise RegistryUnavailable(f"{self._path}: {error.strerror}") from error
        return refs

    def _read_file(self, label: str, path: Path) -> list[ServerRef]:
        size = path.stat().st_size
        if size > MAX_FILE:
            return [
                make_invalid_reference(self.name, b"", f"file: expected at most {MAX_FILE} bytes, found {size}", label)
            ]
        data = path.read_bytes()
        try:
            return list(self._refs(split_document(data)))
        except NotJson as error:
            return [make_invalid_reference(self.name, data, f"file: {error}", label)]

    def _refs(self, entries: list[bytes]) -> Iterator[ServerRef]:
        for entry in entries:
            try:
                yield read_entry(self.name, entry)
            except NotLatest:
                continue


def split_document(data: bytes) -> list[bytes]:
    """The entries of one file as received; raise NotJson when it is neither an object nor an array."""
    text = data.removeprefix(b"\xef\xbb\xbf").strip()
    if text.startswith(b"["):
        return split_elements(text)
    servers = dict(split_members(text)).get("servers", b"")
    return split_elements(servers) if servers.startswith(b"[") else [text]


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    """The files to read with their paths inside the folder, sorted."""
    if not path.is_dir():
        yield path.name, path
        return
    root = path.resolve()
    count = 0
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            if name.startswith(".") or file.suffix != ".json" or not _inside(file, root):
                continue
            count += 1
            if count > MAX_FILES:
                raise RegistryUnavailable(f"{path}: at most {MAX_FILES} documents expected")
            yield file.relative_to(root).as_posix(), file


def _inside(file: Path, root: Path) -> bool:
    """Whether a file is a regular file whose real path is inside the folder; devices and pipes are never opened."""
    real = file.resolve()
    return real.is_relative_to(root) and real.is_file()
