"""What our own scans found is on no page of a server until it is disclosed, and then it is on all of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from msgspec.structs import replace

from evidence.model import Dossier
from evidence.store import Disclosure, FindingState, Store
from publish.community.disputes import DisputeFiler, DisputeText, FiledDispute, file_dispute
from publish.community.limits import CommunityLimits
from publish.disclosure import private_rule_ids
from publish.findings.identity import find_private_findings
from tests.publish import samples
from tests.publish.findings.test_identity import INJECTION, server
from tests.publish.projects import with_project
from tests.publish.site.conftest import SiteOf
from tests.publish.site.listing_stores import judged, night, put, read
from tests.publish.site.plain_backend import NOW

MakeStore = Callable[..., Store]
MARKER = "zzmarkerzz"
RULE = "text-injects-instructions"
FIRST, SECOND = night(0), night(1)
OTHER = samples.dossiers(1)[0]
PARTS = ("", "/tools", "/observations", "/transcript", "/project", "/evidence", "/history", "/changes",
         "/badges")  # fmt: skip
RUBRICS = ("adaptive", "enterprise", "lint", "sdk_tier", "tool_design")
RECEIPTS = ("adaptive@1", "enterprise@1", "lint@2", "sdk_tier@1", "tool_design@2")


def poisoned() -> Dossier:
    return with_project(server(INJECTION, "Gets it"), private=MARKER)


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    store = make_store([], run=replace(samples.RUN, id="run_20260201T030000Z_0000"))
    put(store, FIRST, [(plain := server("Gets it"))], judged(plain))
    found = poisoned()
    cards = judged(found)
    store.put_findings(find_private_findings(found, cards), SECOND.as_of)
    return put(store, SECOND, [found, OTHER], [*cards, *judged(OTHER)])


def paths(here: str) -> list[str]:
    fixes = [f"/fixes?rubric={rubric}" for rubric in RUBRICS]
    between = f"/compare?from={FIRST.id}&to={SECOND.id}"
    return [here + part for part in (*PARTS, *fixes, *(f"/receipts/{name}" for name in RECEIPTS), between)]


def test_no_page_tells_what_is_not_disclosed(store: Store, site_of: SiteOf) -> None:
    found = poisoned()
    private_rules = {one.rule for one in find_private_findings(found, judged(found))} & private_rule_ids()
    assert RULE in private_rules
    site, here = site_of(store), f"/servers/{found.server.id}"
    for path in [*paths(here), f"/compare?server={found.server.id}&server={OTHER.server.id}"]:
        text = site.get(path).text
        assert MARKER not in text, path
        assert not [rule for rule in private_rules if re.search(rf"\b{rule}\b", text)], path
    assert "withheld" in read(site, f"{here}/receipts/adaptive@1").text


def test_a_disclosed_finding_is_shown_with_its_line_and_its_fix(store: Store, site_of: SiteOf) -> None:
    found = poisoned()
    ids = {one.id for one in find_private_findings(found, judged(found)) if one.rule == RULE}
    at = SECOND.as_of + timedelta(hours=1)
    for finding in ids:
        store.transition_finding(
            finding,
            Disclosure(at=at, who="ana", before=FindingState.PRIVATE_TRIAGE, after=FindingState.PUBLIC_DISCLOSED),
        )
    site, here = site_of(store), f"/servers/{found.server.id}"
    first = read(site, here)
    assert "Disclosed findings" in first.text
    assert next(iter(ids)) in first.text
    assert f"/rules/{RULE}" in read(site, f"{here}/receipts/adaptive@1").links
    assert f"/rules/{RULE}" in read(site, f"{here}/fixes").links


def test_a_dispute_stands_beside_its_line_and_every_fault_can_be_disputed(store: Store, site_of: SiteOf) -> None:
    found = poisoned()
    line = next(
        line
        for card in judged(found)
        if (card.rubric, card.version) == ("lint", 2)
        for line in card.lines
        if line.rule and line.points < 0
    )
    words = DisputeText(
        server=found.server.id, rubric="lint", cites=line.cites, at=line.at, reason="It is not so. " * 5
    )
    filed = file_dispute(store, CommunityLimits(), NOW, words, DisputeFiler(client="anyone:x"))
    assert isinstance(filed, FiledDispute)
    site, here = site_of(store), f"/servers/{found.server.id}"
    assert "1 disputed line" in read(site, here).text
    page = read(site, f"{here}/receipts/lint@2")
    assert f"{here}/disputes#{filed.dispute.id}" in page.links
    assert page.text.count("Disputed") == 1
    forms = [href for href in read(site, f"{here}/receipts/lint@2").links if "/disputes/new?" in href]
    assert forms
    for form in forms:
        assert site.get(form).status_code == 200, form
