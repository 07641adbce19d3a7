"""Builds the body of the kind `advisories` from the result of a lookup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from evidence.canonical import Json, canonical_json
from evidence.kinds.advisories import Group, Unmatched

MAX_UNKNOWN: Final = 200
MAX_GROUPS: Final = 2_000
_MAX_TEXT: Final = 256


def build_body(
    *, checked: int, groups: Sequence[Group], unknown: Sequence[Unmatched], ecosystems: Iterable[str]
) -> bytes:
    """Canonical JSON; groups stay in the given order, the worst first, and are cut at the bounds."""
    return canonical_json(
        {
            "checked": checked,
            "unknown": [_unmatched(one) for one in unknown[:MAX_UNKNOWN]],
            "unknown_total": len(unknown),
            "ecosystems": sorted(ecosystems),
            "groups": [group_to_json(found) for found in groups[:MAX_GROUPS]],
            "groups_total": len(groups),
        }
    )


def group_to_json(found: Group) -> dict[str, Json]:
    return {
        "ids": list(found.ids),
        "ecosystem": found.ecosystem,
        "package": _text(found.package),
        "version": _text(found.version),
        "relation": found.relation.value,
        "scopes": sorted(found.scopes),
        "severity": found.severity.value,
        "cvss": found.cvss or None,
        "vector": _text(found.vector) or None,
        "fixed": _text(found.fixed) or None,
        "published": found.published or None,
        "fixed_since": found.fixed_since or None,
        "summary": _text(found.summary),
        **({"exploited": found.exploited} if found.exploited else {}),
        **({"via": [_text(name) for name in found.via]} if found.via else {}),
        **({"imported": found.imported} if found.imported is not None else {}),
        **({"lock": found.lock} if found.lock else {}),
        **({"admitted": found.admitted} if found.admitted is not None else {}),
        **({"held_by": [[_text(one) for one in pair] for pair in found.held_by]} if found.held_by else {}),
    }


def _unmatched(one: Unmatched) -> dict[str, Json]:
    return {"ecosystem": _text(one.ecosystem), "name": _text(one.name), "version": _text(one.version), "why": one.why}


def _text(text: str) -> str:
    """The text cut to its bound, without lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")[:_MAX_TEXT]
