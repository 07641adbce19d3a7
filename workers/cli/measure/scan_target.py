"""Parses the target of `hallmark scan` into a server."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from crawler.addresses import UnusableAddress, parse_oci_reference
from crawler.identity import merge_references, target_ref
from crawler.projects.manifests import NAMES
from crawler.projects.project import ARCHIVE_ENDINGS, Project, describe_archive, describe_folder
from crawler.projects.start_command import EXPLICIT, Start, build_target, find_start
from crawler.registries.documents import DocumentRegistry
from evidence.model import Server, ServerRef, Status, Target, TargetType

EXPECTED_TARGET = (
    "a URL, npm:NAME[@VERSION], pypi:NAME[==VERSION], oci:IMAGE[:TAG|@DIGEST], the folder of a project, a .tgz, "
    ".tar.gz or .whl file, the path of a server.json, or -- COMMAND ARGUMENTS"
)


_INTERPRETER: Final = re.compile(r"python(3(\.\d+)?)?|node(js)?")
"""Commands for which the sandbox has its own."""


class InvalidTarget(ValueError):
    """The text is not a target; the message says what was expected and found."""


class ScanTarget(Struct, frozen=True):
    """A server, and the registry entries that it was read from.

    `project` is its source on this machine. `stated_in` is where its manifests say how the server starts; `unstarted`
    says why it is not started. Both are empty for a command.
    """

    server: Server
    refs: tuple[ServerRef, ...] = ()
    project: Project | None = None
    stated_in: str = ""
    unstarted: str = ""


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
    if text and Path(text).is_dir():
        return read_folder_target(Path(text))
    if Path(text).is_file():
        return _archive(Path(text)) if text.endswith(ARCHIVE_ENDINGS) else _document(Path(text))
    raise InvalidTarget(f"expected {EXPECTED_TARGET}; found {text!r}{_why_not(text)}")


def read_command_target(words: Sequence[str], folder: Path) -> ScanTarget:
    """The server that a command starts in `folder`, with the source there when the folder is that of a project."""
    target = _command(words, folder)
    shown = [word.removeprefix(f"{folder}/") for word in words]  # baselines hold on other machines
    server = Server(ref=f"command:{shlex.join(shown)}", name=shown[0], targets=(target,))
    project, manifests = describe_folder(folder)
    return ScanTarget(server, project=project if manifests.present else None)


def refuse_hidden_files(target: Target) -> None:
    """Raise InvalidTarget when a word of a command names a file outside its folder, which the sandbox does not show."""
    folder = Path(target.identifier).resolve()
    for at, word in enumerate(target.arguments):
        file = folder / word
        is_interpreter = at == 0 and _INTERPRETER.fullmatch(file.name)
        is_file = "/" in word and os.path.isfile(file)  # noqa: PTH113  Path.is_file raises on a long word
        if is_file and not is_interpreter and not file.resolve().is_relative_to(folder):
            raise InvalidTarget(
                f"expected files below {folder}, which are all that the sandbox shows to the command; found {word}. "
                "Name the folder of the server: hallmark scan FOLDER -- COMMAND; --no-sandbox runs the command without "
                "the sandbox, with your permissions"
            )


def read_folder_target(folder: Path, words: Sequence[str] | None = None) -> ScanTarget:
    """The project in a folder, started by `words`, else as its manifests say."""
    project, manifests = describe_folder(folder)
    if words is None and not manifests.present:
        raise InvalidTarget(
            f"expected a project with {', '.join(NAMES)} or .git in {folder}; found none of them. Name the folder of "
            f"the project, or {EXPLICIT}. `hallmark run --registry {folder}` takes a folder of server.json files"
        )
    start = Start(_command(words, folder).arguments, "--") if words is not None else find_start(project, manifests)
    unstarted = start if isinstance(start, str) else ""
    if isinstance(start, Start):
        target = build_target(project, start, manifests) if words is None else _command(start.words, project.folder)
    else:
        target = Target(type=TargetType.COMMAND, identifier=str(project.folder))
    ref = f"project:{project.name}"
    server = Server(ref=ref, name=project.name, targets=(target,), repository=manifests.repository)
    stated_in = start.stated_in if words is None and isinstance(start, Start) else ""
    return ScanTarget(server, project=project, stated_in=stated_in, unstarted=unstarted)


def _archive(file: Path) -> ScanTarget:
    project = describe_archive(file)
    target = Target(type=TargetType.COMMAND, identifier=str(project.root))
    server = Server(ref=f"project:{project.name}", name=project.name, targets=(target,))
    return ScanTarget(server, project=project)


def _command(words: Sequence[str], folder: Path) -> Target:
    if not words:
        raise InvalidTarget("expected a command after --, found nothing. Example: hallmark scan -- python server.py")
    return Target(type=TargetType.COMMAND, identifier=str(folder), arguments=tuple(words))


def _why_not(text: str) -> str:
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
