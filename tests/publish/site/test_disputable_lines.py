"""Every line that costs points for a named fault has a link to the form of its dispute, on every page that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from evidence.model import Dossier
from evidence.store import Store
from publish.community.disputable_lines import find_charging_lines, is_disputable
from publish.views.server_summary import receipt_lines
from tests.dossiers import captures
from tests.publish import samples
from tests.publish.site.conftest import SiteOf
from tests.publish.site.listing_stores import judged, night, put

MakeStore = Callable[..., Store]
LINK = re.compile(r'href="(/servers/[^"]*/disputes/new\?[^"]*)"')
NO_FAULT = {"rounding", "scale"}


def poor() -> Dossier:
    return captures()["blender-mcp"]


@pytest.fixture
def site(make_store: MakeStore, site_of: SiteOf) -> TestClient:
    store = make_store([], run=replace(samples.RUN, id="run_20260201T030000Z_0000"))
    return site_of(put(store, night(0), [poor()], judged(poor())))


def links(site: TestClient, tail: str) -> list[str]:
    answer = site.get(f"/servers/{poor().server.id}{tail}")
    assert answer.status_code == 200
    return [link.replace("&amp;", "&") for link in LINK.findall(answer.text)]


@pytest.mark.parametrize("rubric", ["adaptive", "enterprise", "lint"])
def test_every_line_of_a_receipt_that_costs_points_can_be_disputed(site: TestClient, rubric: str) -> None:
    card = max((one for one in judged(poor()) if one.rubric == rubric), key=lambda one: one.version)
    lost = [line for line in receipt_lines(card) if line.points < 0]
    assert {line.cites for line in lost if not is_disputable(line)} <= NO_FAULT
    found = links(site, f"/receipts/{rubric}@{card.version}")
    assert len(found) == sum(map(is_disputable, lost)) > 0
    for link in {*found[:3], *found[-3:]}:
        assert "Dispute this line" in site.get(link).text


def test_every_fix_has_a_place_that_can_be_disputed(site: TestClient) -> None:
    page = site.get(f"/servers/{poor().server.id}/fixes").text
    fixes = page.split('<section aria-labelledby="fix-')[1:]
    assert len(fixes) > 3
    assert [fix[:60] for fix in fixes if not LINK.search(fix)] == []
    for link in links(site, "/fixes")[::10]:
        assert "Dispute this line" in site.get(link).text


def test_the_fixes_of_the_first_view_can_be_disputed(site: TestClient) -> None:
    found = links(site, "")
    assert len(found) == 3
    for link in found:
        assert "Dispute this line" in site.get(link).text


def test_a_folded_finding_is_disputed_by_the_line_that_sums_up(site: TestClient) -> None:
    card = max((one for one in judged(poor()) if one.rubric == "adaptive"), key=lambda one: one.version)
    first = next(line for line in receipt_lines(card) if line.rule == "tool-hint-missing")
    folded = replace(first, rule=None, at="", why="14 more findings")
    charging = find_charging_lines(replace(card, lines=(*card.lines, folded)))
    assert charging["tool-hint-missing", first.at] == first
    assert charging["tool-hint-missing", ""] == folded
    assert ("param-description-missing", "") not in charging


@pytest.mark.parametrize("tail", ["", "/fixes", "/tools", "/evidence", "/history", "/receipts/lint@2", "/badges"])
def test_the_header_of_every_page_leads_to_what_can_be_done(site: TestClient, tail: str) -> None:
    here = f"/servers/{poor().server.id}"
    page = site.get(here + tail).text
    header = page[page.index('aria-label="Actions"') : page.index('aria-label="About this server"')]
    targets = (f"{here}/retests", f"{here}/disputes", f"{here}/badges", f"/compare?server={poor().server.id}")
    assert [target for target in targets if f'href="{target}"' not in header] == []


def test_badge_and_feeds_are_one_click_away(site: TestClient) -> None:
    here = f"/servers/{poor().server.id}"
    first = site.get(here).text
    assert f'href="{here}/badges#follow"' in first
    page = site.get(f"{here}/badges").text
    shown = page[: page.index("<details")]
    assert f"[![Hallmark score](https://hallmark.example/badges/{poor().server.id}/score.svg)]" in shown
    assert "&lt;img src=" in shown
    followed = page[page.index('id="follow"') :]
    for feed in ("atom", "json"):
        assert f'href="{here}/feed.{feed}"' in followed
        assert f'href="{here}/feed.{feed}"' in first[: first.index("</head>")]


def test_a_comparison_without_runs_leads_to_the_form_that_chooses_them(site: TestClient) -> None:
    here = f"/servers/{poor().server.id}"
    answer = site.get(f"{here}/compare")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{here}/history#two")
    assert "with this server so far" in site.get(f"{here}/history").text
