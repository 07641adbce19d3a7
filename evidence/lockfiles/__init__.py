"""Reads lockfiles: bytes in, dependencies out. Nothing is opened, resolved or executed here."""

from evidence.lockfiles.formats import FORMATS, Format, find_format, parse_lockfile
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
