"""How a locked server is judged: from the record to the verdict, under the revision that it shows."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.canonical import canonical_json
from evidence.kinds import access as kind
from evidence.model import Absent, Dossier, Observed, Reason, Record
from scoring.engine.assess import ask_rule, assess_dossier
from scoring.engine.rule import discover_rules
from scoring.example_builders.server_access import (
    HEADER_URL,
    build_challenge,
    build_issuer_metadata,
    build_open_access,
    build_protected_access,
    build_resource_metadata,
    failed_requests,
    issuer_requests,
    metadata_request,
)
from scoring.protocol import conformance
from scoring.protocol.conformance import Verdict
from scoring.results.outcome import Inapplicable
from scoring.rubrics.enterprise import ENTERPRISE_1, POINTS
from scoring.rubrics.sdk_tier import SDK_TIER_1
from scoring.scopes.server_access import Access
from tests.dossiers import AS_OF
from tests.scoring.dossiers import GOOD_ENTRY, GOOD_TOOL, dossier, entered, listed

RULES = discover_rules("scoring.rules.authorization")
FIFTEEN = {f"AUTH-{number:02}" for number in range(15)}


def seen(access: Access | Absent, evidence: Dossier | None = None) -> Dossier:
    """A dossier with what was seen at the door."""
    known = evidence or dossier(listed=listed(GOOD_TOOL), registered=entered(GOOD_ENTRY))
    content = access if isinstance(access, Absent) else Observed(canonical_json(access.seen.body))
    record = Record(
        server=known.server.id,
        kind=kind.KIND,
        schema=kind.SCHEMA,
        collector="test",
        collector_version=1,
        observed_at=AS_OF,
        content=content,
    )
    return replace(known, records={**known.records, kind.KIND: record})


def verdicts(access: Access | Absent) -> dict[str, Verdict]:
    results = conformance.evaluate_checks(assess_dossier(seen(access), [SDK_TIER_1]))
    return {one.check.requirement.id: one.verdict for one in results if one.check.prefix == "AUTH"}


def test_the_table_has_fifteen_checks() -> None:
    assert {check.id for rule in RULES.values() for check in rule.checks} == FIFTEEN
    assert all(check.revisions == "".join(sorted(check.revisions)) for rule in RULES.values() for check in rule.checks)


def test_every_check_of_the_specification_links_to_its_page() -> None:
    for rule in RULES.values():
        for check in rule.checks:
            assert check.link.startswith(
                "https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization"
            ) or (check.id == "AUTH-00" and not check.link)


def test_an_open_server_is_asked_for_nothing() -> None:
    found = verdicts(build_open_access())
    assert found.pop("AUTH-00") is Verdict.PASS
    assert found.pop("AUTH-14") is Verdict.PASS
    assert set(found.values()) == {Verdict.NOT_APPLICABLE}


def test_a_locked_server_without_a_flaw_passes() -> None:
    found = verdicts(
        build_protected_access(
            build_challenge(resource_metadata=HEADER_URL, scope="notes:read"),
            resource=build_resource_metadata(),
            issuer=build_issuer_metadata(),
            revision="2026-07-28",
            step="list-tools",
        )
    )
    assert found.pop("AUTH-00") is Verdict.WARN
    assert set(found.values()) == {Verdict.PASS}


def test_a_server_without_http_is_asked_for_nothing() -> None:
    found = verdicts(Absent(Reason.TRANSPORT_UNSUPPORTED, "access is a question of HTTP"))
    assert set(found.values()) == {Verdict.NOT_APPLICABLE}


def test_a_server_that_was_not_reached_is_inconclusive() -> None:
    assert set(verdicts(Absent(Reason.TIMEOUT, "")).values()) == {Verdict.INCONCLUSIVE}


@pytest.mark.parametrize(
    ("revision", "judged"),
    [
        ("2024-11-05", set()),
        ("2025-03-26", {"AUTH-00", "AUTH-01", "AUTH-08", "AUTH-13", "AUTH-14"}),
        ("2025-06-18", {f"AUTH-{number:02}" for number in (0, 1, 2, 3, 4, 5, 7, 8, 13, 14)}),
        ("2025-11-25", FIFTEEN - {"AUTH-11", "AUTH-12"}),
        ("2026-07-28", FIFTEEN),
    ],
)
def test_a_check_is_made_under_its_revisions_only(revision: str, judged: set[str]) -> None:
    access = build_protected_access(
        build_challenge(scope="read"),
        resource=build_resource_metadata(),
        issuer=build_issuer_metadata(),
        revision=revision,
        step="list-tools",
    )
    found = verdicts(access)
    assert {check for check, verdict in found.items() if verdict is not Verdict.NOT_APPLICABLE} == judged


@pytest.mark.parametrize(
    ("versions", "letter"),
    [
        ({}, "D"),
        ({"legacy": "2024-11-05"}, "A"),
        ({"legacy": "2025-11-25", "modern": "2026-07-28"}, "E"),
        ({"legacy": "1999-01-01"}, "D"),
        ({"legacy": "2026-07-28"}, "D"),
        ({"legacy": None}, "D"),
    ],
)
def test_the_newest_revision_counts(versions: dict[str, Any], letter: str) -> None:
    assert build_open_access(versions=versions).seen.revision == letter


def test_the_header_is_demanded_by_2025_06_18_only() -> None:
    def verdict(revision: str) -> Verdict:
        access = build_protected_access(resource=build_resource_metadata(), revision=revision, step="list-tools")
        return verdicts(access)["AUTH-02"]

    assert [verdict(one) for one in ("2025-06-18", "2025-11-25", "2026-07-28")] == [
        Verdict.FAIL,
        Verdict.PASS,
        Verdict.PASS,
    ]


def test_one_authorization_server_that_is_unclear_does_not_hide_another_without_metadata() -> None:
    broken = issuer_requests(*failed_requests("rfc8414", "openid"), issuer="https://gone.example")
    unclear = issuer_requests(metadata_request(503, by="rfc8414"))
    access = build_protected_access(resource=build_resource_metadata(), authorization_servers=[unclear, broken])
    [finding] = ask_rule(RULES["issuer-metadata-not-found"], access)
    assert "gone.example" in finding.message


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
@pytest.mark.parametrize(
    "junk", [None, 7, "x", [], [None, 7], {"x": 1}, [{}], [{"attempts": 7, "parameters": []}]], ids=str
)
def test_a_document_of_any_shape_is_judged_without_an_error(rule: Any, junk: Any) -> None:
    shapes = dict.fromkeys((*build_resource_metadata(), *build_issuer_metadata(), "scopes_supported", "jwks_uri"), junk)
    access = build_protected_access(
        resource=shapes, issuer=shapes, versions={"modern": "2026-07-28"}, cut=junk, answers=junk, bogus=None
    )
    try:
        ask_rule(rule, access)
    except Inapplicable:
        return


def charge(access: Access | Absent, entry: dict[str, Any] | None = None) -> tuple[set[str], Decimal]:
    evidence = dossier(listed=listed(GOOD_TOOL), registered=entered(entry) if entry else None)
    card = ENTERPRISE_1.score(assess_dossier(seen(access, evidence), [ENTERPRISE_1]))
    assert isinstance(card.floor, Decimal | None)
    hidden = card.score - card.floor if isinstance(card.score, Decimal) and card.floor is not None else Decimal(-1)
    return {line.cites for line in card.lines if line.points}, hidden


def test_an_open_server_without_oauth_takes_a2() -> None:
    found, hidden = charge(build_open_access(resource_metadata=failed_requests("path", "root")), GOOD_ENTRY)
    assert ("A2" in found, hidden) == (True, 0)


@pytest.mark.parametrize(
    "access",
    [
        build_protected_access(),
        build_open_access(resource_metadata=[metadata_request(document=build_resource_metadata())]),
    ],
    ids=["demanded", "published"],
)
def test_a_server_with_oauth_takes_no_a2(access: Access) -> None:
    found, hidden = charge(access, GOOD_ENTRY)
    assert ("A2" in found, hidden) == (False, 0)


def test_a_server_that_demands_oauth_and_was_opened_with_credentials_takes_no_a3() -> None:
    assert "A3" in charge(build_open_access(resource_metadata=failed_requests("path")), GOOD_ENTRY)[0]
    assert "A3" not in charge(build_protected_access(), GOOD_ENTRY)[0]


def test_an_unclear_look_leaves_a2_open_in_the_floor() -> None:
    found, hidden = charge(build_open_access(resource_metadata=[metadata_request(503)]), {**GOOD_ENTRY, "packages": []})
    assert ("A2" in found, hidden) == (False, POINTS["A2"])
