"""Kind `secrets`: the places of secrets in a server's source files, never their values. Private, never public.

Body, schema 1 (canonical JSON):

    {"origin": ORIGIN, "name": STRING, "ref": COMMIT or VERSION, "rules": DIGEST,
     "files": INT, "bytes": INT, "complete": BOOL,
     "findings": [{"pattern": STRING, "path": STRING, "line": INT, "hash": HEX, "context": STRING,
                   "confidence": "specific" | "generic", "counts": BOOL, "why": STRING}, ...]}

ORIGIN is that of kind `source`. `rules` is the digest of the scanner's rules. `files` and `bytes` count what was
scanned, without binary files. The scan is not `complete` when a file exceeded the bound of one file, or there were more
findings than the body can hold.

`findings` are in the order of path, line and pattern. `line` counts from 1; 0 is a rule about the path alone. `hash` is
the HMAC-SHA256 of the secret under the salt of the installation: equal hashes are the same secret, also across runs.
`context` is a part of the line with all possible secrets masked. `counts` states whether the finding may cost points;
otherwise `why` says why not: `generic`, `test`, `example`, `documentation`, `vendored`, `public by design` or
`sequence` (docs/decisions/0020).

In a file of `scan --save` the places are removed: `name`, `ref`, `path` and `context` are empty, `line` is 0, and
`hash` is the number of the secret in this body, so that equal secrets stay equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from evidence.canonical import Json, canonical_json, parse_json
from evidence.json_members import array_or_empty, count_or_zero, object_or_empty, read_members, text_or_empty
from evidence.kinds import source
from evidence.kinds.traits import Traits

KIND: Final = "secrets"
SCHEMA: Final = 1
TRAITS: Final = Traits(private=True, stands_with=source.KIND)

SPECIFIC: Final = "specific"
GENERIC: Final = "generic"


class Discount(StrEnum):
    """Why a finding does not count."""

    GENERIC = "generic"
    TEST = "test"
    EXAMPLE = "example"
    DOCUMENTATION = "documentation"
    VENDORED = "vendored"
    PUBLIC = "public by design"
    SEQUENCE = "sequence"


class SecretLocation(Struct, frozen=True, kw_only=True):
    """One place of one secret. `why` is empty when it counts."""

    pattern: str
    path: str
    line: int
    digest: str
    context: str
    confidence: str
    counts: bool
    why: str


class Secrets(Struct, frozen=True, kw_only=True):
    """Typed, tolerant view of a secrets body; `size` is its `bytes`."""

    origin: str
    name: str
    ref: str
    rules: str
    files: int
    size: int
    complete: bool
    findings: tuple[SecretLocation, ...] = ()

    @staticmethod
    def parse(body: bytes) -> Secrets:
        """View over the body; raise NotJson when the bytes are not JSON."""
        members = object_or_empty(parse_json(body))
        return read_members(
            Secrets,
            members,
            size=count_or_zero(members.get("bytes")),
            findings=tuple(_read_location(object_or_empty(row)) for row in array_or_empty(members.get("findings"))),
        )

    @property
    def counting(self) -> tuple[SecretLocation, ...]:
        """The findings that may cost points."""
        return tuple(one for one in self.findings if one.counts)


_DISCOUNTS: Final = frozenset(Discount)


def remove_places(body: bytes) -> bytes:
    """The body without what was searched and without the place, hash and context of every finding.

    Only members that are named here stay, so that a later member is not passed on unseen. Raise NotJson for bytes that
    are not JSON.
    """
    seen = Secrets.parse(body)
    numbers: dict[str, int] = {}
    findings: list[Json] = [
        {
            "pattern": one.pattern,
            "path": "",
            "line": 0,
            "hash": format(numbers.setdefault(one.digest or f"{one.path}:{one.line}", len(numbers) + 1), "x"),
            "context": "",
            "confidence": one.confidence,
            "counts": one.counts,
            "why": one.why if one.why in _DISCOUNTS else "",
        }
        for one in seen.findings
    ]
    head: dict[str, Json] = {"origin": seen.origin, "name": "", "ref": "", "rules": seen.rules}
    scanned: dict[str, Json] = {"files": seen.files, "bytes": seen.size, "complete": seen.complete}
    return canonical_json({**head, **scanned, "findings": findings})


def _read_location(row: Mapping[str, Json]) -> SecretLocation:
    return read_members(
        SecretLocation,
        row,
        digest=text_or_empty(row.get("hash")),
        confidence=text_or_empty(row.get("confidence")) or GENERIC,
    )
