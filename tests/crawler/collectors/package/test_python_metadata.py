"""Python projects: the simple API alone, with JSON beside it, with METADATA files, in JSON or HTML."""

from __future__ import annotations

from typing import Any

import pytest

from evidence.model import Absent, Reason
from tests.crawler.collectors.package.local_indexes import Bench, absent, body, pypi
from tests.servers.indexes import Answer, PackageIndex, file, project_json
from tests.servers.indexes.documents import PYPI_PUBLISH, pep740

OLD, NEW = "2026-01-01T00:00:00.000001Z", "2026-06-01T00:00:00.000001Z"
FROM_METADATA = ("licence", "repository", "mcp_name", "has_readme", "maintainers")


def two_versions(index: PackageIndex) -> None:
    """The project `two` with 1.0 and 2.0, each as sdist and wheel."""
    index.add_project(
        "two",
        file("two-1.0.tar.gz", uploaded=OLD),
        file("two-1.0-py3-none-any.whl", uploaded=OLD),
        file("two-2.0.tar.gz", uploaded=NEW),
        file("two-2.0-py3-none-any.whl", uploaded=NEW),
    )


def test_a_project_is_recorded_with_all_that_its_index_says(index: PackageIndex, bench: Bench) -> None:
    two_versions(index)
    index.projects["two"] = project_json("two", "2.0")
    index.projects["two/1.0"] = project_json("two", "1.0", license_expression="Apache-2.0 OR MIT")
    assert body(bench.look(pypi("Two", "1.0"))) == {
        "ecosystem": "PyPI",
        "name": "two",
        "declared": "1.0",
        "exists": True,
        "version": "1.0",
        "version_exists": True,
        "latest": "2.0",
        "versions": 2,
        "first_published": OLD,
        "published": OLD,
        "latest_published": NEW,
        "deprecated": None,
        "yanked": None,
        "install_scripts": [],
        "provenance": {"attested": False, "repository": None, "predicates": []},
        "maintainers": ["ada", "grace"],
        "licence": "Apache-2.0 OR MIT",
        "repository": {"url": "https://github.com/example/servers", "directory": "src/two"},
        "mcp_name": "io.github.example/two",
        "has_readme": True,
        "requires": ">=3.10",
    }


def test_a_mirror_with_the_simple_api_only_leaves_the_rest_unknown(index: PackageIndex, bench: Bench) -> None:
    two_versions(index)
    found = body(bench.look(pypi()))
    assert (found["version"], found["versions"], found["requires"]) == ("2.0", 2, ">=3.10")
    assert [found[name] for name in FROM_METADATA] == [None] * len(FROM_METADATA)


def test_the_metadata_of_another_version_are_not_taken_for_this_one(index: PackageIndex, bench: Bench) -> None:
    two_versions(index)
    index.projects["two"] = project_json("two", "2.0")
    found = body(bench.look(pypi("two", "1.0")))
    assert (found["licence"], found["repository"], found["mcp_name"], found["has_readme"]) == (None, None, None, None)
    assert found["maintainers"] == ["ada", "grace"]  # of the project, not of a version


def test_what_is_said_of_another_project_is_not_taken_for_this_one(index: PackageIndex, bench: Bench) -> None:
    index.add_project("two", file("two-1.0.tar.gz"))
    index.projects["two"] = project_json("three", "1.0")
    assert body(bench.look(pypi()))["licence"] is None
    index.simple["two"]["name"] = "three"
    refused = Absent(Reason.UNREACHABLE, "the Python index gave a document that is not about the package")
    assert absent(bench.look(pypi())) == refused


def test_a_metadata_file_beside_a_wheel_says_it_too(index: PackageIndex, bench: Bench) -> None:
    wheel: dict[str, Any] = {"core-metadata": {"sha256": "0" * 64}}
    index.add_project("two", file("two-1.0-py3-none-any.whl", **wheel))
    index.files["/files/two-1.0-py3-none-any.whl.metadata"] = (
        b"Metadata-Version: 2.4\nName: two\nVersion: 1.0\nLicense-Expression: MIT\n"
        b"Author-email: Ada <ada@example.org>, G <g@example.org>\n"
        b"Project-URL: Source Code, https://github.com/example/two\n\n# Two\n\nmcp-name: io.github.example/two\n"
    )
    found = body(bench.look(pypi()))
    assert found["licence"] == "MIT"
    assert found["repository"] == {"url": "https://github.com/example/two", "directory": None}
    assert found["mcp_name"] == "io.github.example/two"
    assert found["maintainers"] == ["Ada", "G"]
    assert found["has_readme"] is True


