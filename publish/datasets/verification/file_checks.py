"""Checks a snapshot's files against its manifest, its signature, and its methodology."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from publish.datasets.format.methodology import describe_methodology, is_current_code, methodology_version
from publish.datasets.format.table_files import FileDigest
from publish.datasets.format.tables import TABLES, table_file_name
from publish.datasets.snapshot.archive import DIGEST, archive_name, parse_digest
from publish.datasets.snapshot.manifest import CHECKSUMS, MANIFEST, METHODOLOGY, SIGNATURE, render_checksums
from publish.datasets.snapshot.minisign import (
    MAX_FILE_BYTES,
    BadSignature,
    NotSigned,
    PublicKey,
    SignatureProblem,
    WrongKey,
)
from publish.datasets.snapshot.reader import (
    DOCUMENT_LIMIT,
    MANIFEST_LIMIT,
    OpenedSnapshot,
    UnreadableFile,
    open_plain_file,
    read_small_file,
)
from publish.datasets.verification.problems import Problem, ProblemKind, show_value

_BESIDE: Final = frozenset({MANIFEST, CHECKSUMS, SIGNATURE})
"""Files that are not in the manifest."""

_CHUNK: Final = 2**20
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


def check_files(opened: OpenedSnapshot) -> Iterator[Problem]:
    """Missing, extra and changed files, compared with the manifest and SHA256SUMS."""
    manifest = opened.manifest
    there = {path.name for path in opened.folder.iterdir()}
    for table in TABLES:
        for form in table.formats:
            if (name := table_file_name(table, form)) not in manifest.by_name:
                yield _file(ProblemKind.MISSING_FILE, MANIFEST, f"{name} in it", "nothing")
    yield from _check_archive(opened, there)
    archive = {archive_name(manifest.snapshot), archive_name(manifest.snapshot) + DIGEST}
    for name in sorted(there - manifest.by_name.keys() - _BESIDE - archive):
        yield _file(ProblemKind.EXTRA_FILE, show_value(name), "no file that the manifest does not name", "one")
    for file in manifest.files:
        if file.name not in there:
            yield _file(ProblemKind.MISSING_FILE, file.name, f"{file.bytes} bytes", "nothing")
            continue
        try:
            size, digest = _identity(opened.folder, file.name)
        except (UnreadableFile, FileNotFoundError) as error:
            yield _file(ProblemKind.UNREADABLE, file.name, "a plain file", show_value(error))
            continue
        if size != file.bytes:
            yield _file(ProblemKind.CHANGED_FILE, file.name, f"{file.bytes} bytes", f"{size} bytes")
        elif digest != file.sha256:
            yield _file(ProblemKind.CHANGED_FILE, file.name, f"SHA-256 {show_value(file.sha256)}", digest)
    yield from _check_sums(opened)


def _check_archive(opened: OpenedSnapshot, there: set[str]) -> Iterator[Problem]:
    """An archive in the folder that is not the one that the file beside it states.

    Its content is not compared with the folder: an untrusted archive is unpacked in a confined process only, by
    `open_dataset`.
    """
    name = archive_name(opened.manifest.snapshot)
    if name not in there:
        if name + DIGEST in there:
            yield _file(ProblemKind.EXTRA_FILE, name + DIGEST, "an archive beside its SHA-256", "none")
        return
    try:
        stated = parse_digest(read_small_file(opened.folder, name + DIGEST, DOCUMENT_LIMIT))
        _, digest = _identity(opened.folder, name)
    except (UnreadableFile, FileNotFoundError) as error:
        yield _file(ProblemKind.SUMS, name, "an archive with its SHA-256 beside it", show_value(error))
        return
    if stated != digest:
        yield _file(ProblemKind.SUMS, name, f"SHA-256 {show_value(stated)}", digest)


def check_signature(folder: Path, key: PublicKey | None) -> tuple[str, Problem | None]:
    """The trusted comment of the signature, and a problem if it is invalid; without a key nothing is checked."""
    if key is None:
        return "", None
    try:
        data = read_small_file(folder, MANIFEST, MANIFEST_LIMIT)
        return key.check(data, _signature(folder)), None
    except NotSigned as error:
        return "", _file(ProblemKind.SIGNATURE, SIGNATURE, f"a signature by key {key.id}", f"no signature: {error}")
    except WrongKey as error:
        return "", _file(ProblemKind.SIGNATURE, SIGNATURE, f"a signature by key {key.id}", f"wrong key: {error}")
    except BadSignature as error:
        return "", _file(
            ProblemKind.SIGNATURE, SIGNATURE, "the file and comment that were signed", f"tampered: {error}"
        )
    except (SignatureProblem, UnreadableFile) as error:
        return "", _file(ProblemKind.SIGNATURE, SIGNATURE, "a signature", show_value(error))


def check_methodology(opened: OpenedSnapshot) -> Iterator[Problem]:
    """Differences between a snapshot's methodology and the code that it names."""
    manifest = opened.manifest
    try:
        found = opened.document(METHODOLOGY)
    except (UnreadableFile, FileNotFoundError) as error:
        yield _file(ProblemKind.UNREADABLE, METHODOLOGY, "the methodology", show_value(error))
        return
    expected = describe_methodology(manifest.pins)
    if is_current_code(manifest.pins) and not _is_same(expected, found):
        for at, one, other in _different(expected, found, ""):
            yield Problem(
                fault=ProblemKind.METHODOLOGY,
                file=METHODOLOGY,
                rubric=_rubric_of(at, expected),
                at=show_value(_named(at, expected)),
                expected=show_value(one),
                found=show_value(other),
            )
    version = _version(found)
    if version != manifest.methodology:
        yield _file(
            ProblemKind.METHODOLOGY, MANIFEST, f"methodology {show_value(version)}", show_value(manifest.methodology)
        )


