"""The files of snapshots, streamed: `/datasets/{snapshot}/{file}`, whole or in part, from a folder of this machine."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from publish.datasets.snapshot.archive import DIGEST, archive_name, parse_digest
from publish.datasets.snapshot.manifest import CHECKSUMS, MANIFEST, SIGNATURE, SNAPSHOT_ID, NotASnapshot, SnapshotFile
from publish.datasets.snapshot.reader import (
    MANIFEST_LIMIT,
    UnreadableFile,
    open_plain_file,
    open_snapshot,
    read_small_file,
)
from publish.datasets.snapshot.storage import is_local_folder
from publish.web.context import SiteContext

_KEPT: Final = "public, max-age=86400, no-transform"
_PIECE: Final = 256 * 1024
_RANGE: Final = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_BESIDE: Final = frozenset({MANIFEST, CHECKSUMS, SIGNATURE})


def routes(site: SiteContext) -> APIRouter:
    """`/datasets/{snapshot}/{file}`."""
    router = APIRouter()

    @router.api_route("/datasets/{snapshot}/{name}", methods=["GET", "HEAD"])
    def dataset_file(snapshot: str, name: str, request: Request) -> Response:
        file = _file(site.backend.datasets, snapshot, name)
        if file is None:
            raise HTTPException(404)
        folder = Path(site.backend.datasets) / snapshot
        try:
            stream = open_plain_file(folder, name)
        except (UnreadableFile, OSError) as error:
            raise HTTPException(404) from error
        return _answer(stream, file, request)

    return router


def _file(place: str, snapshot: str, name: str) -> SnapshotFile | None:
    """The manifest's entry for a file, or the archive; None for other files."""
    if not place or not is_local_folder(place) or not SNAPSHOT_ID.fullmatch(snapshot):
        return None
    folder = Path(place) / snapshot
    if folder.is_symlink():
        return None
    try:
        known = open_snapshot(folder).manifest
        if name == archive_name(known.snapshot):
            return _archive(folder, name)
        if name not in {*_BESIDE, archive_name(known.snapshot) + DIGEST}:
            return known.by_name.get(name)
        data = read_small_file(folder, name, MANIFEST_LIMIT)
    except (NotASnapshot, UnreadableFile, OSError):
        return None
    return SnapshotFile(name, len(data), hashlib.sha256(data).hexdigest())


def _archive(folder: Path, name: str) -> SnapshotFile | None:
    """The archive of a snapshot with the digest that the file beside it states; None without one."""
    digest = parse_digest(read_small_file(folder, name + DIGEST, MANIFEST_LIMIT))
    return SnapshotFile(name, (folder / name).stat().st_size, digest) if digest else None


def _answer(stream: BufferedReader, file: SnapshotFile, request: Request) -> Response:
    size = os.fstat(stream.fileno()).st_size
    tag = f'"{file.sha256}"'
    headers = {
        "etag": tag,
        "cache-control": _KEPT,
        "accept-ranges": "bytes",
        "content-disposition": f'attachment; filename="{file.name}"',
    }
    if tag in request.headers.get("if-none-match", ""):
        stream.close()
        return Response(status_code=304, headers=headers)
    range_header, status = request.headers.get("range", ""), 200
    found = _RANGE.fullmatch(range_header.replace(" ", ""))
    start, end = 0, size
    # What is no single range, or of another content, is answered with the whole file (RFC 9110, 14.2).
    if found and (found[1] or found[2]) and request.headers.get("if-range", tag) == tag:
        part = _part(found[1], found[2], size)
        if part is None:
            stream.close()
            raise HTTPException(416, headers={"content-range": f"bytes */{size}"})
        (start, end), status = part, 206
        headers["content-range"] = f"bytes {start}-{end - 1}/{size}"
    headers["content-length"] = str(end - start)
    if request.method == "HEAD":
        stream.close()
        return Response(status_code=status, headers=headers, media_type=file.media_type)
    return StreamingResponse(_pieces(stream, start, end), status, headers, file.media_type)


def _part(first: str, last: str, size: int) -> tuple[int, int] | None:
    """The requested range as start and exclusive end; None if it is not satisfiable."""
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(size, int(last) + 1) if last else size
    return (start, end) if start < end else None


def _pieces(stream: BufferedReader, start: int, end: int) -> Iterator[bytes]:
    with stream:
        stream.seek(start)
        left = end - start
        while left > 0 and (piece := stream.read(min(_PIECE, left))):
            left -= len(piece)
            yield piece
