"""The shortest upgrade of a flaw in words."""

from __future__ import annotations

from typing import Any

import pytest

from evidence.kinds.advisories import Group, Reach
from scoring.analysis.upgrades import describe_upgrade


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({}, "no fix is known"),
        ({"fixed": "1.2"}, "fixed in 1.2"),
        ({"fixed": "1.2", "relation": Reach.DIRECT}, "fixed in 1.2: raise left to it"),
        (
            {"fixed": "1.2", "relation": Reach.TRANSITIVE, "via": ("a", "b")},
            "fixed in 1.2: raise it in the lockfile, or a or b, which brings it",
        ),
        ({"imported": True}, "no fix is known"),
        ({"imported": False}, "no fix is known; the code imports it nowhere"),
        ({"imported": False, "via": ("a",)}, "no fix is known; the code imports neither it nor what brings it"),
    ],
)
def test_the_shortest_upgrade_is_named(members: dict[str, Any], text: str) -> None:
    group = Group(ids=("CVE-1",), ecosystem="npm", package="left", version="1", **members)
    assert describe_upgrade(group) == text
    assert (
        len(describe_upgrade(Group(**{**members, "ids": (), "ecosystem": "", "package": "x" * 9_999, "version": ""})))
        < 400
    )