def _check_sums(opened: OpenedSnapshot) -> Iterator[Problem]:
    try:
        found = read_small_file(opened.folder, CHECKSUMS, DOCUMENT_LIMIT)
        data = read_small_file(opened.folder, MANIFEST, MANIFEST_LIMIT)
    except (UnreadableFile, FileNotFoundError) as error:
        yield _file(ProblemKind.MISSING_FILE, CHECKSUMS, "the list that sha256sum reads", show_value(error))
        return
    written = {file.name: FileDigest(file.sha256, file.bytes) for file in opened.manifest.files}
    written[MANIFEST] = FileDigest(hashlib.sha256(data).hexdigest(), len(data))
    wanted, there = (dict(_entries(text)) for text in (render_checksums(written), found))
    for name in sorted(wanted.keys() | there.keys()):
        if wanted.get(name) != there.get(name):
            expected, other = show_value(wanted.get(name)), show_value(there.get(name))
            yield Problem(fault=ProblemKind.SUMS, file=CHECKSUMS, at=show_value(name), expected=expected, found=other)


def _entries(text: bytes) -> Iterator[tuple[str, str]]:
    for line in text.decode("utf-8", "replace").splitlines():
        digest, _, name = line.partition("  ")
        yield (name, digest) if _SHA256.fullmatch(digest) else (line, "no digest")


def _signature(folder: Path) -> bytes:
    try:
        return read_small_file(folder, SIGNATURE, MAX_FILE_BYTES)
    except FileNotFoundError as error:
        raise NotSigned(f"{SIGNATURE} is not there") from error


def _identity(folder: Path, name: str) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    with open_plain_file(folder, name) as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
            size += len(piece)
    return size, digest.hexdigest()


def _is_same(expected: Any, found: Any) -> bool:
    """Whether two JSON values are the same, found fast; False also where only the order of members differs."""
    try:
        return orjson.dumps(expected) == orjson.dumps(found)
    except orjson.JSONEncodeError:  # nested too deep
        return False


def _different(expected: Any, found: Any, at: str) -> Iterator[tuple[str, Any, Any]]:
    """The innermost places in which two JSON values differ."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for name in [*expected, *(one for one in found if one not in expected)]:
            yield from _different(expected.get(name), found.get(name), f"{at}/{name}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from _different(one, other, f"{at}/{number}")
    elif expected != found or type(expected) is not type(found):
        yield at, expected, found


def _named(at: str, document: Any) -> str:
    """A path with the names of list entries instead of their indexes."""
    parts, value = [], document
    for part in at.split("/")[1:]:
        if isinstance(value, list):
            value = value[int(part)]
            parts.append(str(value.get("name") or value.get("cites") or value.get("id") or part))
        else:
            value = value.get(part) if isinstance(value, Mapping) else None
            parts.append(part)
    return "/".join(parts)


def _rubric_of(at: str, document: Any) -> str:
    parts = at.split("/")[1:]
    return str(document["rubrics"][int(parts[1])]["name"]) if parts[0] == "rubrics" and len(parts) > 1 else ""


def _version(document: Any) -> str:
    try:
        return methodology_version(document)
    except (ValueError, TypeError, RecursionError):
        return "of no methodology"


def _file(fault: ProblemKind, name: str, expected: str, found: str) -> Problem:
    return Problem(fault=fault, file=name, expected=expected, found=found)
