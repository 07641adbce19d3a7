"""Imported or not: "not imported" is said only when nothing can be hidden."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.collectors.advisories.used_packages import list_used_packages
from evidence.canonical import canonical_json
from evidence.kinds import source
from evidence.model import Absent, Observed
from tests.crawler.collectors.advisories.test_collector import dossier, record

ORIGIN = {"origin": "github", "name": "acme/bakery", "ref": "c0ffee"}
ROWS = [
    ("npm", "flour", "direct", []),
    ("npm", "grain", "transitive", ["flour"]),
    ("npm", "salt", "direct", []),
    ("npm", "sea", "transitive", ["salt"]),
    ("npm", "both", "transitive", ["flour", "salt"]),
    ("npm", "many", "transitive", ["a", "b", "c"]),
    ("npm", "lost", "transitive", []),
    ("PyPI", "httpx", "direct", []),
    ("PyPI", "rich", "direct", []),
]
IMPORTS: dict[str, Any] = {"npm": ["flour"], "python": ["httpx", "json", "bakery"], "own": ["bakery"], "unread": []}


def imported(*, listed: dict[str, Any] | None = None, **members: Any) -> dict[str, bool | None]:
    """What is known of each dependency; keywords are members of the source."""
    rows = [
        {
            "ecosystem": eco,
            "name": name,
            "version": "1.0.0",
            "relation": relation,
            "scopes": [],
            "path": "x",
            "via": via,
        }
        for eco, name, relation, via in ROWS
    ]
    body = {**ORIGIN, "complete": True, "subfolder": None, "imports": IMPORTS, **members}
    found = list_used_packages(
        dossier(
            record("dependencies", Observed(canonical_json({**ORIGIN, **(listed or {}), "dependencies": rows}))),
            record(source.KIND, Observed(canonical_json(body))),
        )
    )
    assert not isinstance(found, Absent)
    return {one.name: one.imported for one in found}


def test_imports_are_followed_through_what_brings_a_dependency() -> None:
    assert imported() == {
        "flour": True, "grain": True, "salt": False, "sea": False, "both": True, "many": None, "lost": None,
        "httpx": True, "rich": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    "members",
    [
        {"complete": False},
        {"subfolder": "packages/one"},
        {"imports": {**IMPORTS, "unread": ["npm", "PyPI"]}},
        {"imports": {**IMPORTS, "npm": [], "python": ["unknown_module"], "unread": ["npm"]}},
        {"imports": None},
        {"ref": "other"},
        {"listed": {"origin": "npm"}},
    ],
)
def test_nothing_is_not_imported_when_something_is_not_known(members: dict[str, Any]) -> None:
    assert False not in imported(**members).values()
