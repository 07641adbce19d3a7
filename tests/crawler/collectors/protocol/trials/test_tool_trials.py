"""Nothing but reading tools is ever called, whatever a listing says, and each outcome is recorded separately."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.collectors.protocol.trials.call_policy import (
    CallPolicy,
    choose_call_policy,
    classify_tools,
    explain_refusal,
)
from crawler.collectors.protocol.trials.tool_trials import TrialBounds
from evidence.authority import ADMIN_VERBS, DESTROY_VERBS, UNAMBIGUOUS_ACTION_VERBS, WRITE_VERBS
from evidence.kinds.trials import Structured, TrialKind, TrialOutcome
from evidence.model import Reason
from tests.crawler.collectors.protocol.trials.recording_trials import reads, trying
from tests.sampling import examples

HINT = {"annotations": {"readOnlyHint": True}}
TEXT = {"type": "string"}

DANGEROUS: list[dict[str, Any]] = [
    {"name": "delete_all", **HINT},
    {"name": "deleteEverything", **HINT},
    {"name": "DeLeTeAll", **HINT},
    {"name": "list_and_delete", **HINT},
    {"name": "getdeleteall", **HINT},
    {"name": "de1ete_all", **HINT},
    {"name": "d\u0435lete_all", **HINT},  # Cyrillic e
    {"name": "\uff44\uff45\uff4c\uff45\uff54\uff45_all", **HINT},  # full-width letters
    {"name": "get_\u200bnotes", **HINT},
    {"name": "get notes; drop table", **HINT},
    {"name": "acme_delete_record", **HINT},
    {"name": "acme_wipe", **HINT},
    {"name": "tidy", "title": "Delete old notes", **HINT},
    {"name": "tidy_up", "annotations": {"readOnlyHint": True, "title": "Purges the trash"}},
    {"name": "tidy_more", "description": "Deletes every note that is older than a year.", **HINT},
    {
        "name": "notes",
        **HINT,
        "inputSchema": {"type": "object", "properties": {"action": {"enum": ["read", "delete"]}}},
    },
    {"name": "cleaner", "description": "Permanently overwrites the notes of a year.", **HINT},
    {"name": "mailer", "description": "Sends a note to somebody.", **HINT},
    {"name": "run_command", **HINT},
    {"name": "execute_sql", **HINT},
    {"name": "pay_invoice", **HINT},
    {"name": "page_close", **HINT},
    {"name": "get_user", "annotations": {"readOnlyHint": True, "destructiveHint": True}},
    {"name": "get_account", "annotations": {"readOnlyHint": False}},
    {"name": "get_record", "annotations": {"destructiveHint": True}},
    {"name": "get_or_create_user"},
    {"name": "list_users", "description": "Removes users that are no longer active."},
    {"name": "read_rows", "inputSchema": {"type": "object", "properties": {"sql": TEXT}}},
    {"name": "create_note"},
    {"name": "frobnicate"},
]


@pytest.mark.parametrize("policy", [CallPolicy.ANNOTATED, CallPolicy.READ])
def test_no_dangerous_tool_is_called_whatever_it_claims(tmp_path: Path, policy: CallPolicy) -> None:
    tried = trying(tmp_path, *DANGEROUS, reads("get_note"), policy=policy, bounds=TrialBounds(tools=100))

    assert tried.called == ["get_note"]
    skipped = {row.index: row for row in tried.view.skipped}
    assert sorted(skipped) == list(range(len(DANGEROUS)))
    assert all(row.reason == "not_read" and row.authority != "read" and row.why is not None for row in skipped.values())


ALONE = [DANGEROUS[0], DANGEROUS[6], {"name": "frobnicate"}]


@pytest.mark.parametrize("tool", ALONE, ids=lambda tool: ascii(tool["name"]))
def test_a_dangerous_tool_is_not_called_when_it_is_the_only_one(tmp_path: Path, tool: dict[str, Any]) -> None:
    assert trying(tmp_path, tool).called == []


def test_brand_prefixes_do_not_hide_deeds(tmp_path: Path) -> None:
    tools = [{"name": f"acme_{verb}_page"} for verb in ("get", "list", "delete", "update", "purge", "publish")]

    assert trying(tmp_path, *tools).called == ["acme_get_page", "acme_list_page"]


def test_by_default_a_remote_is_asked_only_what_says_that_it_reads(tmp_path: Path) -> None:
    tried = trying(tmp_path, {"name": "list_pages"}, reads("get_page"), policy=CallPolicy.ANNOTATED)

    assert tried.called == ["get_page"]
    assert [(row.tool, row.reason, row.authority) for row in tried.view.skipped] == [
        ("list_pages", "not_annotated", "read")
    ]


def test_only_what_contains_a_server_widens_a_policy() -> None:
    for runtime in ("bubblewrap", "gvisor", "podman", "docker"):
        assert choose_call_policy(CallPolicy.ANNOTATED, runtime) is CallPolicy.SANDBOXED_ALL
        assert choose_call_policy(CallPolicy.READ, runtime) is CallPolicy.READ
    assert choose_call_policy(CallPolicy.SANDBOXED_ALL, "kata") is CallPolicy.ANNOTATED
    assert choose_call_policy(CallPolicy.ANNOTATED, "") is CallPolicy.ANNOTATED
    assert choose_call_policy(CallPolicy.ANNOTATED, "none") is CallPolicy.ANNOTATED
    assert choose_call_policy(CallPolicy.OFF, "bubblewrap") is CallPolicy.OFF
    assert choose_call_policy(CallPolicy.SANDBOXED_ALL, "") is CallPolicy.ANNOTATED
    assert choose_call_policy(CallPolicy.SANDBOXED_ALL, "bubblewrap") is CallPolicy.SANDBOXED_ALL


def test_two_tools_of_one_name_are_left_alone() -> None:
    tools = [reads("get_note"), {"name": "get_note", "annotations": {"destructiveHint": True}}]
    assert [explain_refusal(tool, CallPolicy.READ) for tool in classify_tools(tools)] == ["not_read", "not_read"]


def test_nothing_is_called_of_a_server_that_opted_out_or_when_it_is_switched_off(tmp_path: Path) -> None:
    opted_out = trying(tmp_path, reads(), opted_out=True)
    off = trying(tmp_path, reads(), policy=CallPolicy.OFF)

    assert (opted_out.called, opted_out.absent.reason) == ([], Reason.OPTED_OUT)
    assert (off.called, off.absent.reason) == ([], Reason.NOT_COLLECTED)


def test_a_server_of_writing_tools_only_is_write_only(tmp_path: Path) -> None:
    tried = trying(tmp_path, {"name": "create_note"}, {"name": "delete_note"})

    assert (tried.called, tried.absent.reason) == ([], Reason.WRITE_ONLY)


def test_a_server_without_any_tool_is_observed_as_such(tmp_path: Path) -> None:
    assert trying(tmp_path).view.trials == ()


def test_at_most_eight_tools_are_called_and_the_first_ones(tmp_path: Path) -> None:
    tried = trying(tmp_path, *(reads(f"get_part_{index}") for index in range(12)))

    assert tried.called == [f"get_part_{index}" for index in range(8)]
    assert [(row.tool, row.reason) for row in tried.view.skipped] == [
        (f"get_part_{index}", "bound") for index in range(8, 12)
    ]


def test_a_tool_is_called_well_once_and_then_with_two_mistakes(tmp_path: Path) -> None:
    tried = trying(tmp_path, reads(properties={"note": {"type": "integer"}, "page": TEXT}))

    right, wrong, incomplete = (call["arguments"] for call in tried.calls)
    assert (right, incomplete) == ({"note": 1, "page": "example"}, {"page": "example"})
    assert isinstance(wrong["note"], str)
    assert wrong == {**right, "note": wrong["note"]}
    assert [(trial.kind, trial.parameter, trial.outcome) for trial in tried.view.trials] == [
        (TrialKind.CALL, "", TrialOutcome.RESULT),
        (TrialKind.INVALID_TYPE, "note", TrialOutcome.TOOL_ERROR),
        (TrialKind.MISSING_REQUIRED, "note", TrialOutcome.TOOL_ERROR),
    ]
    assert tried.view.trials[1].text == "note: expected another type"


@pytest.mark.parametrize(
    ("declared", "recorded"),
    [
        ("string", {"hallmark": "invalid"}),
        ("integer", "not-a-number"),
        ("boolean", "not-a-boolean"),
        ("array", "not-an-array"),
    ],
)
def test_a_server_that_repeats_the_random_wrong_value_leaves_an_equal_record(
    tmp_path: Path, declared: str, recorded: Any
) -> None:
    tool = reads(properties={"note": {"type": declared}}, answers="repeats")
    one, other = trying(tmp_path, tool), trying(tmp_path, tool)

    sent = [tried.calls[1]["arguments"]["note"] for tried in (one, other)]
    assert sent[0] != sent[1]
    assert "hallmark" not in str(sent).lower()
    assert one.view.trials[1].text == f"note: found {json.dumps(recorded)}"
    assert one.content == other.content


def test_an_error_keeps_neither_secrets_nor_what_changes_every_night(tmp_path: Path) -> None:
    locked, broken = reads("get_weather", answers="locked"), reads("get_page", answers="protocol error")
    [one, other] = trying(tmp_path, locked, broken).view.trials

    assert "sk-" not in one.text
    assert "WEATHER_API_KEY" in one.text
    assert (one.outcome, one.locked, one.unclear) == (TrialOutcome.TOOL_ERROR, True, "credentials")
    assert (other.outcome, other.code) == (TrialOutcome.PROTOCOL_ERROR, -32603)
    assert not any(changing in other.text for changing in ("7f3a12bc", "17"))


def test_a_server_all_of_whose_tools_want_credentials_needs_them(tmp_path: Path) -> None:
    assert trying(tmp_path, reads(answers="locked")).absent.reason is Reason.CREDENTIALS_REQUIRED


def test_the_same_server_gives_the_same_bytes_again(tmp_path: Path) -> None:
    tools = [*DANGEROUS, reads(properties={"note": TEXT}), reads("get_page", answers="protocol error")]
    one, other = (trying(tmp_path, *tools) for _ in range(2))

    assert one.content == other.content
    assert "ms" in json.dumps(one.observation)


def test_structured_content_is_held_against_the_output_schema(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
    answers: dict[str, Any] = {"get_right": {"count": 1}, "get_wrong": {"count": "secret"}, "get_none": "well"}
    tools = [reads(name, outputSchema=schema, answers=answer) for name, answer in answers.items()]
    tried = trying(tmp_path, *tools, reads("get_free"))

    assert [(trial.structured, trial.complaint) for trial in tried.view.trials] == [
        (Structured.VALID, ""),
        (Structured.INVALID, "properties/count/type"),
        (Structured.MISSING, ""),
        (Structured.NOT_DECLARED, ""),
    ]
    assert "secret" not in json.dumps(tried.view.trials[1].complaint)


def test_what_a_tool_answered_is_not_kept(tmp_path: Path) -> None:
    tried = trying(tmp_path, reads())

    assert tried.view.trials[0].content == ("text",)
    assert b"fine" not in tried.content.body  # type: ignore[union-attr]


def test_a_process_that_dies_of_a_call_stops_the_trials_and_is_no_error_handling(tmp_path: Path) -> None:
    tried = trying(tmp_path, reads("get_a", answers="death"), *(reads(f"get_part_{index}") for index in range(4)))

    assert tried.called == ["get_a"]
    assert [trial.outcome for trial in tried.view.trials] == [TrialOutcome.FAILURE, TrialOutcome.FAILURE]
    assert {row.reason for row in tried.view.skipped} == {"stopped"}
    assert tried.view.answered == ()


def test_silence_costs_one_deadline_a_call_and_never_more_than_the_whole(tmp_path: Path) -> None:
    silent = [reads(f"get_part_{index}", answers="silence") for index in range(8)]
    tried = trying(tmp_path, *silent, bounds=TrialBounds(call=1.5, total=5))

    assert [trial.reason for trial in tried.view.trials] == ["timeout", "timeout"]
    assert len(tried.view.skipped) == 6


def test_a_tool_for_which_nothing_harmless_fits_is_skipped(tmp_path: Path) -> None:
    tried = trying(tmp_path, reads(properties={"target": {"const": "/etc/passwd"}}))

    assert tried.called == []
    assert [(row.reason, row.detail) for row in tried.view.skipped] == [
        ("no_arguments", "every allowed value names a place or a deed")
    ]


DEEDS = sorted(DESTROY_VERBS | ADMIN_VERBS | UNAMBIGUOUS_ACTION_VERBS | WRITE_VERBS)
STYLES: list[Callable[[list[str]], str]] = [
    "_".join,
    "-".join,
    ".".join,
    "/".join,
    lambda words: "_".join(words).upper(),
    lambda words: words[0] + "".join(word.title() for word in words[1:]),
    lambda words: "".join(word.title() for word in words),
]


@settings(max_examples=examples(300), deadline=None)
@given(
    deed=st.sampled_from(DEEDS),
    before=st.sampled_from([[], ["acme"], ["page"]]),
    after=st.sampled_from([[], ["all"], ["user", "notes"]]),
    style=st.sampled_from(STYLES),
    hint=st.sampled_from([{}, HINT]),
)
def test_no_name_of_a_deed_is_called_however_it_is_written(
    deed: str, before: list[str], after: list[str], style: Callable[[list[str]], str], hint: dict[str, Any]
) -> None:
    tool = {"name": style([*before, deed, *after]), "description": "Reads notes.", **hint}

    assert [explain_refusal(each, CallPolicy.READ) for each in classify_tools([tool])] == ["not_read"]


@settings(max_examples=examples(200), deadline=None)
@given(deed=st.sampled_from(sorted(word for word in DESTROY_VERBS if len(word) > 4)), data=st.data())
def test_no_word_for_destroying_is_hidden_by_case_or_company(deed: str, data: st.DataObject) -> None:
    spelled = "".join(data.draw(st.sampled_from([letter, letter.upper()])) for letter in deed)
    at = data.draw(st.integers(1, len(deed) - 1))
    joint = data.draw(st.sampled_from(["", "_", "-", "."]))
    name = f"get{data.draw(st.sampled_from(['', '_', 'x']))}{spelled[:at]}{joint}{spelled[at:]}"

    assert [explain_refusal(each, CallPolicy.READ) for each in classify_tools([{"name": name, **HINT}])] == ["not_read"]
