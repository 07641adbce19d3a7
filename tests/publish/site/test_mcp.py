"""The MCP server of the site: what it answers, to whom, and that it tells only what is public."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec.structs import asdict
from starlette.testclient import TestClient

from evidence.store import Store, open_store
from publish.disclosure import WITHHELD, private_rule_ids
from publish.mcp.answers import MAX_PLACES
from scoring.engine import catalogue
from scoring.rule_snippets import make_snippet
from tests.publish import samples
from tests.publish.judged import whole
from tests.publish.published_stores import show
from tests.publish.site.conftest import SiteOf
from tests.publish.site.plain_backend import PlainBackend
from tests.publish.test_public_receipts import poisoned

Ask = Callable[..., dict[str, Any]]
HEADERS = {"host": "hallmark.example", "accept": "application/json, text/event-stream"}
GOOD, POOR = whole(), samples.dossiers(3)[2]
LOCKED = samples.dossiers(6)[5]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A published night with a good, a poor, a locked, a hostile and a poisoned server."""
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('mcp')}/hallmark.db")
    store.migrate()
    show(store, [GOOD, POOR, LOCKED, samples.hostile_dossier(), poisoned()])
    yield store
    store.close()


@pytest.fixture
def site(store: Store, site_of: SiteOf) -> TestClient:
    return site_of(store)


@pytest.fixture
def ask(site: TestClient) -> Ask:
    """Call a tool; its structured answer, or its error under `error`."""

    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        result = post(site, "tools/call", name=tool, arguments=arguments).json()["result"]
        text = result["content"][0]["text"]
        if result["isError"]:
            return {"error": text}
        found: dict[str, Any] = result["structuredContent"]
        assert json.loads(text) == found
        return found

    return call


def post(site: TestClient, method: str, headers: dict[str, str] | None = None, **params: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return site.post("/mcp", json=body, headers={**HEADERS, **(headers or {})})


def test_a_search_finds_servers_page_by_page(ask: Ask) -> None:
    first = ask("search_servers", q="", limit=2)
    assert first["total"] == 5
    assert first["servers"][0]["id"] == GOOD.server.id
    assert first["servers"][0]["verdict"]["coverage"] >= 0.9
    assert "lab-tested" in first["servers"][0]["badges"]
    second = ask("search_servers", q="", limit=2, cursor=first["next_cursor"])
    third = ask("search_servers", q="", limit=2, cursor=second["next_cursor"])
    found = [one["id"] for page in (first, second, third) for one in page["servers"]]
    assert len(found) == len(set(found)) == 5
    assert third["next_cursor"] is None


def test_filters_leave_out_what_does_not_match(ask: Ask) -> None:
    assert [one["id"] for one in ask("search_servers", q="", badge="lab-tested")["servers"]] == [GOOD.server.id]
    assert [one["id"] for one in ask("search_servers", q="", state="not_testable")["servers"]] == [LOCKED.server.id]
    assert ask("search_servers", q="zebra")["servers"] == []


def test_a_scorecard_tells_what_cost_points_first(ask: Ask) -> None:
    answer = ask("get_scorecard", server=POOR.server.id, rubric="lint", limit=3)
    points = [line["points"] for line in answer["lines"]]
    assert points == sorted(points)
    assert points[0] < 0
    assert answer["lines_left_out"] > 0
    assert answer["server"]["verdict"]["rubric"] == "lint"
    assert answer["methodology"] == "https://hallmark.example/methods/lint@2"
    assert ask("get_scorecard", server=POOR.server.ref)["server"]["id"] == POOR.server.id
    bare = ask("get_scorecard", server=POOR.server.id, include=["caveats"])
    assert (bare["parts"], bare["lines"], bool(bare["caveats"])) == ([], [], True)


def test_what_was_not_measured_is_null_and_has_a_reason(ask: Ask) -> None:
    answer = ask("get_scorecard", server=LOCKED.server.id, rubric="lint")
    verdict = answer["server"]["verdict"]
    assert (verdict["score"], verdict["not_measured"]) == (None, "oauth_required")


def test_a_finding_is_explained_and_found_on_a_server(ask: Ask) -> None:
    line = ask("get_scorecard", server=POOR.server.id, rubric="lint", limit=1)["lines"][0]
    answer = ask("explain_finding", finding=line["finding"], server=POOR.server.id)
    assert line["rule"] in {rule["rule"] for rule in answer["rules"]}
    assert line["where"] in {place["where"] for place in answer["places"]}
    by_rule = ask("explain_finding", finding=line["rule"])
    assert (by_rule["rules"][0]["rule"], by_rule["places"]) == (line["rule"], [])
    assert by_rule["rules"][0]["bad"]
    snippet = make_snippet(catalogue.get_rule(line["rule"]))
    assert snippet
    assert by_rule["rules"][0]["snippet"] == asdict(snippet)
    assert {price["rubric"] for price in by_rule["rules"][0]["prices"]} >= {"lint@1", "lint@2"}
    assert len(ask("explain_finding", finding="setup.readme")["rules"]) > 1


def test_places_are_bounded(ask: Ask) -> None:
    answer = ask("explain_finding", finding="tool-title-missing", server=GOOD.server.id)
    assert len(answer["places"]) <= MAX_PLACES


def test_scores_that_must_not_be_compared_are_not(ask: Ask) -> None:
    answer = ask("compare_servers", first=POOR.server.id, second=GOOD.server.id)
    assert answer["comparable"]
    assert answer["difference"] == answer["second"]["verdict"]["score"] - answer["first"]["verdict"]["score"] > 0
    assert {part["name"] for part in answer["parts"]} >= {"reliability", "security"}
    locked = ask("compare_servers", first=LOCKED.server.id, second=GOOD.server.id, rubric="lint")
    assert (locked["comparable"], locked["difference"]) == (False, None)
    assert "no score" in locked["why_not"]


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("get_scorecard", {"server": "srv_00000000000000000000"}, "search_servers finds ids"),
        ("get_scorecard", {"server": "x" * 501}, "at most 500 characters"),
        ("search_servers", {"q": "", "cursor": "garbage"}, "expected a cursor"),
        ("search_servers", {"q": "", "limit": 51}, "less than or equal to 50"),
        ("explain_finding", {"finding": "\u202eno\x1b[31m"}, "get_scorecard lists the findings"),
        ("explain_finding", {"finding": WITHHELD}, "until they are disclosed"),
        ("compare_servers", {"first": "a", "second": "b"}, "expected the id"),
    ],
)
def test_an_error_says_what_was_expected(ask: Ask, tool: str, arguments: dict[str, Any], says: str) -> None:
    error = ask(tool, **arguments)["error"]
    assert says in error
    assert not {"\x1b", "\u202e"} & set(error)
    assert "Traceback" not in error


