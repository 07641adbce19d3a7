"""Downloads an archive through the address guard into an unnamed file that is deleted with its last reader."""

from __future__ import annotations

import hashlib
import tempfile
from http import HTTPStatus
from typing import TYPE_CHECKING, BinaryIO, Final
from urllib.parse import urljoin

from crawler.http.failures import WireFailure
from evidence.model import Absent, Reason

if TYPE_CHECKING:
    import httpx

_HOPS: Final = 4
_CHECKED: Final = (b"\x1f\x8b", b"PK")
_REASONS: Final = {401: Reason.FORBIDDEN, 403: Reason.FORBIDDEN, 429: Reason.RATE_LIMITED, 451: Reason.FORBIDDEN}


async def download_archive(
    client: httpx.AsyncClient, address: str, *, most: int, digest: tuple[str, str] | None, missing: Reason
) -> BinaryIO | Absent:
    """The archive at an address, or why it cannot be downloaded; `missing` is the reason for an HTTP 404.

    `digest` is an algorithm and hexadecimal digits from the index. No detail names an address.
    """
    import httpx  # noqa: PLC0415  most scans download nothing

    try:
        for _ in range(_HOPS):
            async with client.stream("GET", address, follow_redirects=False) as response:
                if response.is_redirect:
                    address = urljoin(address, response.headers.get("location", ""))
                    continue
                if response.status_code != HTTPStatus.OK:
                    return _refused(response.status_code, missing)
                return await _saved(response, most, digest)
    except httpx.TransportError as error:
        return _failed(error)
    except (httpx.InvalidURL, ValueError):
        return Absent(Reason.UNREACHABLE, "the archive is at no address that can be asked")
    except OSError as error:
        # The disk is ours, so the content of an earlier run stands.
        return Absent(Reason.NOT_COLLECTED, f"there is no room here for the archive: {error.strerror}")
    return Absent(Reason.UNREACHABLE, f"more than {_HOPS} redirects")


async def _saved(response: httpx.Response, most: int, digest: tuple[str, str] | None) -> BinaryIO | Absent:
    file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - returned, and closed with its last reader
    try:
        content = await _copied(response, file, most, digest)
    except BaseException:
        file.close()
        raise
    if isinstance(content, Absent):
        file.close()
    return content


async def _copied(
    response: httpx.Response, file: BinaryIO, most: int, digest: tuple[str, str] | None
) -> BinaryIO | Absent:
    stated = response.headers.get("content-length", "")
    if stated.isdigit() and int(stated) > most:
        return Absent(Reason.TOO_LARGE, f"the archive has more than {most} bytes")
    algorithm, value = digest if digest and digest[0] in hashlib.algorithms_guaranteed else ("", "")
    summed = hashlib.new(algorithm, usedforsecurity=False) if algorithm else None
    size, head = 0, b""
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > most:
            return Absent(Reason.TOO_LARGE, f"the archive has more than {most} bytes")
        head = head or chunk[:2]
        if summed is not None:
            summed.update(chunk)
        file.write(chunk)
    # With `Content-Encoding: gzip` a tar.gz is inflated on the way, and its digest cannot be compared.
    if summed is not None and head.startswith(_CHECKED) and summed.hexdigest() != value.lower():
        return Absent(Reason.INSTALL_FAILED, f"the archive is not the one of the index: another {algorithm}")
    file.flush()
    return file


def _failed(error: httpx.TransportError) -> Absent:
    cause = error.__cause__
    if not isinstance(cause, WireFailure):
        return Absent(Reason.UNREACHABLE, type(error).__name__)
    absent = cause.absent()
    # An archive host is no MCP server, so this reason does not apply.
    return Absent(Reason.UNREACHABLE, absent.detail) if absent.reason is Reason.NOT_MCP else absent


def _refused(status: int, missing: Reason) -> Absent:
    reason = _REASONS.get(status, missing if status in {404, 410} else Reason.UNREACHABLE)
    return Absent(reason, f"HTTP {status} for the archive")
