"""The files of a snapshot checked against its manifest: which are missing, odd or changed; signature; methodology."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from publish.datasets.export import sums
from publish.datasets.files import Written
from publish.datasets.manifest import MANIFEST, METHODOLOGY, SIGNATURE, SUMS
from publish.datasets.methodology import is_ours, methodology, version_of
from publish.datasets.minisign import LARGEST, Forged, NotSigned, PublicKey, SignatureProblem, WrongKey
from publish.datasets.problems import Fault, Problem, shown
from publish.datasets.reading import DOCUMENT_LIMIT, MANIFEST_LIMIT, Opened, Unreadable, open_plain, read_whole
from publish.datasets.tables import TABLES, file_name

_BESIDE: Final = frozenset({MANIFEST, SUMS, SIGNATURE})
"""Files that the manifest does not name."""

_CHUNK: Final = 2**20
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


def check_files(opened: Opened) -> Iterator[Problem]:
    """What is missing, odd or changed of the files that the manifest and SHA256SUMS name."""
    manifest = opened.manifest
    there = {path.name for path in opened.folder.iterdir()}
    for table in TABLES:
        for form in table.formats:
            if (name := file_name(table, form)) not in manifest.by_name:
                yield _file(Fault.MISSING_FILE, MANIFEST, f"{name} in it", "nothing")
    for name in sorted(there - manifest.by_name.keys() - _BESIDE):
        yield _file(Fault.EXTRA_FILE, shown(name), "no file that the manifest does not name", "one")
    for file in manifest.files:
        if file.name not in there:
            yield _file(Fault.MISSING_FILE, file.name, f"{file.bytes} bytes", "nothing")
            continue
        try:
            size, digest = _identity(opened.folder, file.name)
        except (Unreadable, FileNotFoundError) as error:
            yield _file(Fault.UNREADABLE, file.name, "a plain file", shown(error))
            continue
        if size != file.bytes:
            yield _file(Fault.CHANGED_FILE, file.name, f"{file.bytes} bytes", f"{size} bytes")
        elif digest != file.sha256:
            yield _file(Fault.CHANGED_FILE, file.name, f"SHA-256 {shown(file.sha256)}", digest)
    yield from _check_sums(opened)


def check_signature(folder: Path, key: PublicKey | None) -> tuple[str, Problem | None]:
    """The trusted comment of the signature, and what is wrong with it; nothing is without a key to check it with."""
    if key is None:
        return "", None
    try:
        data = read_whole(folder, MANIFEST, MANIFEST_LIMIT)
        return key.check(data, _signature(folder)), None
    except NotSigned as error:
        return "", _file(Fault.SIGNATURE, SIGNATURE, f"a signature by key {key.id}", f"no signature: {error}")
    except WrongKey as error:
        return "", _file(Fault.SIGNATURE, SIGNATURE, f"a signature by key {key.id}", f"wrong key: {error}")
    except Forged as error:
        return "", _file(Fault.SIGNATURE, SIGNATURE, "the file and comment that were signed", f"tampered: {error}")
    except (SignatureProblem, Unreadable) as error:
        return "", _file(Fault.SIGNATURE, SIGNATURE, "a signature", shown(error))


def check_methodology(opened: Opened) -> Iterator[Problem]:
    """What the methodology of a snapshot says otherwise than the code that it names."""
    manifest = opened.manifest
    try:
        found = opened.document(METHODOLOGY)
    except (Unreadable, FileNotFoundError) as error:
        yield _file(Fault.UNREADABLE, METHODOLOGY, "the methodology", shown(error))
        return
    expected = methodology(manifest.pins)
    if is_ours(manifest.pins):
        for at, one, other in _different(expected, found, ""):
            yield Problem(
                fault=Fault.METHODOLOGY,
                file=METHODOLOGY,
                rubric=_rubric_of(at, expected),
                at=shown(_named(at, expected)),
                expected=shown(one),
                found=shown(other),
            )
    version = _version(found)
    if version != manifest.methodology:
        yield _file(Fault.METHODOLOGY, MANIFEST, f"methodology {shown(version)}", shown(manifest.methodology))


def _check_sums(opened: Opened) -> Iterator[Problem]:
    try:
        found = read_whole(opened.folder, SUMS, DOCUMENT_LIMIT)
        data = read_whole(opened.folder, MANIFEST, MANIFEST_LIMIT)
    except (Unreadable, FileNotFoundError) as error:
        yield _file(Fault.MISSING_FILE, SUMS, "the list that sha256sum reads", shown(error))
        return
    written = {file.name: Written(file.sha256, file.bytes) for file in opened.manifest.files}
    written[MANIFEST] = Written(hashlib.sha256(data).hexdigest(), len(data))
    wanted, there = (dict(_entries(text)) for text in (sums(written), found))
    for name in sorted(wanted.keys() | there.keys()):
        if wanted.get(name) != there.get(name):
            expected, other = shown(wanted.get(name)), shown(there.get(name))
            yield Problem(fault=Fault.SUMS, file=SUMS, at=shown(name), expected=expected, found=other)


def _entries(text: bytes) -> Iterator[tuple[str, str]]:
    for line in text.decode("utf-8", "replace").splitlines():
        digest, _, name = line.partition("  ")
        yield (name, digest) if _SHA256.fullmatch(digest) else (line, "no digest")


def _signature(folder: Path) -> bytes:
    try:
        return read_whole(folder, SIGNATURE, LARGEST)
    except FileNotFoundError as error:
        raise NotSigned(f"{SIGNATURE} is not there") from error


def _identity(folder: Path, name: str) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    with open_plain(folder, name) as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
            size += len(piece)
    return size, digest.hexdigest()


def _different(expected: Any, found: Any, at: str) -> Iterator[tuple[str, Any, Any]]:
    """Where two JSON values differ, to the innermost place."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for name in [*expected, *(one for one in found if one not in expected)]:
            yield from _different(expected.get(name), found.get(name), f"{at}/{name}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from _different(one, other, f"{at}/{number}")
    elif expected != found or type(expected) is not type(found):
        yield at, expected, found


def _named(at: str, document: Any) -> str:
    """A place with the names of list entries in place of their numbers: `security.poisoning weight`."""
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
        return version_of(document)
    except (ValueError, TypeError, RecursionError):
        return "of no methodology"


def _file(fault: Fault, name: str, expected: str, found: str) -> Problem:
    return Problem(fault=fault, file=name, expected=expected, found=found)
