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
        (
            {"fixed": "1.2", "relation": Reach.TRANSITIVE, "via": ("a",), "lock": "uv"},
            "fixed in 1.2: raise it in the lockfile (`uv lock --upgrade-package left`), or a, which brings it",
        ),
        ({"fixed": "1.2", "lock": "poetry"}, "fixed in 1.2: `poetry update left`, if the other packages allow it"),
        (
            {"fixed": "1.2", "relation": Reach.TRANSITIVE, "via": ("a",), "lock": "package-lock", "admitted": True},
            "fixed in 1.2: `npm update left` suffices, since all declared ranges allow it",
        ),
        (
            {"fixed": "1.2", "lock": "installed", "admitted": True},
            "fixed in 1.2: a new installation brings it, since all declared ranges allow it",
        ),
        (
            {"fixed": "1.2", "lock": "yarn", "admitted": True},
            "fixed in 1.2: renew left in the lockfile, since all declared ranges allow it",
        ),
        (
            {"fixed": "2.0", "relation": Reach.DIRECT, "admitted": False, "held_by": (("", "^1.0"),)},
            "fixed in 2.0: raise your range ^1.0 of left",
        ),
        (
            {"fixed": "2.0", "via": ("a", "b"), "admitted": False, "held_by": (("c", "^1.0"),)},
            "fixed in 2.0: c allows only ^1.0: raise it through a or b, or override the version",
        ),
        (
            {"fixed": "2.0", "via": ("c",), "admitted": False, "held_by": (("", "1"), ("c", "^1.0"))},
            "fixed in 2.0: c allows only ^1.0: raise it, or override the version",
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


def test_no_command_holds_what_a_shell_reads() -> None:
    for package, fixed in (("left;id", "1.2"), ("--force", "1.2"), ("left", "1.2`id`")):
        members: dict[str, Any] = {"ids": (), "ecosystem": "npm", "version": "1", "admitted": True}
        group = Group(package=package, fixed=fixed, lock="package-lock", **members)
        assert "npm update" not in describe_upgrade(group), group
