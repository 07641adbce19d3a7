"""Which deviations break a requirement, and which are only remarked on: the line that decides about a failed MUST."""

from __future__ import annotations

from typing import Any, Final

import pytest

from scoring.engine.assess import ask_rule, assess_dossier
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange, stdio_exchange
from scoring.example_builders.server_access import (
    build_challenge,
    build_issuer_metadata,
    build_protected_access,
    build_resource_metadata,
    failed_requests,
    issuer_requests,
    metadata_request,
)
from scoring.protocol import conformance
from scoring.protocol.conformance import ConformanceCheck, Verdict
from scoring.rubrics.sdk_tier import SDK_TIER_1
from scoring.scopes.base import Scope
from scoring.scopes.conversation import Conversation
from tests.scoring.dossiers import talked

CHECKS: Final[dict[str, ConformanceCheck]] = {check.requirement.id: check for check in conformance.list_checks()}
SESSION: Final = {"length": 36, "visible": True, "same_as": None}
OPENED: Final = legacy_exchange("initialize", result={})
OLDER: Final = legacy_exchange("initialize", revision="C", result={})
OWN: Final = issuer_requests(
    metadata_request(by="rfc8414", document=build_issuer_metadata(code_challenge_methods_supported=None)),
    issuer="https://notes.example",
    layout="legacy",
)


def breaches(check: str, thing: Scope) -> list[bool]:
    """One element a finding: True when it breaks the requirement, False when it is a remark."""
    found = ask_rule(CHECKS[check].rule, thing, "", **dict(CHECKS[check].requirement.params))
    return [not finding.tolerated for finding in found]


def countered(**members: Any) -> Conversation:
    return build_conversation(
        OPENED, legacy_exchange("initialize-unknown", offered="1900-01-01", **{"revision": "", **members})
    )


