"""npm packages: what the packument says, and what it does not say stays unknown."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.collectors.package import PackageLimits
from evidence.kinds.package import Package
from evidence.model import Absent, Observed, Reason, Target, TargetType
from tests.crawler.collectors.package.local_indexes import Bench, absent, body, npm, pypi
from tests.servers.indexes import PackageIndex, packument, slsa_answer, statement
from tests.servers.indexes.documents import PUBLISH, SLSA, attested


def test_a_package_is_recorded_with_all_that_its_packument_says(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one", "1.0.0", "1.1.0", "2.0.0")
    assert body(bench.look(npm("one", "1.1.0"))) == {
        "ecosystem": "npm",
        "name": "one",
        "declared": "1.1.0",
        "exists": True,
        "version": "1.1.0",
        "version_exists": True,
        "latest": "2.0.0",
        "versions": 3,
        "first_published": "2026-01-03T10:00:00.000Z",
        "published": "2026-02-03T10:00:00.000Z",
        "latest_published": "2026-03-03T10:00:00.000Z",
        "deprecated": None,
        "yanked": None,
        "install_scripts": [],
        "provenance": {"attested": False, "repository": None, "predicates": []},
        "maintainers": ["ada", "grace"],
        "licence": "MIT",
        "repository": {"url": "https://github.com/example/servers", "directory": "src/one"},
        "mcp_name": "io.github.example/one",
        "has_readme": True,
        "requires": ">=20",
    }


def test_no_mail_address_is_kept(index: PackageIndex, bench: Bench) -> None:
    people = [
        {"name": "ada@example.org"},
        {"name": "Grace <g@example.org>"},
        {"email": "x@example.org"},
        "Joan <j@x.org>",
    ]
    index.npm["one"] = packument("one", deprecated="write to ada@example.org") | {"maintainers": people}
    record = bench.look(npm())
    assert body(record)["maintainers"] == ["Grace", "Joan"]
    assert body(record)["deprecated"] == "write to"
    assert b"@" not in record.content.body  # type: ignore[union-attr]


def test_a_scoped_name_is_asked_for_as_npm_does(index: PackageIndex, bench: Bench) -> None:
    index.npm["@example/one"] = packument("@example/one")
    assert body(bench.look(npm("@example/one")))["version"] == "1.0.0"
    assert index.paths == ["/npm/@example/one"]


@pytest.mark.parametrize(
    ("declared", "version"),
    [
        (None, "2.0.0"),
        ("", "2.0.0"),
        ("latest", "2.0.0"),
        ("1.0.0", "1.0.0"),
        ("v1.0.0", "1.0.0"),
        ("1.0.0+build.7", "1.0.0"),
        ("beta", "1.0.0"),
        ("1.0.1", None),
        ("^1.0.0", None),
        ("constructor", None),
    ],
)
def test_the_version_is_the_declared_one(
    index: PackageIndex, bench: Bench, declared: str | None, version: str | None
) -> None:
    index.npm["one"] = packument("one", "1.0.0", "2.0.0")
    index.npm["one"]["dist-tags"]["beta"] = "1.0.0"
    found = body(bench.look(npm("one", declared)))
    assert (found["version"], found["version_exists"]) == (version, version is not None)


def test_nothing_of_a_version_is_known_when_it_is_missing(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one", "1.0.0", "2.0.0")
    found = body(bench.look(npm("one", "9.9.9")))
    assert found["exists"] is True
    assert found["latest"] == "2.0.0"
    assert found["latest_published"] == "2026-02-03T10:00:00.000Z"
    unknown = ("published", "deprecated", "install_scripts", "provenance", "licence", "repository", "mcp_name")
    assert [found[name] for name in unknown] == [None] * len(unknown)


def test_a_name_that_the_index_does_not_know_is_observed(index: PackageIndex, bench: Bench) -> None:
    found = bench.look(npm("nobody"))
    assert body(found)["exists"] is False
    assert body(found)["version_exists"] is False
    assert {
        value for name, value in body(found).items() if name not in {"ecosystem", "name", "exists", "version_exists"}
    } == {None}


def test_an_unpublished_package_does_not_exist(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = {
        "_id": "one",
        "name": "one",
        "time": {
            "created": "2026-01-01T00:00:00.000Z",
            "unpublished": {"time": "2026-02-01T00:00:00.000Z", "versions": ["1.0.0"]},
        },
    }
    assert body(bench.look(npm()))["exists"] is False


@pytest.mark.parametrize(
    ("members", "scripts"),
    [
        ({"scripts": {"postinstall": "node x.js", "preinstall": "true"}}, ["preinstall", "postinstall"]),
        ({"scripts": {"install": "node-gyp rebuild"}, "gypfile": True}, ["install"]),
        ({"gypfile": True}, ["binding.gyp"]),
        ({"hasInstallScript": True}, ["binding.gyp"]),
        ({"scripts": {"prepare": "tsc", "prepublishOnly": "x", "postpack": "y"}}, []),
        ({"scripts": {"install": "  "}}, []),
        ({"scripts": ["install"]}, []),
    ],
)
def test_only_what_runs_at_an_installation_is_an_install_script(
    index: PackageIndex, bench: Bench, members: dict[str, Any], scripts: list[str]
) -> None:
    index.npm["one"] = packument("one", **members)
    assert body(bench.look(npm()))["install_scripts"] == scripts


@pytest.mark.parametrize(
    ("said", "notice"),
    [("use two instead", "use two instead"), ("", None), (False, None), (True, "deprecated"), ([], None)],
)
def test_a_deprecation_is_a_text(index: PackageIndex, bench: Bench, said: Any, notice: str | None) -> None:
    index.npm["one"] = packument("one", deprecated=said)
    assert body(bench.look(npm()))["deprecated"] == notice


def test_attestations_say_where_it_was_built(index: PackageIndex, bench: Bench) -> None:
    index.npm["@example/one"] = packument("@example/one")
    index.npm["@example/one"]["versions"]["1.0.0"] = attested("@example/one", "1.0.0")
    index.attestations["@example/one@1.0.0"] = slsa_answer("https://github.com/Example/Servers")
    assert body(bench.look(npm("@example/one")))["provenance"] == {
        "attested": True,
        "repository": "https://github.com/example/servers",
        "predicates": sorted([PUBLISH, SLSA]),
    }


def test_older_attestations_name_the_repository_elsewhere(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one") | {"versions": {"1.0.0": attested("one", "1.0.0")}}
    source = {"uri": "git+https://github.com/example/older@refs/tags/v1.0.0", "entryPoint": ".github/workflows/x.yml"}
    payload = statement("https://slsa.dev/provenance/v0.2", {"invocation": {"configSource": source}})
    index.attestations["one@1.0.0"] = {"attestations": [{"bundle": {"dsseEnvelope": {"payload": payload}}}]}
    assert body(bench.look(npm()))["provenance"]["repository"] == "https://github.com/example/older"


def test_the_attestations_are_asked_of_the_index_and_not_of_the_address_in_the_document(
    index: PackageIndex, bench: Bench
) -> None:
    index.npm["one"] = packument("one")
    table = attested("one", "1.0.0")
    table["dist"]["attestations"]["url"] = f"{index.url}/elsewhere"
    index.npm["one"]["versions"]["1.0.0"] = table
    found = body(bench.look(npm()))["provenance"]
    assert found == {"attested": True, "repository": None, "predicates": [SLSA]}
    assert "/elsewhere" not in index.paths


def test_a_mirror_that_cuts_down_dist_leaves_provenance_unknown(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    del index.npm["one"]["versions"]["1.0.0"]["dist"]["signatures"]
    assert body(bench.look(npm()))["provenance"] is None


def test_a_packument_without_members_of_the_registry_leaves_them_unknown(index: PackageIndex, bench: Bench) -> None:
    whole = packument("one")
    index.npm["one"] = {name: whole[name] for name in ("name", "versions", "dist-tags")}
    found = body(bench.look(npm()))
    assert [found[name] for name in ("maintainers", "has_readme", "published", "first_published")] == [None] * 4


def test_a_packument_that_is_too_large_is_replaced_by_its_short_form(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one", "1.0.0", "2.0.0", scripts={"postinstall": "node x.js"})
    index.npm["one"]["readme"] = "x" * 70_000
    bench.limits = PackageLimits(document=60_000)
    found = body(bench.look(npm()))
    assert index.paths == ["/npm/one", "/npm/one", "/npm/one/2.0.0"]
    assert (found["version"], found["versions"], found["licence"]) == ("2.0.0", 2, "MIT")
    assert found["install_scripts"] == ["postinstall"]
    assert found["published"] is None  # the short form has no dates
    assert found["has_readme"] is None


def test_a_package_whose_short_form_is_too_large_is_too_large(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one", *(f"1.0.{n}" for n in range(200)))
    bench.limits = PackageLimits(document=20_000)
    assert absent(bench.look(npm())) == Absent(Reason.TOO_LARGE, "the npm index gave a document that is too large")


def test_the_first_npm_or_pypi_target_counts(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    image = Target(type=TargetType.OCI, identifier="example/one:1")
    assert body(bench.look(image, npm(), pypi()))["name"] == "one"


def test_a_server_without_such_a_package_is_absent_and_says_what_it_declares(bench: Bench) -> None:
    image = Target(type=TargetType.OCI, identifier="example/one:1")
    book = Target(type=TargetType.NUGET, identifier="Example.One")
    remote = Target(type=TargetType.STREAMABLE_HTTP, identifier="https://example.org/mcp")
    assert absent(bench.look(image, remote, book)) == Absent(
        Reason.NO_PACKAGE, "the server declares only nuget, oci; npm and PyPI packages are looked up"
    )
    assert absent(bench.look(remote)).reason is Reason.NO_PACKAGE
    assert bench.index.asked == []


@pytest.mark.parametrize("name", ["../../secret", "a/b", "@a/b/c", "one two", "", "@x", "a?b=c", "é"])
def test_a_name_that_is_none_is_never_asked_for(bench: Bench, name: str) -> None:
    assert absent(bench.look(npm(name))) == Absent(Reason.NO_PACKAGE, "expected an npm package name")
    assert bench.index.asked == []


def test_downloads_are_asked_only_of_an_address_that_the_operator_configured(index: PackageIndex, bench: Bench) -> None:
    index.npm["@example/one"] = packument("@example/one")
    assert "downloads" not in bench.look(npm("@example/one")).observation
    index.files["/counts/@example/one"] = b'{"downloads": 4711, "package": "@example/one"}'
    bench.options = {"downloads": {"npm": f"{index.url}/counts/{{name}}"}}
    assert bench.look(npm("@example/one")).observation["downloads"] == 4711


def test_the_view_reads_what_the_collector_wrote(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")
    record = bench.look(npm())
    assert isinstance(record.content, Observed)
    package = Package.parse(record.content.body)
    assert (package.name, package.version, package.install_scripts) == ("one", "1.0.0", ())
    assert package.repository is not None
    assert package.repository.directory == "src/one"
    assert package.provenance is not None
    assert package.provenance.attested is False
