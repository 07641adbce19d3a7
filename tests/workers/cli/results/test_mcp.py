"""Our own MCP server, judged as we judge others: over stdio and over HTTP, with every question that we ask."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evidence.store import Store, open_store
from publish.app import create_app
from publish.mcp.tool_names import TOOLS
from tests.publish import samples
from tests.publish.published_stores import show
from tests.publish.site.plain_backend import PlainBackend
from tests.servers.loopback_app import on_loopback
from tests.workers.cli.conftest import SCRIPT, Hallmark, Outcome

UNKEPT = {
    "HTTP-11",  # a batch of 2025-03-26, which the SDK's later revisions know no more
    "RES-02",  # the code of a resource that is not there, by the newest revision; the older ones had another
}
"""Checks that the SDK does not keep, all of them tolerated."""

ACCEPTED = {
    ("tool-name-without-verb", "tools/explain_finding"),  # it is a verb
    ("oauth-not-offered", "access"),  # everything it says is public
    ("tool-scope-undescribed", "tools"),  # its tools only read published scores
}
"""What our own rubrics find and we leave as it is."""


@pytest.fixture
def published(home: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with a published run."""
    monkeypatch.setenv("HALLMARK_INTEROP", "full")
    home.mkdir()
    store = open_store(f"sqlite:///{home}/hallmark.db")
    store.migrate()
    show(store, [*samples.dossiers(4), samples.hostile_dossier()])
    return store


@pytest.mark.soak
def test_our_own_server_has_an_a_and_the_first_tier_over_http(process: Hallmark, published: Store) -> None:
    with on_loopback(lambda address: create_app(published, PlainBackend(base_url=address))) as address:
        document = scanned(process("scan", f"{address}/mcp", "--allow-private", "--full", "--json"))
    published.close()
    assert grades(document)["sdk_tier"] == ("T1", 100)


@pytest.mark.soak  # it is started for each connection, eighteen times
def test_our_own_server_has_an_a_and_the_first_tier_over_stdio(process: Hallmark, published: Store) -> None:
    published.close()
    document = scanned(process("scan", "--full", "--no-sandbox", "--json", "--", str(SCRIPT), "mcp"))
    assert grades(document)["sdk_tier"] == ("T1", 100)


def test_our_own_server_has_an_a_over_stdio(process: Hallmark, published: Store) -> None:
    published.close()
    scanned(process("scan", "--core", "--no-sandbox", "--json", "--", str(SCRIPT), "mcp"))


def scanned(result: Outcome) -> dict[str, Any]:
    """The document of a scan that has nothing against the server but what we accept."""
    assert result.code == 0, result.err
    document: dict[str, Any] = json.loads(result.out)
    graded = grades(document)
    assert (graded["lint"], graded["tool_design"]) == (("A", 100), ("exemplary", 100))
    assert found(document) <= ACCEPTED
    assert unkept(document) <= UNKEPT
    return document


def grades(document: dict[str, Any]) -> dict[str, tuple[str | None, int | None]]:
    return {card["rubric"]: (card["grade"], card["score"]) for card in document["scorecards"]}


def found(document: dict[str, Any]) -> set[tuple[str, str]]:
    """Rules and places of everything that costs points under the newest rubrics."""
    lines = [line for card in document["scorecards"] for line in all_lines(card)]
    return {(line["rule"], line["at"]) for line in lines if line["rule"] and float(line["points"]) < 0}


def all_lines(card: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [part for dimension in card["dimensions"] for part in (dimension, *dimension["components"])]
    return [*card["lines"], *(line for part in parts for line in part["lines"])]


def unkept(document: dict[str, Any]) -> set[str]:
    """Ids of the checks of the protocol that are not passed."""
    return {row["id"] for row in document["conformance"]["checks"] if row["verdict"] in {"warn", "fail"}}


def test_every_tool_that_is_promised_is_there() -> None:
    assert TOOLS == ("search_servers", "get_scorecard", "explain_finding", "compare_servers")