def test_a_hostile_server_is_spelled_out_and_cut(ask: Ask) -> None:
    hostile = samples.hostile_dossier().server.id
    for answer in (ask("get_scorecard", server=hostile, limit=200), ask("search_servers", q="", limit=50)):
        text = json.dumps(answer, ensure_ascii=False)
        assert not any(hidden in text for hidden in ("\\u001b", "\u202e", "\u200b"))
        assert len(text) < 200_000


def test_what_is_not_disclosed_is_in_no_answer(ask: Ask) -> None:
    server = poisoned().server.id
    for rubric in ("adaptive", "enterprise"):
        receipt = ask("get_scorecard", server=server, rubric=rubric, limit=200)
        assert any(line["finding"] == WITHHELD for line in receipt["lines"])
        assert not private_rule_ids() & {line["rule"] for line in receipt["lines"]}
        assert not any(rule in json.dumps(receipt) for rule in private_rule_ids())
    for rule in sorted(private_rule_ids()):
        assert ask("explain_finding", finding=rule, server=server)["places"] == []
    compared = json.dumps(ask("compare_servers", first=server, second=GOOD.server.id))
    assert not any(rule in compared for rule in private_rule_ids())


def test_a_server_that_opted_out_is_as_unknown_as_one_that_never_was(store: Store, site_of: SiteOf) -> None:
    site = site_of(store, PlainBackend(hidden={GOOD.server.id}))

    def asked(tool: str, **arguments: Any) -> str:
        return str(post(site, "tools/call", name=tool, arguments=arguments).json()["result"]["content"][0]["text"])

    gone, never = (asked("get_scorecard", server=one) for one in (GOOD.server.id, "srv_00000000000000000000"))
    assert gone.replace(GOOD.server.id, "X") == never.replace("srv_00000000000000000000", "X")
    assert GOOD.server.id not in asked("search_servers", q="")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "https://hallmark.example"}, 200),
        ({"host": "127.0.0.1:8080"}, 200),
        ({"content-type": "text/plain"}, 400),
    ],
)
def test_only_its_own_name_and_pages_are_answered(site: TestClient, headers: dict[str, str], status: int) -> None:
    assert post(site, "tools/list", headers).status_code == status


def test_a_long_body_and_other_methods_are_refused(site: TestClient) -> None:
    assert site.post("/mcp", content=b"x" * 70_000, headers=HEADERS).status_code == 413
    assert site.get("/mcp", headers=HEADERS).status_code == 405
    assert site.delete("/mcp", headers=HEADERS).status_code == 405


@pytest.mark.parametrize("method", ["tools/call", "prompts/get"])
def test_a_name_that_is_none_is_an_invalid_parameter(site: TestClient, method: str) -> None:
    error = post(site, method, name="no_such").json()["error"]
    assert error["code"] == -32602
    assert "improve_server" in error["message"] or "search_servers" in error["message"]


def test_every_tool_says_that_it_only_reads_and_what_it_answers(site: TestClient) -> None:
    tools = post(site, "tools/list").json()["result"]["tools"]
    assert len(tools) == 4
    for tool in tools:
        assert tool["annotations"]["readOnlyHint"] is True
        assert tool["annotations"]["destructiveHint"] is False
        assert tool["outputSchema"]["type"] == "object"
        assert all(part.get("description") for part in tool["inputSchema"]["properties"].values())


def test_references_are_completed(site: TestClient) -> None:
    ref = {"type": "ref/prompt", "name": "improve_server"}
    found = post(site, "completion/complete", ref=ref, argument={"name": "server", "value": "notes"}).json()
    assert found["result"]["completion"]["values"] == [GOOD.server.ref]
