"""Parses the target of `hallmark scan` into a server."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from crawler.addresses import UnusableAddress, parse_oci_reference
from crawler.identity import merge_references, target_ref
from crawler.registries.documents import DocumentRegistry
from evidence.model import Server, ServerRef, Status, Target, TargetType

EXPECTED_TARGET = (
    "a URL, npm:NAME[@VERSION], pypi:NAME[==VERSION], oci:IMAGE[:TAG|@DIGEST], the path of a server.json, "
    "or -- COMMAND ARGUMENTS"
)


class InvalidTarget(ValueError):
    """The text is not a target; the message says what was expected and found."""


@dataclass(frozen=True, slots=True)
class ScanTarget:
    """A server, and the registry entries that it was read from."""

    server: Server
    refs: tuple[ServerRef, ...] = ()


def read_target(text: str) -> ScanTarget:
    """The server of a URL, a package or a file; raise InvalidTarget on anything else."""
    if text.lower().startswith(("http://", "https://")):
        return _remote(text)
    if text.startswith("npm:"):
        return _package(TargetType.NPM, text.removeprefix("npm:"), "@")
    if text.startswith("pypi:"):
        return _package(TargetType.PYPI, text.removeprefix("pypi:"), "==")
    if text.startswith("oci:"):
        return _image(text.removeprefix("oci:"))
    if Path(text).is_file():
        return _document(Path(text))
    raise InvalidTarget(f"expected {EXPECTED_TARGET}; found {text!r}{_why_not(text)}")


def read_command_target(words: Sequence[str], folder: Path) -> ScanTarget:
    """The server that a command starts in `folder`."""
    if not words:
        raise InvalidTarget("expected a command after --, found nothing. Example: hallmark scan -- python server.py")
    target = Target(type=TargetType.COMMAND, identifier=str(folder), arguments=tuple(words))
    return ScanTarget(Server(ref=f"command:{shlex.join(words)}", name=words[0], targets=(target,)))


def _why_not(text: str) -> str:
    if Path(text).is_dir():
        return f", which is a folder: `hallmark run --registry {text}` takes many servers"
    if "/" in text or text.endswith(".json"):
        return ", and there is no such file"
    return f". A package is npm:{text} or pypi:{text}" if text.replace("-", "").replace("_", "").isalnum() else ""


def _remote(url: str) -> ScanTarget:
    """Both HTTP transports are tried: streamable HTTP first, unless the path ends in `/sse`."""
    kinds = [TargetType.STREAMABLE_HTTP, TargetType.SSE]
    if url.partition("?")[0].rstrip("/").endswith("/sse"):
        kinds.reverse()
    return _of_targets(*(Target(type=kind, identifier=url) for kind in kinds))


def _package(kind: TargetType, text: str, separator: str) -> ScanTarget:
    name, found, version = text[1:].partition(separator)
    if (found and not version) or not (text[:1] + name).strip():
        raise InvalidTarget(f"expected {kind}:NAME or {kind}:NAME{separator}VERSION; found {kind}:{text}")
    return _of_targets(Target(type=kind, identifier=text[:1] + name, version=version or None))


def _image(text: str) -> ScanTarget:
    try:
        found = parse_oci_reference(text)
    except UnusableAddress as error:
        raise InvalidTarget(f"expected oci:IMAGE, oci:IMAGE:TAG or oci:IMAGE@DIGEST; found oci:{text}") from error
    version = found.digest or found.tag
    return _of_targets(Target(type=TargetType.OCI, identifier=found.repository, version=version))


def _of_targets(*targets: Target) -> ScanTarget:
    try:
        ref = target_ref(targets[0])
    except UnusableAddress as error:
        raise InvalidTarget(f"expected {EXPECTED_TARGET}; found {targets[0].identifier!r}: {error}") from error
    return ScanTarget(Server(ref=ref, name=ref, targets=targets))


def _document(path: Path) -> ScanTarget:
    refs = asyncio.run(_refs(path))
    if len(refs) != 1:
        raise InvalidTarget(
            f"expected one server in {path}, found {len(refs)}. `hallmark run --registry {path}` takes many"
        )
    if refs[0].status is Status.INVALID:
        raise InvalidTarget(
            f"{path} is not a valid server.json: {refs[0].error}. `hallmark registry check {path}` says more"
        )
    return ScanTarget(merge_references(refs), tuple(refs))


async def _refs(path: Path) -> list[ServerRef]:
    return [ref async for page in DocumentRegistry(path).walk() for ref in page.refs]
