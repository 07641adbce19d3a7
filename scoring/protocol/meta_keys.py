"""Keys of `_meta`: their grammar, and the prefixes that the specification reserves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from evidence.canonical import Json
from scoring.text import evidence_path

_LABEL: Final = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
PREFIX: Final = rf"{_LABEL}(?:\.{_LABEL})*"
NAME: Final = "(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?"
_KEY: Final = re.compile(rf"(?:(?P<prefix>{PREFIX})/)?{NAME}")
_OWNERS: Final = frozenset({"modelcontextprotocol", "mcp"})
_OFFICIAL: Final = "io.modelcontextprotocol"
"""The prefix of the specification itself, of its extensions and of its registry."""

REVISIONS: Final = "CDE"
"""The revisions (letters) that define the grammar of keys."""

_REVISION_BY_LABEL: Final = "C"
"""The revision that reserves a prefix when any label but the last is one of the owners."""


def list_malformed_keys(meta: Json) -> Iterator[str]:
    """The keys that break the grammar, shortened for a message."""
    for key in meta if isinstance(meta, Mapping) else ():
        if not _KEY.fullmatch(key):
            yield evidence_path.clip_text(key, 40)


def list_reserved_keys(meta: Json, revision: str) -> Iterator[str]:
    """The keys with a prefix that is reserved under a revision (letter) and not that of the specification."""
    for key in meta if isinstance(meta, Mapping) else ():
        found = _KEY.fullmatch(key)
        prefix = (found["prefix"] or "") if found else ""
        labels = prefix.split(".")
        owners = labels[:-1] if revision == _REVISION_BY_LABEL else labels[1:2]
        if not _OWNERS.isdisjoint(owners) and f"{prefix}.".partition(f"{_OFFICIAL}.")[0]:
            yield evidence_path.clip_text(key, 40)