@pytest.mark.parametrize("api", ["1.3", "1.0"])
def test_html_says_as_much_as_it_has(index: PackageIndex, bench: Bench, api: str) -> None:
    index.as_html, index.api = True, api
    index.add_project(
        "two", file("two-1.0.tar.gz", yanked="broken &amp; slow"), file("two-2.0-py3-none-any.whl", provenance=None)
    )
    found = body(bench.look(pypi("two", "1.0")))
    assert (found["version"], found["latest"], found["yanked"]) == ("1.0", "2.0", "broken & slow")
    assert (found["requires"], found["published"], found["install_scripts"]) == (">=3.10", None, ["build"])
    assert (found["provenance"] is None) is (api == "1.0")


@pytest.mark.parametrize(
    ("declared", "version"),
    [
        (None, "2.0"),
        ("2", "2.0"),
        ("1.0.0", "1.0"),
        ("latest", "2.0"),
        ("1.5", None),
        (">=1.0", None),
        ("9" * 5000, None),
    ],
)
def test_the_version_is_the_declared_one(
    index: PackageIndex, bench: Bench, declared: str | None, version: str | None
) -> None:
    two_versions(index)
    found = body(bench.look(pypi("two", declared)))
    assert (found["version"], found["version_exists"]) == (version, version is not None)


def test_the_latest_version_is_the_one_that_an_installer_takes(index: PackageIndex, bench: Bench) -> None:
    index.add_project(
        "two",
        file("two-1.0.tar.gz"),
        file("two-1.10.tar.gz"),
        file("two-1.9.tar.gz"),
        file("two-2.0.tar.gz", yanked=True),
        file("two-3.0rc1.tar.gz"),
    )
    assert body(bench.look(pypi()))["latest"] == "1.10"


def test_a_version_is_yanked_when_all_its_files_are(index: PackageIndex, bench: Bench) -> None:
    index.add_project(
        "two",
        file("two-1.0.tar.gz", yanked=True),
        file("two-1.0-py3-none-any.whl", yanked="leaks files"),
        file("two-2.0.tar.gz", yanked=True),
        file("two-2.0-py3-none-any.whl"),
        file("two-3.0.tar.gz", yanked=True),
    )
    said = [body(bench.look(pypi("two", version)))["yanked"] for version in ("1.0", "2.0", "3.0")]
    assert said == ["leaks files", None, ""]


@pytest.mark.parametrize(
    ("status", "notice"),
    [
        ({"status": "archived", "reason": "moved to three"}, "archived: moved to three"),
        ({"status": "deprecated"}, "deprecated"),
        ({"status": "quarantined"}, "quarantined"),
        ({"status": "active"}, None),
        ({"status": ["archived"]}, None),
        ("archived", None),
    ],
)
def test_the_status_of_a_project_is_its_deprecation(
    index: PackageIndex, bench: Bench, status: Any, notice: str | None
) -> None:
    index.add_project("two", file("two-1.0.tar.gz"), **{"project-status": status})
    assert body(bench.look(pypi()))["deprecated"] == notice


def test_attestations_say_where_it_was_built(index: PackageIndex, bench: Bench) -> None:
    index.add_project("two", file("two-1.0.tar.gz", provenance=f"{index.url}/integrity/two"))
    index.files["/integrity/two"] = Answer.of(pep740("Example/Two")).body
    assert body(bench.look(pypi()))["provenance"] == {
        "attested": True,
        "repository": "https://github.com/example/two",
        "predicates": [PYPI_PUBLISH],
    }


def test_provenance_is_unknown_where_the_index_speaks_an_older_api(index: PackageIndex, bench: Bench) -> None:
    index.api = "1.2"
    two_versions(index)
    assert body(bench.look(pypi()))["provenance"] is None


