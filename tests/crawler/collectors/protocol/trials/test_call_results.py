"""Every kind of answer to a call has its own outcome. Faults of the network or of ours are never the tool's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from crawler.collectors.protocol.trials.call_policy import CallPolicy
from crawler.collectors.protocol.trials.call_results import stabilise_text, summarise_result
from crawler.collectors.protocol.trials.tool_trials import ToolTrials
from crawler.http.failures import BudgetSpent, TimedOut, TooLarge, Unreachable, WireFailure
from crawler.mcp.jsonrpc import RpcAnswer
from crawler.mcp.transcript import Exchange, Reply
from evidence.canonical import Json
from evidence.kinds.trials import Trials
from evidence.model import Absent, Observed, Reason
from tests.crawler.collectors.protocol.trials.recording_trials import call_tools, reads


def reply(
    *, result: Any = ..., error: Any = ..., status: int | None = 200, failure: WireFailure | None = None, **headers: str
) -> Reply:
    exchange = Exchange(
        transport="streamable-http",
        method="tools/call",
        request=b"",
        began=0,
        seconds=0,
        status=status,
        headers=tuple((name.replace("_", "-"), value) for name, value in headers.items()),
        failure=failure,
    )
    if result is ... and error is ...:
        return Reply(exchange)
    value = error if result is ... else result
    return Reply(exchange, RpcAnswer(json.dumps(value).encode(), value, result is ...))


FINE = {"content": [{"type": "text", "text": "fine"}]}
ERROR = {"code": -32603, "message": "Internal error"}


@pytest.mark.parametrize(
    ("answer", "outcome", "reason"),
    [
        (reply(result=FINE), "result", ""),
        (reply(result={"content": []}), "result", ""),
        (reply(result={"structuredContent": {}}), "result", ""),
        (reply(result={**FINE, "isError": True}), "tool_error", ""),
        (reply(result={**FINE, "isError": "true"}), "result", ""),
        (reply(error=ERROR), "protocol_error", ""),
        (reply(error=ERROR, status=400), "protocol_error", ""),
        (reply(error="odd"), "protocol_error", ""),
        (reply(result=[]), "malformed", ""),
        (reply(result=None), "malformed", ""),
        (reply(result={"answer": 42}), "malformed", ""),
        (reply(result={"resultType": "input_required"}), "input_required", ""),
        (reply(error=ERROR, status=500), "failure", "unreachable"),
        (reply(result=FINE, status=503), "failure", "unreachable"),
        (reply(error=ERROR, status=429), "failure", "rate_limited"),
        (reply(error=ERROR, status=403), "failure", "forbidden"),
        (reply(status=401, www_authenticate="Bearer"), "failure", "oauth_required"),
        (reply(status=402), "failure", "payment_required"),
        (reply(status=200), "failure", "not_mcp"),
        (reply(failure=TimedOut("no answer"), status=None), "failure", "timeout"),
        (reply(failure=TooLarge("a large answer")), "failure", "too_large"),
        (reply(failure=Unreachable("connection closed"), status=None), "failure", "unreachable"),
    ],
)
def test_each_kind_of_answer_has_its_own_outcome(answer: Reply, outcome: str, reason: str) -> None:
    row = summarise_result(answer, {})
    assert (row["outcome"], row["reason"]) == (outcome, reason)


@pytest.mark.parametrize(
    "text",
    [
        "Unauthorized",
        "Missing API key",
        "Please set GITHUB_TOKEN",
        "Please log in first",
        "Rate limit exceeded",
        "403 Forbidden",
    ],
)
def test_a_wish_for_credentials_or_patience_is_noticed(text: str) -> None:
    said = {"content": [{"type": "text", "text": text}], "isError": True}
    assert summarise_result(reply(result=said), {})["locked"] is True


def test_what_an_error_revealed_is_stated_and_its_value_is_masked() -> None:
    row = summarise_result(reply(error={"code": -32603, "message": "config DB_PASSWORD=hunter2horse"}), {})

    assert (row["text"], row["reveals"]) == (
        "config DB_PASSWORD=[removed]",
        "the value of a secret environment variable",
    )


def test_a_value_that_we_sent_is_not_revealed() -> None:
    answered = reply(error={"code": -32602, "message": "unknown: APP_SECRET=hunter2horse"})
    sent = Reply(replace(answered.exchange, request=b'{"q": "APP_SECRET=hunter2horse"}'), answered.answer)

    assert [summarise_result(each, {})["reveals"] != "" for each in (answered, sent)] == [True, False]


@pytest.mark.parametrize("text", ["No note is called example", "note: string expected", "Author unknown", ""])
def test_other_errors_are_not_taken_for_one(text: str) -> None:
    said = {"content": [{"type": "text", "text": text}], "isError": True}
    assert summarise_result(reply(result=said), {})["locked"] is False


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("took 12.5 ms", "took 9 ms"),
        ("at 2026-11-22T02:10:00Z", "at 2026-11-23T14:59:31Z"),
        ("request 9f86d081-884c-4d65-9a2f-eaa0c55ad015 failed", "request 0e8400e2-9b41-4716-a446-655440000000 failed"),
        ("object at 0x7f3a12bc", "object at 0x55d0c8e1"),
    ],
)
def test_what_changes_every_night_is_left_out(one: str, other: str) -> None:
    assert stabilise_text(one) == stabilise_text(other)


def test_codes_stay() -> None:
    assert stabilise_text("MCP error -32602: HTTP 404 (status: 500)") == "MCP error -32602: HTTP 404 (status: 500)"


def test_secrets_go_and_texts_are_cut() -> None:
    assert "ghp_" not in stabilise_text("token ghp_abcdefghijklmnopqrstuvwxyz012345 refused")
    assert len(stabilise_text("word " * 10_000)) <= 300


def trials_of(*answers: Reply, tools: int = 8) -> tuple[Observed | Absent, list[Mapping[str, Json]]]:
    """What trials come to when the calls are answered so, and what was asked; the last answer is repeated."""
    asked: list[Mapping[str, Json]] = []
    left: Iterator[Reply] = iter(answers)

    async def ask(method: str, params: Mapping[str, Json], *, seconds: float) -> Reply:
        assert method == "tools/call"
        assert 0 < seconds <= 15
        asked.append(params)
        return next(left, answers[-1])

    listed = [reads(f"get_part_{index}", properties={"note": {"type": "string"}}) for index in range(tools)]
    content, _ = asyncio.run(call_tools(ToolTrials(CallPolicy.ANNOTATED, lambda: 0.0), ask, listed))
    return content, asked


def test_no_more_is_asked_after_a_429() -> None:
    content, asked = trials_of(reply(result=FINE), reply(status=429, error=ERROR))

    assert isinstance(content, Observed)
    assert len(asked) == 2
    assert {row.reason for row in Trials.parse(content.body).skipped} == {"stopped"}


def test_one_failure_is_passed_over_and_two_in_a_row_end_it() -> None:
    bad = reply(status=503)
    _, asked = trials_of(bad, reply(result=FINE), bad, reply(result=FINE), bad, bad)

    assert len(asked) == 6


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (reply(status=401, www_authenticate="Bearer"), Reason.OAUTH_REQUIRED),
        (reply(status=403), Reason.FORBIDDEN),
        (reply(status=402), Reason.PAYMENT_REQUIRED),
        (reply(error={"code": -32001, "message": "Unauthorized"}), Reason.CREDENTIALS_REQUIRED),
    ],
)
def test_a_server_that_answers_every_call_with_a_lock_is_locked(answer: Reply, reason: Reason) -> None:
    content, _ = trials_of(answer)
    assert isinstance(content, Absent)
    assert content.reason is reason


def test_a_budget_that_is_spent_is_a_bound_and_no_failure() -> None:
    content, asked = trials_of(reply(result=FINE), reply(failure=BudgetSpent("spent")))

    assert isinstance(content, Observed)
    view = Trials.parse(content.body)
    assert len(asked) == 2
    assert (len(view.trials), {row.reason for row in view.skipped}) == (1, {"bound"})


def test_schemas_that_nothing_fits_are_not_tried_without_end() -> None:
    async def ask(method: str, params: Mapping[str, Json], *, seconds: float) -> Reply:
        raise AssertionError("nothing may be called")

    listed = [reads(f"get_part_{index}", properties={"note": False}) for index in range(2_500)]
    content, _ = asyncio.run(call_tools(ToolTrials(CallPolicy.ANNOTATED, lambda: 0.0), ask, listed))

    assert isinstance(content, Observed)
    view = Trials.parse(content.body)
    assert [row.reason for row in view.skipped] == ["no_arguments"] * 32 + ["bound"] * 1_968
    assert view.unlisted == 500


def test_names_and_texts_of_any_kind_make_a_body() -> None:
    odd = {"content": [{"type": "\ud800", "text": "\ud800\0" * 500}, 5, None], "isError": True}
    content, _ = trials_of(reply(result=odd))

    assert isinstance(content, Observed)
    assert content.canonical is not None


def form_of(result: Any) -> Any:
    return summarise_result(reply(result=result), {})["form"]


def test_the_form_of_a_result_holds_nothing_that_the_tool_said() -> None:
    said = {
        "content": [
            {
                "type": "text",
                "text": "the word",
                "own": "the word",
                "annotations": {"audience": ["user"], "priority": 0.7},
            },
            {"type": "the word is no type", "text": "the word"},
            {"type": "resource", "resource": {"uri": "note://the-word", "blob": "dGhlIHdvcmQ="}},
        ],
        "structuredContent": {"the word": "the word"},
        "_meta": {"com.example/cost": "the word", "token=abcdefgh12345678": 1, "x" * 200: 1},
        "isError": False,
    }
    [form] = form_of(said)

    assert "word" not in json.dumps(form)
    assert form["structuredContent"] == {}
    assert list(form["_meta"]) == ["com.example/cost"]
    assert {block["type"] for block in form["content"]} == {"text", "?", "resource"}


def test_a_flaw_of_the_form_is_kept() -> None:
    assert form_of({"content": "plain"}) == [{"content": ""}]
    assert form_of({"content": [{"type": "text"}, 7]}) == [{"content": [2, {"type": "text"}]}]
    assert form_of({"content": [], "structuredContent": [1]}) == [{"content": [], "structuredContent": []}]
    assert form_of([]) == [[]]
    assert form_of({"content": [], "isError": "yes"}) == [{"content": [], "isError": ""}]


def test_the_form_does_not_depend_on_how_much_a_tool_found() -> None:
    one, other = {"type": "text", "text": "a"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}

    assert form_of({"content": [one, other]}) == form_of({"content": [other, one, one, {**one, "text": "b"}]})


def test_without_a_result_there_is_no_form() -> None:
    assert summarise_result(reply(error=ERROR), {})["form"] == []
