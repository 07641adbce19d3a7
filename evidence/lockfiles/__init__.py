"""Lockfiles: bytes in, dependencies out. Nothing is opened, resolved or executed here."""

from evidence.lockfiles.formats import FORMATS, Format, format_of, parse
from evidence.lockfiles.lockfile import (
    Dependency,
    Ecosystem,
    Fault,
    FaultKind,
    Lockfile,
    Relation,
    Scope,
    Source,
    Unknown,
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
    "Unknown",
    "Unreadable",
    "format_of",
    "parse",
]