REMARKS: Final[list[tuple[str, Scope]]] = [
    ("HTTP-03", build_conversation(OPENED, legacy_exchange("initialize-origin", status=400, opened=False))),
    ("HTTP-03", build_conversation(modern_exchange("discover-origin", error={"code": -32600}))),
    ("HTTP-04", build_conversation(legacy_exchange("version-unknown", status=404))),
    ("HTTP-06", build_conversation(legacy_exchange("initialized", status=202, received=[{"text": "Accepted"}]))),
    ("HTTP-11", build_conversation(legacy_exchange("batch", revision="B", status=400, error={"code": -32600}))),
    ("SESS-03", build_conversation(legacy_exchange("session-missing", session=SESSION, status=404))),
    ("SESSL-01", build_conversation(modern_exchange("discover-session-faked", status=400), OPENED)),
    ("LIFE-03", countered(error={"code": -32602}, opened=False)),
    (
        "META-01",
        build_conversation(modern_exchange("discover-meta-missing", status=400, error={"code": -32600}), OPENED),
    ),
    ("META-01", build_conversation(modern_exchange("discover-meta-missing", status=400, error={"code": -32020}))),
    ("HDR-01", build_conversation(modern_exchange("discover-version-mismatch", status=400, error={"code": -32022}))),
    ("PAGE-01", build_conversation(legacy_exchange("cursor-invented", result={"tools": []}))),
    ("TOOL-13", build_conversation(legacy_exchange("call-nonexistent", result={"content": [], "isError": True}))),
    ("AUTH-01", build_protected_access(status=403)),
    ("AUTH-01", build_protected_access(status=200, step="list-tools")),
    (
        "AUTH-02",
        build_protected_access(
            build_challenge("apikey"), reason="credentials_required", resource_metadata=failed_requests("path", "root")
        ),
    ),
    ("AUTH-02", build_protected_access(resource_metadata=failed_requests("path", "root"), authorization_servers=[OWN])),
    (
        "AUTH-02",
        build_protected_access(
            resource_metadata=[
                *failed_requests("header"),
                metadata_request(by="root", document=build_resource_metadata()),
            ]
        ),
    ),
    ("AUTH-04", build_protected_access(resource=build_resource_metadata(resource="https://notes.example/mcp/"))),
    ("AUTH-04", build_protected_access(resource=build_resource_metadata(resource="https://notes.example/"))),
    ("AUTH-07", build_protected_access(authorization_servers=[OWN])),
    ("AUTH-13", build_protected_access(bogus=(403, "forbidden"))),
]
BREACHES: Final[list[tuple[str, Scope]]] = [
    ("HTTP-03", build_conversation(OPENED, legacy_exchange("initialize-origin", result={}))),
    ("HTTP-03", build_conversation(OLDER, legacy_exchange("initialize-origin", revision="C", result={}))),
    ("HTTP-04", build_conversation(legacy_exchange("version-unknown", error={"code": -32600}))),
    ("HTTP-06", build_conversation(legacy_exchange("initialized", status=204, form="none"))),
    ("HTTP-11", build_conversation(legacy_exchange("batch", revision="B", status=202, form="none"))),
    ("SESS-03", build_conversation(legacy_exchange("session-missing", session=SESSION, result={}))),
    ("SESSL-01", build_conversation(modern_exchange("discover-session-faked", status=400))),
    ("LIFE-03", countered(error={"code": -32000}, opened=False)),
    ("META-01", build_conversation(modern_exchange("discover-meta-missing", result={}), OPENED)),
    (
        "META-02",
        build_conversation(
            modern_exchange("discover-capabilities-missing", status=400, error={"code": -32600}), OPENED
        ),
    ),
    ("META-01", build_conversation(modern_exchange("discover-meta-missing", status=400, error={"code": -32600}))),
    (
        "META-02",
        build_conversation(modern_exchange("discover-capabilities-missing", status=400, error={"code": -32020})),
    ),
    ("HDR-01", build_conversation(modern_exchange("discover-version-mismatch", status=400, error={"code": -32602}))),
    ("HDR-02", build_conversation(modern_exchange("discover-method-mismatch", status=400, error={"code": -32022}))),
    ("TOOL-13", build_conversation(legacy_exchange("call-nonexistent", result={"content": []}))),
    (
        "SCHEMA-01",
        build_conversation(
            legacy_exchange("initialize-unknown", result={"protocolVersion": "2025-11-25", "capabilities": {}})
        ),
    ),
    ("LIFE-03", countered(result={"protocolVersion": "1900-01-01"}, revision="1900-01-01")),
    ("LIFE-03", countered(result={"protocolVersion": "2025-01-01"}, revision="2025-01-01")),
    (
        "AUTH-02",
        build_protected_access(
            build_challenge(resource_metadata="https://notes.example/elsewhere"),
            resource_metadata=failed_requests("header"),
        ),
    ),
    ("AUTH-04", build_protected_access(resource=build_resource_metadata(resource="https://notes.example/mcp/other"))),
    ("AUTH-07", build_protected_access(authorization_servers=[OWN], revision="2025-11-25", step="list-tools")),
    ("AUTH-13", build_protected_access(resource=build_resource_metadata(), bogus=(200, "accepted"))),
]


@pytest.mark.parametrize(("check", "thing"), REMARKS)
def test_what_practice_lives_with_is_remarked_on(check: str, thing: Scope) -> None:
    assert breaches(check, thing) == [False]


@pytest.mark.parametrize(("check", "thing"), BREACHES)
def test_an_intolerable_deviation_is_a_breach(check: str, thing: Scope) -> None:
    assert breaches(check, thing) == [True]


def test_a_session_that_the_server_does_not_let_go_was_not_ended() -> None:
    refused = legacy_exchange("end", session=SESSION, verb="DELETE", status=405)
    ended = legacy_exchange("end", session=SESSION, verb="DELETE", status=204)
    after = legacy_exchange("after-end", session=SESSION, result={})
    assert verdict("SESS-04", refused, after) is Verdict.NOT_APPLICABLE
    assert verdict("SESS-04", ended, after) is Verdict.FAIL


def test_a_late_answer_over_stdio_is_held_against_nothing() -> None:
    late = [stdio_exchange(step, result={}) for step in ("initialize", "initialized", "malformed")]
    assert verdict("JSON-05", *late) is Verdict.PASS
    assert verdict("JSON-03", *late) is Verdict.INCONCLUSIVE


def verdict(check: str, *said: dict[str, Any]) -> Verdict:
    results = conformance.evaluate_checks(assess_dossier(talked(*said), [SDK_TIER_1]))
    return next(one.verdict for one in results if one.check.requirement.id == check)
