"""Two whole nights of an installation with every source on, by the command itself and settings alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evidence.kinds import advisories, alerts, dependencies, handouts, package, repository, secrets, source
from evidence.model import Reason
from tests.functional.further.mixed_world import ABANDONED, KEPT, NPM_FILE, OURS, PYPI_FILE, Town, town
from tests.functional.further.nights import Home, Night, everything
from tests.functional.further.projects import PLANTED

pytestmark = pytest.mark.xdist_group("functional-further")

KINDS = (package, repository, alerts, source, dependencies, secrets, advisories)
HTTP_404 = "HTTP 404: GitHub does not know the repository"
MEASURED = {
    "security.dependencies",
    "security.secrets",
    "setup.readme",
    "setup.guides",
    "documentation.descriptions",
    "maintenance.activity",
    "maintenance.releases",
    "maintenance.responsiveness",
    "maintenance.community",
}


@dataclass
class Nights:
    """Two nights in which nothing changed, what the second one asked, and what was written afterwards."""

    town: Town
    home: Home
    first: Night
    second: Night
    asked: list[tuple[str, str, int]]
    downloads: list[str]
    tags: list[str]
    export: str
    report: Path


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nights]:
    folder = tmp_path_factory.mktemp("further")
    with town(folder) as around:
        home = Home(folder / "home", around)
        home.hallmark("advisories", "refresh", "--json")
        first = home.night()
        sent, asked, packages = around.downloads(), len(around.github.world.asked), len(around.index.asked)
        assert len(sent) == 4, [(one.path, one.status) for one in around.github.world.asked] + home.said
        second = home.night("--report", str(folder / "report"))
        yield Nights(
            town=around,
            home=home,
            first=first,
            second=second,
            asked=[(one.method, one.path, one.status) for one in around.github.world.asked[asked:]],
            downloads=around.downloads()[len(sent) :],
            tags=[one.etag for one in around.index.asked[packages:]],
            export=home.hallmark("export"),
            report=folder / "report",
        )


def test_every_kind_of_a_well_kept_project_is_recorded(nights: Nights) -> None:
    night = nights.first
    seen = night.body("kept", repository.KIND)
    assert (seen["name"], seen["archived"], seen["bus_factor"], seen["licence"]) == (KEPT, False, 1, "MIT")
    assert seen["issues"]["median_response_s"] == 2 * 3600
    assert seen["releases"]["count"] == 2
    read = night.body("kept", source.KIND)
    assert (read["origin"], read["name"], read["complete"]) == ("github", KEPT, True)
    assert read["lockfiles"] == [{"path": "package-lock.json", "format": "package-lock", "packages": 1, "error": None}]
    assert [tool["name"] for tool in read["tools"]] == ["get_note"]
    assert read["readme"]["snippet"] and read["readme"]["install"]
    needs = night.body("kept", dependencies.KIND)
    assert [(one["name"], one["version"], one["relation"]) for one in needs["dependencies"]] == [
        ("steady", "2.0.0", "direct")
    ]
    assert night.body("kept", secrets.KIND)["findings"] == []
    assert night.body("kept", advisories.KIND)["groups"] == []
    assert night.absence("kept", package.KIND).reason is Reason.NO_PACKAGE
    assert night.absence("kept", alerts.KIND).reason is Reason.FORBIDDEN


def test_what_is_wrong_with_an_abandoned_project_is_recorded(nights: Nights) -> None:
    night = nights.first
    assert night.body("left", repository.KIND)["archived"] is True
    groups = night.body("left", advisories.KIND)["groups"]
    assert [(one["package"], one["severity"], one["fixed"]) for one in groups] == [
        ("steady", "critical", "1.5.0"),
        ("shaky", "medium", "0.2.0"),
    ]
    (found,) = night.body("left", secrets.KIND)["findings"]
    assert (found["path"], found["line"], found["confidence"], found["counts"]) == (
        "src/index.ts",
        5,
        "specific",
        True,
    )
    assert PLANTED not in json.dumps(found)


@pytest.mark.parametrize(("server", "origin", "name"), [("npm", "npm", "@example/notes"), ("python", "PyPI", "noted")])
def test_a_package_without_a_repository_is_read_from_its_archive(
    nights: Nights, server: str, origin: str, name: str
) -> None:
    night = nights.first
    seen = night.body(server, package.KIND)
    assert (seen["ecosystem"], seen["name"], seen["exists"], seen["version_exists"]) == (origin, name, True, True)
    read = night.body(server, source.KIND)
    assert (read["origin"], read["name"], read["ref"]) == (origin, name, seen["version"])
    assert night.body(server, dependencies.KIND)["lockfile"] is True
    assert night.body(server, secrets.KIND)["findings"] == []
    assert night.body(server, advisories.KIND)["groups"] == []
    assert night.absence(server, "listing").reason is Reason.NO_SANDBOX


@pytest.mark.parametrize(
    ("server", "kind", "reason", "said"),
    [
        ("bare", repository.KIND, Reason.NO_REPOSITORY, "no repository is declared"),
        ("bare", source.KIND, Reason.NO_REPOSITORY, "no repository is declared"),
        ("bare", dependencies.KIND, Reason.NO_PACKAGE, "neither a lockfile nor a package"),
        ("bare", advisories.KIND, Reason.NO_PACKAGE, "neither dependencies nor a published version"),
        ("gone", repository.KIND, Reason.NO_REPOSITORY, HTTP_404),
        ("gone", source.KIND, Reason.NO_REPOSITORY, HTTP_404),
        ("gone", secrets.KIND, Reason.NO_REPOSITORY, HTTP_404),
        ("python", repository.KIND, Reason.NO_REPOSITORY, "the repository is on GitLab"),
    ],
)
def test_what_is_not_there_is_recorded_with_its_reason(
    nights: Nights, server: str, kind: str, reason: Reason, said: str
) -> None:
    absence = nights.first.absence(server, kind)
    assert absence.reason is reason
    assert said in absence.detail


def test_every_server_has_a_record_of_every_kind_and_none_is_a_bug_of_ours(nights: Nights) -> None:
    for night in (nights.first, nights.second):
        for dossier in night.dossiers.values():
            assert {one.KIND for one in KINDS} <= dossier.records.keys()
        assert Reason.COLLECTOR_ERROR not in night.reasons()
        assert night.kinds_absent_for(Reason.NOT_COLLECTED) <= {handouts.KIND}  # a core probe takes none


def test_the_components_that_rest_on_a_project_are_measured_where_there_is_one(nights: Nights) -> None:
    for server in ("kept", "left"):
        assert nights.first.measured(server) >= MEASURED
    assert nights.first.measured("bare") & MEASURED == {"documentation.descriptions"}
    # That a repository went away is not measured as zero, but shown as what it is.
    assert nights.first.measured("gone") & MEASURED == {"documentation.descriptions"}


def test_the_scores_differ_as_the_projects_do(nights: Nights) -> None:
    night = nights.first
    parts = {server: night.components(server) for server in ("kept", "left")}
    for name in MEASURED - {"documentation.descriptions"}:
        assert parts["kept"][name] > parts["left"][name], name
    assert parts["kept"]["security.dependencies"] == parts["kept"]["security.secrets"] == 10
    shared = parts["kept"].keys() & parts["left"].keys() - MEASURED
    assert {name for name in shared if name.startswith(("reliability", "compatibility"))}
    for name in shared:
        if name.startswith(("reliability", "compatibility")):
            assert parts["kept"][name] == parts["left"][name], name
    assert night.score("kept") > night.score("left")
    assert night.coverage("kept") > night.coverage("bare")


def test_the_second_night_asks_whether_anything_changed_and_downloads_nothing(nights: Nights) -> None:
    assert nights.downloads == []
    repositories = {
        (path, status) for _, path, status in nights.asked if path in {f"/repos/{KEPT}", f"/repos/{ABANDONED}"}
    }
    assert repositories == {(f"/repos/{KEPT}", 304), (f"/repos/{ABANDONED}", 304)}
    others = [path for _, path, status in nights.asked if status != 304 and path != "/user/repos"]
    assert sorted(others) == ["/repos/example/gone", "/repos/example/servers"]
    assert nights.tags and all(nights.tags)


def test_the_second_night_scores_the_same(nights: Nights) -> None:
    assert nights.second.cards == nights.first.cards
    for server, dossier in nights.second.dossiers.items():
        for one in KINDS:
            assert dossier.read(one.KIND) == nights.first.dossiers[server].read(one.KIND), (server, one.KIND)


def test_nothing_keeps_or_shows_the_planted_key_or_our_own_token(nights: Nights) -> None:
    seen = dict(everything(nights.home, nights.report))
    assert any(b"get_note" in content for content in seen.values())
    assert any(name.startswith("evidence_blob") and b"[secret]" in content for name, content in seen.items())
    for secret in (PLANTED, OURS):
        assert [name for name, content in seen.items() if secret.encode() in content] == []


def test_the_export_and_the_report_tell_nothing_that_is_private(nights: Nights) -> None:
    hash_ = nights.first.body("left", secrets.KIND)["findings"][0]["hash"]
    found = [path for path in nights.report.rglob("*.html") if path.parent.name != "methods"]  # these name every rule
    pages = {str(path): path.read_text() for path in found} | {"export": nights.export}
    assert any("GHSA-1111-1111-1111" in text for text in pages.values())
    for private in (hash_, "github-token", "source-holds-secret", nights.town.index.url, NPM_FILE, PYPI_FILE):
        assert [name for name, text in pages.items() if private in text] == [], private


def test_the_report_has_a_page_for_every_server(nights: Nights) -> None:
    pages = "".join(path.read_text() for path in nights.report.rglob("*.html"))
    for name in ("kept", "left", "gone", "bare", "npm", "python"):
        assert f"io.example/{name}" in pages


def test_rescoring_sends_no_request_and_gives_the_same_scores(nights: Nights) -> None:
    around = nights.town
    before = len(around.github.world.asked), len(around.index.asked), len(around.osv.requests)
    nights.home.hallmark("rescore", "--json")
    assert (len(around.github.world.asked), len(around.index.asked), len(around.osv.requests)) == before
    rescored = nights.home.newest()
    assert rescored.run != nights.second.run
    assert rescored.cards == nights.second.cards
