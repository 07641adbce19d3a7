"""Which deviations break a requirement, and which are only remarked on: the line that decides about a failed MUST."""

from __future__ import annotations

from typing import Any, Final

import pytest

from scoring import conformance
from scoring.accessing import attempt, challenge, document, issuing, locked, metadata, missing
from scoring.assess import ask, assess
from scoring.conformance import Check, Verdict
from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern, stdio
from scoring.rubrics.sdk_tier import SDK_TIER_1
from scoring.scope import Scope
from tests.scoring.dossiers import talked

CHECKS: Final[dict[str, Check]] = {check.requirement.id: check for check in conformance.checks()}
SESSION: Final = {"length": 36, "visible": True, "same_as": None}
OPENED: Final = legacy("initialize", result={})
OLDER: Final = legacy("initialize", revision="C", result={})
OWN: Final = issuing(
    attempt(by="rfc8414", document=metadata(code_challenge_methods_supported=None)),
    issuer="https://notes.example",
    layout="legacy",
)


def breaches(check: str, thing: Scope) -> list[bool]:
    """One element a finding: True when it breaks the requirement, False when it is a remark."""
    found = ask(CHECKS[check].rule, thing, "", **dict(CHECKS[check].requirement.params))
    return [not finding.tolerated for finding in found]


def countered(**members: Any) -> Conversation:
    return conversation(OPENED, legacy("initialize-unknown", offered="1900-01-01", **{"revision": "", **members}))


REMARKS: Final[list[tuple[str, Scope]]] = [
    ("HTTP-03", conversation(OPENED, legacy("initialize-origin", status=400, opened=False))),
    ("HTTP-03", conversation(modern("discover-origin", error={"code": -32600}))),
    ("HTTP-04", conversation(legacy("version-unknown", status=404))),
    ("HTTP-06", conversation(legacy("initialized", status=202, received=[{"text": "Accepted"}]))),
    ("HTTP-11", conversation(legacy("batch", revision="B", status=400, error={"code": -32600}))),
    ("SESS-03", conversation(legacy("session-missing", session=SESSION, status=404))),
    ("SESSL-01", conversation(modern("discover-session-faked", status=400), OPENED)),
    ("LIFE-03", countered(error={"code": -32602}, opened=False)),
    ("LIFE-03", countered(result={"protocolVersion": "2025-01-01"}, revision="2025-01-01")),
    ("META-01", conversation(modern("discover-meta-missing", status=400, error={"code": -32600}), OPENED)),
    ("META-01", conversation(modern("discover-meta-missing", status=400, error={"code": -32020}))),
    ("HDR-01", conversation(modern("discover-version-mismatch", status=400, error={"code": -32022}))),
    ("PAGE-01", conversation(legacy("cursor-invented", result={"tools": []}))),
    ("TOOL-13", conversation(legacy("call-nonexistent", result={"content": [], "isError": True}))),
    ("AUTH-01", locked(status=403)),
    ("AUTH-01", locked(status=200, step="list-tools")),
    ("AUTH-02", locked(challenge("apikey"), reason="credentials_required", resource_metadata=missing("path", "root"))),
    ("AUTH-02", locked(resource_metadata=missing("path", "root"), authorization_servers=[OWN])),
    ("AUTH-02", locked(resource_metadata=[*missing("header"), attempt(by="root", document=document())])),
    ("AUTH-04", locked(resource=document(resource="https://notes.example/mcp/"))),
    ("AUTH-04", locked(resource=document(resource="https://notes.example/"))),
    ("AUTH-07", locked(authorization_servers=[OWN])),
    ("AUTH-13", locked(bogus=(403, "forbidden"))),
]
BREACHES: Final[list[tuple[str, Scope]]] = [
    ("HTTP-03", conversation(OPENED, legacy("initialize-origin", result={}))),
    ("HTTP-03", conversation(OLDER, legacy("initialize-origin", revision="C", result={}))),
    ("HTTP-04", conversation(legacy("version-unknown", error={"code": -32600}))),
    ("HTTP-06", conversation(legacy("initialized", status=204, form="none"))),
    ("HTTP-11", conversation(legacy("batch", revision="B", status=202, form="none"))),
    ("SESS-03", conversation(legacy("session-missing", session=SESSION, result={}))),
    ("SESSL-01", conversation(modern("discover-session-faked", status=400))),
    ("LIFE-03", countered(result={"protocolVersion": "1900-01-01"}, revision="1900-01-01")),
    ("LIFE-03", countered(error={"code": -32000}, opened=False)),
    ("META-01", conversation(modern("discover-meta-missing", result={}), OPENED)),
    ("META-02", conversation(modern("discover-capabilities-missing", status=400, error={"code": -32600}), OPENED)),
    ("META-01", conversation(modern("discover-meta-missing", status=400, error={"code": -32600}))),
    ("META-02", conversation(modern("discover-capabilities-missing", status=400, error={"code": -32020}))),
    ("HDR-01", conversation(modern("discover-version-mismatch", status=400, error={"code": -32602}))),
    ("HDR-02", conversation(modern("discover-method-mismatch", status=400, error={"code": -32022}))),
    ("TOOL-13", conversation(legacy("call-nonexistent", result={"content": []}))),
    (
        "SCHEMA-01",
        conversation(legacy("initialize-unknown", result={"protocolVersion": "2025-11-25", "capabilities": {}})),
    ),
    ("AUTH-02", locked(resource_metadata=missing("path", "root"))),
    ("AUTH-04", locked(resource=document(resource="https://notes.example/mcp/other"))),
    ("AUTH-07", locked(authorization_servers=[OWN], revision="2025-11-25", step="list-tools")),
    ("AUTH-13", locked(bogus=(200, "accepted"))),
]


@pytest.mark.parametrize(("check", "thing"), REMARKS)
def test_what_practice_lives_with_is_remarked_on(check: str, thing: Scope) -> None:
    assert breaches(check, thing) == [False]


@pytest.mark.parametrize(("check", "thing"), BREACHES)
def test_what_nobody_can_live_with_is_a_breach(check: str, thing: Scope) -> None:
    assert breaches(check, thing) == [True]


def test_a_session_that_the_server_does_not_let_go_was_not_ended() -> None:
    refused = legacy("end", session=SESSION, verb="DELETE", status=405)
    ended = legacy("end", session=SESSION, verb="DELETE", status=204)
    after = legacy("after-end", session=SESSION, result={})
    assert verdict("SESS-04", refused, after) is Verdict.NOT_APPLICABLE
    assert verdict("SESS-04", ended, after) is Verdict.FAIL


def test_a_late_answer_over_stdio_is_held_against_nothing() -> None:
    late = [stdio(step, result={}) for step in ("initialize", "initialized", "malformed")]
    assert verdict("JSON-05", *late) is Verdict.PASS
    assert verdict("JSON-03", *late) is Verdict.INCONCLUSIVE


def verdict(check: str, *said: dict[str, Any]) -> Verdict:
    results = conformance.results(assess(talked(*said), [SDK_TIER_1]))
    return next(one.verdict for one in results if one.check.requirement.id == check)
