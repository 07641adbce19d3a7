"""A snapshot as one ZIP file: the same bytes every time, and safe to unpack when others made it.

Its files are compressed already, so they are stored as they are: no member can be larger than the archive.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from publish.datasets.format.table_files import FileDigest
from publish.datasets.snapshot.manifest import FILE_NAME, NotASnapshot

ARCHIVE: Final = ".zip"
DIGEST: Final = ".sha256"
MAX_MEMBERS: Final = 1_000

_PREFIX: Final = "hallmark-dataset-"
_TOP: Final = re.compile(rf"{_PREFIX}[A-Za-z0-9][A-Za-z0-9_-]{{0,99}}")
_STATED: Final = re.compile(r"([0-9a-f]{64})  \S{1,200}\n")
_DIGEST_LIMIT: Final = 1_000
_ENCRYPTED: Final = 0x1
_UNIX: Final = 3
_MODE: Final = 0o100644 << 16
_PIECE: Final = 2**20


def archive_name(snapshot: str) -> str:
    """The file name of the archive of a snapshot."""
    return f"{_PREFIX}{snapshot}{ARCHIVE}"


def write_archive(folder: Path, snapshot: str, path: Path) -> FileDigest:
    """Write the files of a snapshot folder as an archive, and beside it its SHA-256 for `sha256sum -c`.

    Members are sorted, and have neither times nor owners.
    """
    names = sorted(one.name for one in folder.iterdir() if ARCHIVE not in one.suffixes)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in names:
            _add(archive, folder / name, f"{_PREFIX}{snapshot}/{name}")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    digest_path(path).write_text(f"{digest}  {path.name}\n", encoding="ascii")
    return FileDigest(digest, path.stat().st_size)


def digest_path(archive: Path) -> Path:
    """The file with the SHA-256 of an archive."""
    return archive.with_name(archive.name + DIGEST)


def parse_digest(data: bytes) -> str | None:
    """The SHA-256 that the file beside an archive states; None for anything else."""
    found = _STATED.fullmatch(data[:_DIGEST_LIMIT].decode("ascii", "replace"))
    return found[1] if found else None


def unpack_archive(path: Path, folder: Path) -> None:
    """Unpack an untrusted archive into an empty folder, piece by piece; raise NotASnapshot.

    Only what `write_archive` writes is accepted: stored files with plain names in one folder, which together are no
    larger than the archive. Links and attributes of members are ignored.
    """
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            for name, member in _checked(archive.infolist(), os.fstat(file.fileno()).st_size):
                with archive.open(member) as source, (folder / name).open("xb") as target:
                    shutil.copyfileobj(source, target, _PIECE)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        if isinstance(error, NotASnapshot):
            raise
        raise NotASnapshot(f"an archive of a snapshot expected: {ascii(str(error))[1:-1][:200]}") from error


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    member = zipfile.ZipInfo(name)
    member.create_system, member.external_attr = _UNIX, _MODE
    member.file_size = path.stat().st_size
    with path.open("rb") as source, archive.open(member, "w") as target:
        shutil.copyfileobj(source, target, _PIECE)


def _checked(members: Sequence[zipfile.ZipInfo], size: int) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    """Each member with its file name; raise NotASnapshot before the first if any is not as we write it."""
    if len(members) > MAX_MEMBERS:
        raise NotASnapshot(f"an archive of at most {MAX_MEMBERS} files expected, found {len(members)}")
    found: dict[str, zipfile.ZipInfo] = {}
    tops = {member.filename.partition("/")[0] for member in members}
    for member in members:
        name = member.filename.partition("/")[2]
        if len(tops) != 1 or not _TOP.fullmatch(min(tops)) or not FILE_NAME.fullmatch(name) or name in found:
            shown = ascii(member.filename[:100])
            raise NotASnapshot(
                f"different plain files in one folder {_PREFIX}RUN expected in the archive, found {shown}"
            )
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & _ENCRYPTED:
            raise NotASnapshot(
                f"{name}: a stored file expected, neither compressed nor encrypted; unpack it and name DIR"
            )
        found[name] = member
    if sum(member.file_size for member in members) > size:
        raise NotASnapshot(f"files of at most {size} bytes, the size of the archive, expected")
    yield from found.items()
