"""What a tool may do: never call a writing tool reading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence.authority import (
    ADMIN_VERBS,
    DESTROY_VERBS,
    READ_VERBS,
    UNAMBIGUOUS_ACTION_VERBS,
    WRITE_VERBS,
    Authority,
    Basis,
    classify_tool,
    classify_tools,
    find_shared_prefix,
)
from tests.sampling import examples

CAPTURES = sorted((Path(__file__).parents[1] / "dossiers" / "captures").glob("*.json"))

# Judged by hand from name, description and parameters, without looking at the answers: every captured tool that has no
# readOnlyHint. All others of the capture are reading tools.
DEEDS = {
    "blender-mcp": {
        "disable_telemetry", "execute_blender_code", "record_trajectory_feedback", "generate_3d", "import_asset",
    },
    "modelcontextprotocol__server-github": {
        "create_or_update_file", "create_repository", "push_files", "create_issue", "create_pull_request",
        "fork_repository", "create_branch", "update_issue", "add_issue_comment", "create_pull_request_review",
        "merge_pull_request", "update_pull_request_branch",
    },
    "modelcontextprotocol__server-gitlab": {
        "create_or_update_file", "create_repository", "push_files", "create_issue", "create_merge_request",
        "fork_repository", "create_branch",
    },
    "modelcontextprotocol__server-puppeteer": {
        "puppeteer_navigate", "puppeteer_click", "puppeteer_fill", "puppeteer_select", "puppeteer_hover",
        "puppeteer_evaluate",
    },
    "modelcontextprotocol__server-slack": {"slack_post_message", "slack_reply_to_thread", "slack_add_reaction"},
    "shopify__dev-mcp": {"feedback"},
}  # fmt: skip
READS_BUT_UNKNOWN = {
    "query", "puppeteer_screenshot", "learn_shopify_api", "validate", "validate_theme", "tavily_extract",
    "tavily_crawl", "tavily_map", "tavily_research",
}  # fmt: skip


def tools_of(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["tools"]


def hint(tool: dict[str, Any]) -> bool | None:
    return (tool.get("annotations") or {}).get("readOnlyHint")


def of(name: str, **members: Any) -> Authority:
    return classify_tool({"name": name, **members}).authority


def test_no_captured_tool_that_writes_is_called_reading() -> None:
    """Precision of `read` over the 83 captured tools without the hint: 40 of 40; recall 40 of 49."""
    read, seen = 0, 0
    for path in CAPTURES:
        tools = tools_of(path)
        for tool, found in zip(tools, classify_tools(tools), strict=True):
            if hint(tool) is None:
                seen += 1
                writes = tool["name"] in DEEDS.get(path.stem, set())
                assert not (writes and found.authority is Authority.READ), tool["name"]
                assert writes or tool["name"] in READS_BUT_UNKNOWN or found.authority is Authority.READ, tool["name"]
                read += found.authority is Authority.READ
    assert (seen, read) == (83, 40)


def test_annotations_of_captured_tools_are_followed() -> None:
    for path in CAPTURES:
        tools = tools_of(path)
        for tool, found in zip(tools, classify_tools(tools), strict=True):
            if hint(tool) is True:
                assert found.authority is Authority.READ, tool["name"]
            if hint(tool) is False:
                assert found.authority.changes_state, tool["name"]


def test_names_alone_contradict_few_annotations() -> None:
    """Without annotations, 3 of 62 tools called reading declare that they do not: they write caches and files."""
    read, wrong = 0, []
    for path in CAPTURES:
        tools = tools_of(path)
        stripped = [{**tool, "annotations": None} for tool in tools]
        for tool, found in zip(tools, classify_tools(stripped), strict=True):
            if hint(tool) is not None and found.authority is Authority.READ:
                read += 1
                wrong += [tool["name"]] * (hint(tool) is False)
    assert wrong == ["list_paper_latex_sections", "get_paper_latex_section", "get_network_request"]
    assert read == 62


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("get_user", Authority.READ),
        ("listIssues", Authority.READ),
        ("HTTPSearch", Authority.READ),
        ("users_list", Authority.READ),
        ("list_commits", Authority.READ),
        ("list_roles", Authority.READ),
        ("get_or_create_user", Authority.WRITE),
        ("search_and_replace", Authority.WRITE),
        ("find_or_delete", Authority.DESTRUCTIVE),
        ("get_delete_token", Authority.UNKNOWN),
        ("fetch_and_store", Authority.UNKNOWN),
        ("delete_list", Authority.DESTRUCTIVE),
        ("account_delete", Authority.DESTRUCTIVE),
        ("very_long_account_remove_all", Authority.DESTRUCTIVE),
        ("set_permissions", Authority.ADMIN),
        ("run_command", Authority.ADMIN),
        ("execute", Authority.ADMIN),
        ("query", Authority.UNKNOWN),
        ("frobnicate", Authority.UNKNOWN),
        ("", Authority.UNKNOWN),
    ],
)
def test_names(name: str, expected: Authority) -> None:
    assert of(name) is expected


def test_a_claim_to_read_does_not_make_a_deed_safe() -> None:
    assert of("delete_file", annotations={"readOnlyHint": True}) is Authority.UNKNOWN
    assert of("get_file", annotations={"readOnlyHint": True, "destructiveHint": True}) is Authority.UNKNOWN
    assert of("export_book", annotations={"readOnlyHint": True}) is Authority.READ


def test_declared_deeds() -> None:
    assert of("get_file", annotations={"readOnlyHint": False}) is Authority.WRITE
    assert of("get_file", annotations={"destructiveHint": True}) is Authority.DESTRUCTIVE
    assert of("delete_file", annotations={"readOnlyHint": False}) is Authority.DESTRUCTIVE
    assert of("delete_file", annotations={"readOnlyHint": False, "destructiveHint": False}) is Authority.WRITE
    assert of("run_code", annotations={"readOnlyHint": False, "destructiveHint": False}) is Authority.ADMIN
    assert of("get_file", annotations={"readOnlyHint": "no"}) is Authority.READ


def test_what_a_tool_takes_can_unmake_a_reading_name() -> None:
    def taking(**properties: Any) -> dict[str, Any]:
        return {"inputSchema": {"type": "object", "properties": properties}}

    assert of("search", **taking(query={"type": "string"})) is Authority.READ
    assert of("search", **taking(sql={"type": "string"})) is Authority.UNKNOWN
    assert of("fetch", **taking(method={"type": "string"})) is Authority.UNKNOWN
    assert of("view", **taking(action={"enum": ["list", "create"]})) is Authority.WRITE
    assert of("view", **taking(action={"enum": ["list", "get"]})) is Authority.READ


def test_descriptions_decide_only_when_unambiguous() -> None:
    assert classify_tool({"name": "npm_deps", "description": "Lists all dependencies."}).basis is Basis.DESCRIPTION
    assert of("npm_deps", description="Lists all dependencies and updates the cache.") is Authority.UNKNOWN
    assert of("npm_deps", description="Dependencies.") is Authority.UNKNOWN
    assert of("get_paper", description="Downloads, stores and returns a paper.") is Authority.UNKNOWN


def test_a_brand_is_ignored_and_a_shared_verb_is_not() -> None:
    assert find_shared_prefix(["slack_get", "slack_post", "help"]) == "slack"
    assert find_shared_prefix(["delete_a", "delete_b", "delete_c"]) == ""
    assert find_shared_prefix(["only_one"]) == ""
    names = ["kubectl_big_thing_get", "kubectl_x", "kubectl_y"]
    assert classify_tools([{"name": name} for name in names])[0].authority is Authority.READ


def test_vocabularies_do_not_contradict_each_other() -> None:
    assert not READ_VERBS & (WRITE_VERBS | DESTROY_VERBS | ADMIN_VERBS)
    assert not WRITE_VERBS & (DESTROY_VERBS | ADMIN_VERBS)
    assert WRITE_VERBS | DESTROY_VERBS | ADMIN_VERBS | {"append", "uninstall"} >= UNAMBIGUOUS_ACTION_VERBS


JSON = st.recursive(
    st.none() | st.booleans() | st.text(max_size=6), lambda x: st.lists(x) | st.dictionaries(st.text(max_size=4), x)
)


@settings(derandomize=True, max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JSON, JSON, JSON)
def test_no_shape_breaks_it(name: Any, schema: Any, hints: Any) -> None:
    whole = [{"name": name, "inputSchema": schema, "annotations": hints, "description": name}, schema, None]
    assert len(classify_tools(whole)) == 3


@settings(derandomize=True, max_examples=examples(150))
@given(
    st.sampled_from(sorted(UNAMBIGUOUS_ACTION_VERBS)),
    st.lists(st.sampled_from(["get", "list", "user", "a", "log"]), max_size=3),
)
def test_a_name_with_a_plain_deed_never_reads(deed: str, words: list[str]) -> None:
    for at in range(len(words) + 1):
        assert of("_".join([*words[:at], deed, *words[at:]])) is not Authority.READ
