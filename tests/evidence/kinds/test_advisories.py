from __future__ import annotations

from typing import Any

import pytest

from evidence.canonical import NotJson, canonical_json
from evidence.kinds.advisories import Advisories, Group, Reach, Severity, Unmatched

GROUP = {
    "ids": ["CVE-2026-1", "GHSA-1"],
    "ecosystem": "npm",
    "package": "bread",
    "version": "1.0.0",
    "relation": "transitive",
    "scopes": ["dev"],
    "severity": "high",
    "cvss": "7.5",
    "vector": "CVSS:3.1/…",
    "fixed": "1.0.1",
    "published": "2026-01-01T00:00:00Z",
    "fixed_since": "2026-01-01T00:00:00Z",
    "summary": "It burns",
}


def view(**members: Any) -> Advisories:
    return Advisories.parse(canonical_json(members))


def test_a_body_is_read() -> None:
    unknown = {"ecosystem": "npm", "name": "salt", "version": "main", "why": "not_a_version"}
    seen = view(checked=7, unknown=[unknown], unknown_total=300, ecosystems=["npm"], groups=[GROUP], groups_total=1)
    assert (seen.checked, seen.unknown_total, seen.groups_total, seen.ecosystems) == (7, 300, 1, ("npm",))
    assert seen.unknown == (Unmatched(**unknown),)
    (group,) = seen.groups
    assert (group.id, group.severity, group.relation) == ("CVE-2026-1", Severity.HIGH, Reach.TRANSITIVE)
    assert group.scopes == frozenset({"dev"})


@pytest.mark.parametrize("rubbish", [None, 7, -1, True, "text", [], [None, 7, "x", []], {}, {"a": 1}])
def test_rubbish_is_nothing(rubbish: Any) -> None:
    names = ("checked", "unknown", "unknown_total", "ecosystems", "groups", "groups_total")
    seen = view(**dict.fromkeys(names, rubbish))
    assert (seen.groups, seen.unknown) == ((), ())
    assert seen.checked in {0, 7}
    (group,) = view(groups=[dict.fromkeys(GROUP, rubbish)]).groups
    assert (group.severity, group.relation, group.cvss) == (
        Severity.UNKNOWN,
        Reach.UNKNOWN,
        "text" if rubbish == "text" else "",
    )


def test_a_group_without_anything_still_is_one() -> None:
    assert view(groups=[{}]).groups == (Group(ids=(), ecosystem="", package="", version=""),)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(NotJson):
        Advisories.parse(b"{")
