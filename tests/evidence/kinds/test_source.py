"""Views of source and dependencies tolerate what is missing or misshapen, and an absent thing is never a zero."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evidence.canonical import NotJson
from evidence.kinds.dependencies import Dependencies, Dependency
from evidence.kinds.source import Marker, Source, SourceTool, Variable


def source(**body: Any) -> Source:
    return Source.parse(json.dumps(body).encode())


def test_members_are_read() -> None:
    view = source(
        origin="npm",
        complete=True,
        transports={"stdio": ["a.ts:1"], "sse": []},
        oauth=[{"marker": "requireBearerAuth", "at": "a.ts:2"}],
        environment=[{"name": "KEY", "at": "a.ts:3", "secret": True, "required": None}],
        tools=[
            {"name": "t", "description": None, "input": {}, "annotations": None, "at": "a.ts:4", "by": "typescript"}
        ],
        readme={"path": "README.md", "words": 3, "sections": ["A"], "install": "x", "licence": True},
        lockfiles=[{"path": "uv.lock", "format": "uv", "packages": None, "error": "x"}],
        changelog="CHANGELOG.md",
        ci=["a.yml"],
        tests=2,
    )
    assert (view.origin, view.complete, view.transports) == ("npm", True, {"stdio": ("a.ts:1",)})
    assert view.oauth == (Marker("requireBearerAuth", "a.ts:2"),)
    assert view.environment == (Variable(name="KEY", at="a.ts:3", secret=True, required=None),)
    assert view.tools == (
        SourceTool(name="t", description=None, input={}, annotations=None, at="a.ts:4", by="typescript"),
    )
    assert view.readme is not None
    assert (view.readme.install, view.readme.snippet, view.readme.licence) == ("x", "", True)
    assert (view.lockfiles[0].packages, view.lockfiles[0].error) == (None, "x")
    assert (view.path("changelog"), view.path("licence"), view.paths("ci"), view.count("tests")) == (
        "CHANGELOG.md", "", ("a.yml",), 2,
    )  # fmt: skip


@pytest.mark.parametrize("odd", [None, 7, "x", [None], {"a": 1}, True])
def test_misshapen_members_are_nothing(odd: Any) -> None:
    names = ("readme", "tools", "oauth", "environment", "lockfiles", "transports", "server_json", "tests", "licence")
    view = source(**dict.fromkeys(names, odd))
    assert (view.tools, view.oauth, view.environment, view.lockfiles) == ((), (), (), ())
    assert (view.transports, view.path("changelog"), view.paths("ci")) == ({}, "", ())
    assert Source.parse(b"[]").tools == ()
    assert Dependencies.parse(json.dumps({"dependencies": odd}).encode()).dependencies == ()


def test_dependencies_are_read() -> None:
    row = {"ecosystem": "npm", "name": "a", "version": None, "relation": "direct", "scopes": ["dev", 1], "path": "p"}
    body = {"from": "lockfile", "lockfile": True, "complete": True, "dependencies": [row, {"name": "b"}],
            "sources": [{"path": "p", "format": "uv"}], "unread": [{"path": "q", "why": "x"}]}  # fmt: skip
    view = Dependencies.parse(json.dumps(body).encode())
    assert (view.taken_from, view.lockfile, view.complete) == ("lockfile", True, True)
    assert (view.sources, view.unread) == ((("p", "uv"),), (("q", "x"),))
    first, second = view.dependencies
    assert first == Dependency(ecosystem="npm", name="a", version=None, relation="direct", scopes=("dev",), path="p")
    assert second.relation == "unknown"


def test_bytes_that_are_no_json_are_our_own_fault() -> None:
    for kind in (Source, Dependencies):
        with pytest.raises(NotJson):
            kind.parse(b"{")
