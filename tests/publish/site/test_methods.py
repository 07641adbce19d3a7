"""Every methodology and every rule has a page, written from what it declares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from httpx2 import Response
from markupsafe import escape
from starlette.testclient import TestClient

from scoring.engine import catalogue
from scoring.rule_snippets import make_snippet
from scoring.subjects import describe_subject
from tests.publish.conftest import made_stores
from tests.publish.site.conftest import opened_sites
from tests.publish.site.listing_stores import parse, read


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[TestClient]:
    with made_stores(tmp_path_factory.mktemp("store"), sqlite_template) as make, opened_sites() as open_site:
        yield open_site(make([]))


def test_every_version_of_every_methodology_has_a_page_with_its_rules(site: TestClient) -> None:
    index = read(site, "/methods")
    for rubric in catalogue.list_rubrics():
        assert f"/methods/{rubric.name}" in index.links
        page = read(site, f"/methods/{rubric.name}")
        assert {f"/rules/{criterion.rule}" for criterion in rubric.criteria} <= set(page.links)
        assert all(sentence.replace("`", "") in page.text for sentence in rubric.settled)
        assert all(name in page.text for _, name in rubric.bands)


def test_a_later_version_says_what_changed(site: TestClient) -> None:
    assert "changed: " in read(site, "/methods/tool_design@2").text
    assert "This is an earlier version" in read(site, "/methods/tool_design@2").text
    assert "This is an earlier version" not in read(site, "/methods/tool_design@3").text


def test_caps_are_on_the_page_of_their_methodology_with_what_lifts_them(site: TestClient) -> None:
    page = read(site, "/methods/adaptive@2").text
    rubric = catalogue.get_rubric("adaptive@2")
    assert rubric.method
    for cap in rubric.method.caps:
        assert cap.cites in page
        assert cap.lifted_by in page
    assert "Caps" not in read(site, "/methods/adaptive@1").text


def test_a_methodology_without_its_version_leads_to_the_newest(site: TestClient) -> None:
    answer = site.get("/methods/lint")
    assert (answer.status_code, answer.headers["location"]) == (307, "/methods/lint@2")


@pytest.fixture(scope="module")
def rule_pages(site: TestClient) -> Mapping[str, Response]:
    """The page of each rule."""
    return {rule.id: site.get(f"/rules/{rule.id}") for rule in catalogue.list_rules()}


def test_every_rule_has_a_page_with_its_price_and_examples(
    site: TestClient, rule_pages: Mapping[str, Response]
) -> None:
    index = read(site, "/rules")
    for rule in catalogue.list_rules():
        assert f"/rules/{rule.id}" in index.links
        page = parse(rule_pages[rule.id])
        assert rule.title in page.text
        cited = {rubric.name for rubric in catalogue.list_rubrics() for one in rubric.criteria if one.rule == rule.id}
        assert {f"/methods/{name}" for name in cited} <= set(page.links)


def test_the_page_of_a_rule_names_what_it_judges_in_words(rule_pages: Mapping[str, Response]) -> None:
    for rule in catalogue.list_rules():
        (judged,) = re.findall(r"<dt>Applies to</dt><dd>each (.+?)</dd>", rule_pages[rule.id].text)
        assert judged == describe_subject(rule)
        assert rule.scope.__name__ not in judged


def test_the_page_of_a_rule_shows_what_to_edit_before_and_after(rule_pages: Mapping[str, Response]) -> None:
    for rule in catalogue.list_rules():
        page = rule_pages[rule.id].text
        snippet = make_snippet(rule)
        assert ("<figcaption>After: " in page) == (snippet is not None)
        assert ("<figcaption>Before: " in page) == (snippet is not None and snippet.before is not None)
        for text in filter(None, (snippet.before, snippet.after) if snippet else ()):
            assert f">{escape(text)}</pre>" in page


def test_a_published_id_leads_to_its_rule_or_lists_them(site: TestClient) -> None:
    assert site.get("/rules/tool-no-description").headers["location"] == "/rules/tool-description-missing"
    cited: dict[str, set[str]] = {}
    for rubric in catalogue.list_rubrics():
        for criterion in rubric.criteria:
            cited.setdefault(criterion.cites.casefold(), set()).add(f"/rules/{criterion.rule}")
    name, rules = next((name, rules) for name, rules in cited.items() if len(rules) > 1)
    assert rules <= set(read(site, f"/rules/{name}").links)


@pytest.mark.parametrize("path", ["/methods/nope", "/methods/lint@99", "/rules/nope", "/rules/%E2%80%AE"])
def test_what_does_not_exist_is_not_found(site: TestClient, path: str) -> None:
    read(site, path, 404)
