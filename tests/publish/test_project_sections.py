"""What a server's page says of the package, the repository, the source, the dependencies and published advisories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from evidence.kinds import advisories, repository
from evidence.model import Absent, Dossier, Observed, Reason
from evidence.store import Store
from publish.disclosure import PublicRecords, disclose_dossier
from publish.views.evidence.advisories import ADVISORY_PAGES, view_advisories
from publish.views.evidence.project import view_dependencies, view_package, view_repository, view_source
from tests.publish import projects, samples
from tests.publish.test_server_sections import page_of, words

Make = Callable[..., Store]
SECTIONS = {"package", "repository", "source", "dependencies", "advisories"}
VIEWS = {
    "package": view_package,
    "repository": view_repository,
    "source": view_source,
    "dependencies": view_dependencies,
}


def server(word: str = "ordinary") -> Dossier:
    return projects.with_project(samples.dossiers(1)[0], word)


def facts(kind: str, dossier: Dossier) -> dict[str, str]:
    part = VIEWS[kind](dossier)
    assert part is not None
    return dict(part.facts)


def without(dossier: Dossier, kind: str, content: Absent | Observed) -> Dossier:
    record = replace(dossier.records[kind], content=content)
    return replace(dossier, records={**dossier.records, kind: record})


def test_a_page_has_a_section_for_every_public_kind(make_store: Make, tmp_path: Path) -> None:
    page = page_of(make_store, tmp_path / "r", server())
    assert set(page.ids) >= SECTIONS
    assert any(link.rpartition("/")[2] == "project.html" for link in page.links)


def test_a_page_says_nothing_of_kinds_that_were_not_collected(make_store: Make, tmp_path: Path) -> None:
    page = page_of(make_store, tmp_path / "r", samples.dossiers(1)[0])
    assert not set(page.ids) & SECTIONS


def test_a_kind_that_could_not_be_had_says_why(make_store: Make, tmp_path: Path) -> None:
    dossier = server()
    for kind in SECTIONS:
        dossier = without(dossier, kind, Absent(Reason.RATE_LIMITED, f"no {kind} today"))
    page = page_of(make_store, tmp_path / "r", dossier)
    assert set(page.ids) >= SECTIONS
    assert [kind for kind in SECTIONS if f"Not known: no {kind} today." not in words(page)] == []


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"groups": 3, "dependencies": {}, "tools": [1], "readme": [], "owner": 7}']
)
def test_a_body_of_any_shape_gives_a_page(make_store: Make, tmp_path: Path, body: bytes) -> None:
    dossier = server()
    for kind in SECTIONS:
        dossier = without(dossier, kind, Observed(body))
    page_of(make_store, tmp_path / "r", dossier)


def test_hostile_words_stay_words(make_store: Make, tmp_path: Path) -> None:
    page = page_of(make_store, tmp_path / "r", server(samples.HOSTILE))
    assert samples.SCRIPT in page.text
    assert "\u202e" not in page.text


def test_a_page_shows_the_facts_of_a_repository() -> None:
    rows = facts("repository", server())
    assert rows["State"] == "archived"
    assert rows["Last commit by a person"] == "2026-02-20; 321 commits in the last year"
    assert rows["Contributors"] == "at least 100, 7 of them in the last year; 1 made half of the commits"
    assert rows["Issues"] == "14 of 20 from outside were answered, median answer after 2 hours, closed after 3 days"
    assert rows["Pull requests"] == "none from outside in the last year"
    assert rows["Owner"] == "ordinary (organisation) (verified by the host)"
    assert (rows["Has"], rows["Has not"]) == (
        "README, CI, security policy, guide for contributors",
        "changelog, code of conduct",
    )


def test_what_is_not_known_is_left_out() -> None:
    body = b'{"host": "github", "name": "a/b"}'
    assert facts("repository", without(server(), repository.KIND, Observed(body))) == {"Repository": "a/b on github"}


def test_a_package_that_the_index_does_not_know_says_only_that() -> None:
    gone = without(server(), "package", Observed(b'{"ecosystem": "npm", "name": "x", "exists": false}'))
    assert list(facts("package", gone)) == ["Package", "State"]


def test_tools_in_code_are_compared_with_those_that_are_listed() -> None:
    rows = facts("source", server())
    assert (rows["Tools in code"], rows["Of these listed"]) == ("2", "0 of 2")
    assert rows["Only in code"] == "hidden_tool, ordinary"
    unlisted = without(server(), "listing", Absent(Reason.TIMEOUT))
    assert "Only in code" not in facts("source", unlisted)


def test_dependencies_are_counted() -> None:
    rows = facts("dependencies", server())
    assert rows["Packages"] == "2: 1 direct, 1 transitive"
    assert (rows["Versions not known"], rows["For development only"], rows["Complete"]) == ("1", "1", "no")


def test_advisories_have_a_link_a_version_and_a_fix() -> None:
    seen = view_advisories(server("<word>"))
    assert seen is not None
    first, second = seen.found
    assert (first.url, first.severity, first.tone, first.fixed) == (
        f"{ADVISORY_PAGES}/CVE-2026-1234",
        "critical 9.8",
        "bad",
        "1.0.1",
    )
    assert first.relation == "direct dev"
    assert second.url == ""
    assert seen.more == 203
    assert [one.id for one in seen.own] == ["GHSA-1111-2222-3333"]


def test_advisories_of_the_repository_are_shown_even_without_a_comparison() -> None:
    seen = view_advisories(without(server(), advisories.KIND, Absent(Reason.NOT_COLLECTED)))
    assert seen is not None
    assert (len(seen.found), len(seen.own)) == (0, 1)


def test_a_visit_does_not_tell_what_else_was_asked_nor_where() -> None:
    shown = disclose_dossier(server())
    assert isinstance(shown, PublicRecords)
    assert shown.records["package"].observation == {"downloads": 3}
    assert shown.records[repository.KIND].observation == {"looked_at": "2026-03-01T02:00:00Z"}
