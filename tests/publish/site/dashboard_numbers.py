"""The dashboard's numbers as a publication counts them, made up."""

from __future__ import annotations

from typing import Any

import orjson

ADAPTIVE: dict[str, Any] = {
    "rubric": "adaptive",
    "version": 2,
    "scored": 1200,
    "thin": 3,
    "unscored": 31,
    "median": "61.25",
    "bins": [0, 1, 2, 0, 40, 300, 500, 300, 56, 1],
    "coverage": [0, 0, 0, 10, 90, 500, 500, 90, 10, 0],
    "grades": [],
    "dimensions": [{"name": "reliability", "measured": 1100, "partial": 60, "not_testable": 74}],
    "failures": [
        {
            "cites": "protocol.handshake",
            "rule": "tool-description-missing",
            "example": "no description",
            "servers": 400,
            "times": 900,
            "points": "-812.5",
        }
    ],
}
LINT: dict[str, Any] = {
    "rubric": "lint",
    "version": 2,
    "scored": 1000,
    "thin": 0,
    "unscored": 234,
    "median": None,
    "bins": [1] * 10,
    "grades": [{"grade": "A", "servers": 700}, {"grade": "F", "servers": 300}],
    "failures": [],
}


CHANGES = ("up", "down", "lost_score", "gained_score", "new")


def front(name: str = "made-up") -> dict[str, Any]:
    """Numbers of 1,234 servers; `name` is what strangers call themselves."""
    group = {"servers": 1234, "measured": 1000, "partial": 34, "not_testable": 200, "scored": 1200, "median": "61.25"}
    return {
        "servers": 1234,
        "states": {"measured": 1000, "partial": 34, "not_testable": 200},
        "reasons": [{"reason": "oauth_required", "servers": 150}, {"reason": "collector_error", "servers": 50}],
        "rubrics": [ADAPTIVE, LINT],
        "movers": {
            "since": "20261121T030000Z-1",
            "rubric": "adaptive",
            "version": 2,
            "compared": 1100,
            "up": 60,
            "down": 40,
            "same": 1000,
            "new": 100,
            "gone": None,
            "lost_score": 7,
            "gained_score": 2,
            "why": ["evidence", "ruleset"],
            "most": [
                {
                    "server": "srv_00000000000000000001",
                    "name": name,
                    "ref": f"npm:{name}",
                    "before": "40",
                    "after": "72.5",
                },
                {"server": "srv_00000000000000000002", "name": "other", "ref": "npm:o", "before": "90", "after": None},
            ],
        },
        "categories": [
            {
                "name": "databases",
                "servers": 321,
                "up": 4,
                "down": 1,
                "lost_score": 2,
                "gained_score": 0,
                "new": 9,
                "best": [
                    {
                        "server": "srv_00000000000000000003",
                        "name": name,
                        "ref": f"npm:{name}",
                        "score": "91.5",
                        "grade": "A",
                    }
                ],
                "moves": [],
            },
            {
                "name": "other",
                "servers": 500,
                "up": 0,
                "down": 0,
                "lost_score": 0,
                "gained_score": 0,
                "new": 0,
                "best": [],
                "moves": [],
            },
        ],
        "registries": [{"name": name, **group, "bins": ADAPTIVE["bins"]}],
        "ecosystems": [{"name": "npm", **group, "bins": ADAPTIVE["bins"]}],
    }


def encoded(name: str = "made-up") -> bytes:
    return orjson.dumps(front(name))
