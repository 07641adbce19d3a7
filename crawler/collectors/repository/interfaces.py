"""What other collectors may ask of GitHub: the software bill of materials, and where an archive is fetched from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from evidence.model import Absent


@dataclass(frozen=True, slots=True, kw_only=True)
class SbomPart:
    """One resolved dependency out of a bill of materials, as its package URL names it.

    `ecosystem` is written as OSV writes it (`npm`, `PyPI`, `Go`, `crates.io`, ...); `version` is None where the bill
    states a range or nothing. The bill does not tell direct from transitive.
    """

    ecosystem: str
    name: str
    version: str | None


class SbomSource(Protocol):
    """A source of resolved dependencies of a public repository, without cloning it."""

    async def sbom(self, name: str) -> tuple[SbomPart, ...] | Absent:
        """Parts of `OWNER/REPO`, sorted and each once, without the repository itself; or why there is no bill."""
        ...


class TarballSource(Protocol):
    """A source of addresses of archives. The archive itself is fetched through the guard, without a token."""

    async def tarball_address(self, name: str, ref: str) -> str | Absent:
        """Absolute URL of the gzipped tarball of `OWNER/REPO` at a commit, tag or branch; or why there is none.

        The address may be signed and short-lived: it is fetched at once, and never stored or logged.
        """
        ...
