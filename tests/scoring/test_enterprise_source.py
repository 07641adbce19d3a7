"""`enterprise@1` where listing, registration and access are silent, and who publishes a server."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from evidence.model import Absent, Dossier, Reason
from scoring.engine.assess import assess_dossier
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.rubrics.enterprise import ENTERPRISE_1, IN_SOURCE, POINTS
from scoring.text import domains
from tests.scoring.dossiers import GOOD_ENTRY, GOOD_TOOL, dossier, entered, listed
from tests.scoring.rich import REPOSITORY, SOURCE, adding

UNDECLARED = {"name": "io.github.example/notes", "repository": {"url": "https://github.com/example/notes"}}
BARE: dict[str, Any] = {**SOURCE, "oauth": [], "environment": [], "transports": {"streamable-http": ["a.ts:1"]}}
HTTP_ENTRY = {**GOOD_ENTRY, "packages": []}


def card(evidence: Dossier) -> Scorecard:
    return ENTERPRISE_1.score(assess_dossier(evidence, [ENTERPRISE_1]))


def charged(found: Scorecard) -> set[str]:
    return {line.cites for line in found.lines if line.points}


def coded(entry: dict[str, Any] | None = UNDECLARED, **members: Any) -> Dossier:
    """A registration that says nothing of transports, and code."""
    known = dossier(registered=entered(entry)) if entry else dossier()
    return adding(known, {"source": {**BARE, **members}})


def published(name: str, *, remote: str = "", owner: dict[str, Any] | None = None, repository: str = "x/y") -> Dossier:
    entry = {"name": name, "remotes": [{"type": "streamable-http", "url": remote}] if remote else []}
    hosted = {**REPOSITORY, "name": repository, "owner": owner}
    known = dossier(listed=listed(GOOD_TOOL), registered=entered(entry))
    return adding(known, {"repository": hosted}) if owner else known


@pytest.mark.parametrize("entry", [UNDECLARED, None], ids=["silent", "no-registration"])
def test_code_decides_transport_and_credentials_where_nothing_is_declared(entry: dict[str, Any] | None) -> None:
    assert {"A1", "A2", "A3"} <= charged(card(coded(entry, transports={"stdio": ["a.py:1"]})))
    over_http = charged(card(coded(entry)))
    assert "A2" in over_http
    assert not {"A1", "A3"} & over_http
    keyed = [{"name": "NOTES_TOKEN", "at": "a.ts:3", "secret": True, "required": None}]
    assert {"A2", "A3"} <= charged(card(coded(entry, environment=keyed)))


def test_signs_of_oauth_in_code_spare_a2_and_a3() -> None:
    keyed = [{"name": "NOTES_TOKEN", "at": "a.ts:3", "secret": True, "required": None}]
    known = coded(oauth=[{"marker": "oauth-protected-resource", "at": "a.ts:9"}], environment=keyed)
    assert not {"A1", "A2", "A3"} & charged(card(known))


def test_what_is_declared_comes_before_the_code() -> None:
    declared = coded({**GOOD_ENTRY, "remotes": []})
    assert {"A1", "A2", "A3"} <= charged(card(declared))
    remote = coded(HTTP_ENTRY, transports={"stdio": ["a.ts:1"]}, oauth=SOURCE["oauth"])
    assert not {"A1", "A2", "A3"} & charged(card(remote))


@pytest.mark.parametrize("members", [{"transports": {}}, {"complete": False, "transports": {"stdio": ["a.ts:1"]}}])
def test_code_that_shows_no_transport_or_was_not_read_whole_decides_nothing(members: dict[str, Any]) -> None:
    found = card(coded(None, **members))
    assert "A1" not in charged(found)
    assert any(caveat.startswith("A1 could not be decided") for caveat in found.caveats)


def test_tools_of_the_source_give_a_score_where_nothing_could_be_listed() -> None:
    locked = dossier(listed=Absent(Reason.CREDENTIALS_REQUIRED), registered=entered(GOOD_ENTRY))
    assert isinstance(card(locked).score, NotMeasured)
    poor = {"name": "delete_note", "description": "x", "input": {"type": "object"}, "at": "a.ts:1", "by": "typescript"}
    found = card(adding(locked, {"source": {**SOURCE, "tools": [poor]}}))
    assert isinstance(found.score, Decimal)
    assert "L2" in charged(found)
    assert next(line for line in found.lines if line.cites == "L2").at == "source/tools/delete_note"
    assert "Nothing was listed; the tools were read from the source." in found.caveats


def test_a_source_in_which_no_tool_can_be_read_is_no_empty_listing() -> None:
    found = card(coded(tools=[]))
    assert found.score == NotMeasured(
        "not_collected", found.score.detail if isinstance(found.score, NotMeasured) else ""
    )


def test_every_check_but_m1_is_asked_of_the_source() -> None:
    assert {part.cites for part in IN_SOURCE} == set(POINTS) - {"M1"}


ORGANISATION = {"login": "acme", "type": "Organization", "verified": True, "website": "https://www.acme.com/about"}
PERSON = {"login": "someone", "type": "User", "verified": None, "website": None}


@pytest.mark.parametrize(
    "evidence",
    [
        published("com.acme/notes", remote="https://mcp.acme.com/mcp"),
        published("io.github.acme/notes", remote="https://mcp.acme.com/mcp", owner=ORGANISATION),
        published("io.github.acme/acme-notes", owner=ORGANISATION),
        published("com.acme/acme"),
        published("x", remote="https://a.someone.dev/mcp", owner={**PERSON, "website": "someone.dev"}),
        published("notes", remote="https://api.acme.io/mcp", owner={**ORGANISATION, "website": None}),
    ],
)
def test_a_publisher_that_is_the_service_is_its_vendor(evidence: Dossier) -> None:
    found = card(evidence)
    assert "M1" not in charged(found)
    assert not any(caveat.startswith("M1") for caveat in found.caveats)


@pytest.mark.parametrize(
    "evidence",
    [
        published("io.github.someone/slack", owner=PERSON, repository="someone/slack-mcp"),
        published("io.github.someone/acme", remote="https://acme.vercel.app/mcp", owner=PERSON),
        published("acme", remote="https://mcp.acme.com/mcp", owner=PERSON),
    ],
)
def test_a_person_whom_nothing_ties_to_the_service_is_a_volunteer(evidence: Dossier) -> None:
    found = card(evidence)
    assert sum(line.points for line in found.lines if line.cites == "M1") == -2
    assert found.dimensions[-1].result == 6


@pytest.mark.parametrize(
    "evidence",
    [
        published("io.github.acme/slack", owner=ORGANISATION),
        published("com.acme/slack", owner=PERSON),
        published("notes", remote="https://acme.vercel.app/mcp"),
    ],
)
def test_a_publisher_of_whom_too_little_is_known_costs_nothing(evidence: Dossier) -> None:
    found = card(evidence)
    assert "M1" not in charged(found)
    assert any(caveat.startswith("M1 could not be decided") for caveat in found.caveats)


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://mcp.acme.com:8443/x", "acme.com"),
        ("https://a.b.acme.co.uk/", "acme.co.uk"),
        ("acme.dev/about", "acme.dev"),
        ("https://acme.vercel.app/mcp", ""),
        ("https://10.0.0.1/mcp", ""),
        ("https://[::1]/mcp", ""),
        ("https://localhost/mcp", ""),
        ("https://{tenant}.acme.com/mcp", "acme.com"),
        ("", ""),
        (None, ""),
    ],
)
def test_the_domain_of_an_address_is_the_registered_domain(url: str | None, domain: str) -> None:
    assert domains.domain_of_url(url) == domain


@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("com.acme/notes", "acme.com"),
        ("uk.co.acme.mcp/notes", "acme.co.uk"),
        ("io.github.acme/notes", ""),
        ("@acme/notes", ""),
        ("acme", ""),
        ("ai.smithery/notes", ""),
    ],
)
def test_the_domain_of_a_name_is_the_one_that_registries_verify(name: str, domain: str) -> None:
    assert domains.domain_of_namespace(name) == domain
