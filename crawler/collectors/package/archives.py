"""The one archive of a package version from which its source is read."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from msgspec import Struct

ArchiveKind: TypeAlias = Literal["tgz", "sdist", "wheel"]
KINDS: Final[tuple[ArchiveKind, ...]] = ("tgz", "sdist", "wheel")


class Archive(Struct, frozen=True, kw_only=True):
    """One file of a package version, as its index names it.

    `kind` is an npm tarball (`tgz`), a Python source distribution (`sdist`, by its file name a tar or a zip) or a
    `wheel`. `address` is http(s), without user name and password. `digest` is the name of an algorithm (`sha512`,
    `sha256`, `sha384`, `sha1`) and its value in hexadecimal; `size` is in bytes. Both come from the index and are None
    where it gives none.
    """

    ecosystem: Literal["npm", "PyPI"]
    name: str
    version: str
    kind: ArchiveKind
    filename: str
    address: str
    digest: tuple[str, str] | None = None
    size: int | None = None
