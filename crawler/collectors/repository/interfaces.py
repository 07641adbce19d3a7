"""Interfaces to GitHub for other collectors: the software bill of materials (SBOM), and the address of an archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from evidence.model import Absent


@dataclass(frozen=True, slots=True, kw_only=True)
class SbomPart:
    """One resolved dependency of an SBOM, as its package URL names it.

    `ecosystem` is spelled as in OSV (`npm`, `PyPI`, `Go`, `crates.io`, ...); `version` is None where the SBOM has a
    range or nothing. The SBOM does not separate direct from transitive dependencies.
    """

    ecosystem: str
    name: str
    version: str | None


class SbomSource(Protocol):
    """A source of resolved dependencies of a public repository, without cloning it."""

    async def sbom(self, name: str) -> tuple[SbomPart, ...] | Absent:
        """Packages of `OWNER/REPO`, sorted and each once, without the repository itself; or why there is no SBOM."""
        ...


class TarballSource(Protocol):
    """A source of addresses of archives. The archive itself is downloaded through the guard, without a token."""

    async def tarball_address(self, name: str, ref: str) -> str | Absent:
        """Absolute URL of the gzipped tarball of `OWNER/REPO` at a commit, tag or branch; or why there is none.

        The address may be signed and short-lived: use it at once, and never store or log it.
        """
        ...
