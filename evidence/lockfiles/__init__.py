"""Reads lockfiles: bytes in, dependencies out. Nothing is opened, resolved or executed here.

The readers are imported with the first use of them: matching of advisories needs only the types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evidence.imported_on_use import import_on_use
from evidence.lockfiles.lockfile import (
    Dependency,
    Ecosystem,
    Fault,
    FaultKind,
    Lockfile,
    Relation,
    Scope,
    Source,
    UnknownVersion,
    Unreadable,
)

if TYPE_CHECKING:
    from evidence.lockfiles.formats import FORMATS, Format, find_format, parse_lockfile
else:
    __getattr__ = import_on_use(
        __name__, dict.fromkeys(("FORMATS", "Format", "find_format", "parse_lockfile"), "formats")
    )

__all__ = [
    "FORMATS",
    "Dependency",
    "Ecosystem",
    "Fault",
    "FaultKind",
    "Format",
    "Lockfile",
    "Relation",
    "Scope",
    "Source",
    "UnknownVersion",
    "Unreadable",
    "find_format",
    "parse_lockfile",
]