def test_a_project_without_files_exists_and_has_no_version(index: PackageIndex, bench: Bench) -> None:
    index.add_project("two")
    found = body(bench.look(pypi()))
    assert (found["exists"], found["version"], found["latest"], found["versions"]) == (True, None, None, 0)
    assert (found["version_exists"], found["install_scripts"], found["provenance"]) == (False, None, None)


def test_a_name_that_no_index_knows_is_observed(bench: Bench) -> None:
    bench.python = ("/other/simple", "/simple")
    assert body(bench.look(pypi("nobody")))["exists"] is False
    assert bench.index.paths == ["/other/simple/nobody/", "/simple/nobody/"]


def test_the_first_index_that_knows_a_project_answers(index: PackageIndex, bench: Bench) -> None:
    two_versions(index)
    own = Answer.of(
        {"name": "two", "meta": {}, "files": [file("two-7.0.tar.gz")]}, "application/vnd.pypi.simple.v1+json"
    )
    index.script("/own/simple/two/", own)
    bench.python = ("/own/simple", "/simple")
    assert body(bench.look(pypi()))["version"] == "7.0"
    assert "/simple/two/" not in index.paths


def test_an_index_that_fails_is_not_passed_over_for_the_next(index: PackageIndex, bench: Bench) -> None:
    two_versions(index)
    index.script("/own/simple/two/", Answer(403))
    bench.python = ("/own/simple", "/simple")
    assert absent(bench.look(pypi())) == Absent(Reason.FORBIDDEN, "the Python index answered HTTP 403")


def test_files_of_other_projects_and_unknown_kinds_are_no_versions(index: PackageIndex, bench: Bench) -> None:
    index.add_project(
        "two",
        file("two-1.0.tar.gz"),
        file("three-9.0.tar.gz"),
        file("two-8.0.exe"),
        file("two-garbage.tar.gz"),
        file("two-7.0-py3-none-any.whl", url="ftp://example.org/x.whl"),
        file("two-6.0.tar.gz", url="https://u:p@example.org/two-6.0.tar.gz"),
    )
    assert body(bench.look(pypi()))["versions"] == 1


@pytest.mark.parametrize(
    ("info", "licence"),
    [
        ({"license": "MIT", "classifiers": []}, "MIT"),
        ({"license": "Permission is hereby granted,\nfree of charge"}, "MIT"),
        ({"license": "x" * 500}, "MIT"),
        ({"classifiers": ["License :: OSI Approved :: Apache Software License"]}, "Apache-2.0"),
        ({"classifiers": ["License :: OSI Approved", "License :: OSI Approved :: BSD License"]}, "BSD License"),
        ({"classifiers": ["License :: OSI Approved"]}, None),
        ({"classifiers": "License"}, None),
        ({"license_expression": "MIT AND BSD-3-Clause", "license": "other"}, "MIT AND BSD-3-Clause"),
    ],
)
def test_the_licence_is_the_expression_or_a_short_name(
    index: PackageIndex, bench: Bench, info: dict[str, Any], licence: str | None
) -> None:
    index.add_project("two", file("two-1.0.tar.gz"))
    index.projects["two"] = project_json("two", "1.0", **info)
    assert body(bench.look(pypi()))["licence"] == licence


@pytest.mark.parametrize(
    ("urls", "home", "url"),
    [
        ({"Source Code": "https://github.com/a/b"}, None, "https://github.com/a/b"),
        ({"source_code": "https://git.example.org/a/b"}, None, "https://git.example.org/a/b"),
        ({"Documentation": "https://docs.example.org"}, "https://github.com/a/b", "https://github.com/a/b"),
        (
            {"Homepage": "https://github.com/a/b#readme", "Issues": "https://github.com/a/c/issues"},
            None,
            "https://github.com/a/b",
        ),
        ({"Homepage": "https://example.org"}, None, None),
        ({"Repository": 7, "Source": ["x"]}, 8, None),
    ],
)
def test_the_repository_is_the_link_that_is_called_so(
    index: PackageIndex, bench: Bench, urls: dict[str, Any], home: Any, url: str | None
) -> None:
    index.add_project("two", file("two-1.0.tar.gz"))
    index.projects["two"] = project_json("two", "1.0", project_urls=urls, home_page=home)
    found = body(bench.look(pypi()))["repository"]
    assert found == ({"url": url, "directory": None} if url else None)
