"""The style sheets and pictures of the site, each under an address that changes with its content."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Final

from msgspec import Struct, field

_HERE: Final = Path(__file__).resolve().parents[1] / "site"
_TYPES: Final = {".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
_DIGITS: Final = 12


class Asset(Struct, frozen=True):
    """One file as it is served."""

    name: str
    body: bytes
    media_type: str

    @property
    def version(self) -> str:
        return sha256(self.body).hexdigest()[:_DIGITS]


def _read() -> Mapping[str, Asset]:
    files = sorted(path for path in _HERE.iterdir() if path.suffix in _TYPES)
    return MappingProxyType({path.name: Asset(path.name, path.read_bytes(), _TYPES[path.suffix]) for path in files})


class Assets(Struct, frozen=True):
    """Every style sheet and picture of the site, read once."""

    files: Mapping[str, Asset] = field(default_factory=_read)

    def url(self, name: str) -> str:
        """The path of a file; raise KeyError for an unknown file, which is an error in a template."""
        return f"/static/{self.files[name].version}/{name}"

    def find(self, version: str, name: str) -> Asset | None:
        """The file of a path; None if the path is of other content."""
        found = self.files.get(name)
        return found if found and found.version == version else None
