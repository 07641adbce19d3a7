"""Documents that are not what they should be: always a record, never a crash, and never much time or memory."""

from __future__ import annotations

import asyncio
import copy
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from crawler.collectors.package import Archive, PackageLimits
from evidence.canonical import canonical_digest
from evidence.kinds.package import Package
from evidence.model import Absent, Observed, Reason, Record, Server, Target
from tests.crawler.collectors.package.local_indexes import Bench, absent, body, dossier, npm, pypi
from tests.servers.indexes import Answer, PackageIndex, file, packument, project_json, slsa_answer
from tests.servers.indexes.documents import attested, pep740

JUNK: tuple[Any, ...] = (
    None, True, -1, 1e308, "", "\ud800\x00\x1b[31m\u2028", "x" * 5000, [], [[{}]], {}, {"name": {"url": ["\udfff"]}},
    ["a", 7, None], "2026-99-99T99:99:99Z", "http://[::1", "999999-01-01T00:00:00Z",
)  # fmt: skip


EACH = pytest.mark.parametrize("each", [2, pytest.param(len(JUNK), marks=pytest.mark.soak)])


def broken(document: Any, each: int) -> Iterator[Any]:
    """The document with each member in turn replaced by so many kinds of junk, by others for the next member."""
    for n, path in enumerate(_paths(document)):
        for junk in range(n * each, (n + 1) * each):
            yield _with(document, path, JUNK[junk % len(JUNK)])


def _paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    steps = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*at, step)
        yield from _paths(inner, (*at, step))


def _with(document: Any, path: tuple[Any, ...], junk: Any) -> Any:
    copied = copy.deepcopy(document)
    holder = copied
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = junk
    return copied


def records(bench: Bench, targets: list[Target]) -> list[Record]:
    """One record per target, all by one collector; a crash of any fails the test."""

    async def all_of_them() -> list[Record]:
        collector = bench.collector()
        servers = [Server(ref=f"test:{n}", name=f"{n}", targets=(target,)) for n, target in enumerate(targets)]
        found = await asyncio.gather(*(collector.collect(server, dossier(server)) for server in servers))
        for target in targets:
            assert isinstance(await collector.archive(target), Archive | Absent)
        return [record for one in found for record in one]

    return asyncio.run(all_of_them())


def assert_sound(found: list[Record]) -> None:
    """Every record has a canonical body that the view reads, or a stable absence."""
    for record in found:
        json.dumps(dict(record.observation))
        if isinstance(record.content, Observed):
            assert canonical_digest(record.content.body)
            package = Package.parse(record.content.body)
            assert len(record.content.body) < 20_000
            assert package.version_exists is (package.version is not None)
        else:
            assert record.content.reason in {Reason.UNREACHABLE, Reason.NO_PACKAGE}


@EACH
def test_any_member_of_a_packument_may_be_anything(index: PackageIndex, bench: Bench, each: int) -> None:
    whole = packument("x") | {"versions": {"1.0.0": attested("x", "1.0.0")}}
    cases = list(broken(whole, each))
    for n, case in enumerate(cases):
        index.script(f"/npm/p{n}", Answer.of({**case, "name": f"p{n}"}))
    found = records(bench, [npm(f"p{n}") for n in range(len(cases))])
    assert len(found) > 40 * each
    assert_sound(found)


@EACH
def test_any_member_of_an_attestation_may_be_anything(index: PackageIndex, bench: Bench, each: int) -> None:
    cases = list(broken(slsa_answer("https://github.com/a/b"), each))
    for n, case in enumerate(cases):
        index.npm[f"p{n}"] = packument(f"p{n}") | {"versions": {"1.0.0": attested(f"p{n}", "1.0.0")}}
        index.script(f"/npm/-/npm/v1/attestations/p{n}@1.0.0", Answer.of(case))
    found = records(bench, [npm(f"p{n}") for n in range(len(cases))])
    assert_sound(found)
    assert all(body(record)["provenance"]["attested"] for record in found)


@EACH
def test_any_member_of_a_project_may_be_anything(index: PackageIndex, bench: Bench, each: int) -> None:
    simple = {
        "meta": {"api-version": "1.3"},
        "project-status": {"status": "archived"},
        "files": [file("x-1.0.tar.gz", provenance="/p/x"), file("x-2.0-py3-none-any.whl", yanked="why")],
    }
    pages, projects = list(broken(simple, each)), list(broken(project_json("x", "1.0"), each))
    for n, page in enumerate(pages):
        index.script(f"/simple/x{n}/", Answer.of({**page, "name": f"x{n}"}, "application/vnd.pypi.simple.v1+json"))
    for n, project in enumerate(projects):
        index.add_project(f"y{n}", file(f"y{n}-1.0.tar.gz"))
        index.projects[f"y{n}"] = project
    targets = [pypi(f"x{n}") for n in range(len(pages))] + [pypi(f"y{n}") for n in range(len(projects))]
    assert_sound(records(bench, targets))


@EACH
def test_any_member_of_a_pep_740_object_may_be_anything(index: PackageIndex, bench: Bench, each: int) -> None:
    cases = list(broken(pep740("a/b"), each))
    for n, case in enumerate(cases):
        index.add_project(f"x{n}", file(f"x{n}-1.0.tar.gz", provenance=f"/p/{n}"))
        index.files[f"/p/{n}"] = json.dumps(case).encode()
    assert_sound(records(bench, [pypi(f"x{n}") for n in range(len(cases))]))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>sign in</html>",
        b"[]",
        b"null",
        b'"one"',
        b"{" * 10_000,
        b'{"name":"one","versions":' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"name":"two","versions":{}}',
        b'{"name":"one"}',
        b'{"name":"one","versions":[]}',
        b"\xff\xfe\x00",
        b'{"name":"one","versions":{"1.0.0":{"x":1e999}},"n":NaN}',
    ],
)
def test_what_is_no_packument_is_no_evidence_about_the_package(
    index: PackageIndex, bench: Bench, answer: bytes
) -> None:
    index.script("/npm/one", Answer(200, answer))
    assert absent(bench.look(npm())).reason is Reason.UNREACHABLE


@pytest.mark.parametrize("media", ["text/html", "", "application/octet-stream", "image/png; charset=\x80"])
@pytest.mark.parametrize("page", [b"<a href='http://[x'>&#xFFFFFFFF;</a><a href>", b"Sign in", b"", b"\x00" * 1000])
def test_html_that_is_no_page_of_a_project_is_no_evidence_about_it(
    index: PackageIndex, bench: Bench, media: str, page: bytes
) -> None:
    index.script("/simple/two/", Answer(200, page, {"Content-Type": media}))
    assert absent(bench.look(pypi())).reason is Reason.UNREACHABLE


def test_a_document_larger_than_the_cap_is_not_read(index: PackageIndex, bench: Bench) -> None:
    index.script("/simple/two/", Answer(200, b'{"files":[' + b" " * 300_000 + b"]}"))
    bench.limits = PackageLimits(document=200_000)
    assert absent(bench.look(pypi())) == Absent(Reason.TOO_LARGE, "the Python index gave a document that is too large")


def test_a_large_packument_takes_little_time(index: PackageIndex, bench: Bench) -> None:
    versions = {f"1.0.{n}": {"name": "one", "version": f"1.0.{n}", "x": "y" * 800} for n in range(12_000)}
    index.script("/npm/one", Answer.of({"name": "one", "versions": versions, "dist-tags": {"latest": "1.0.11999"}}))
    began = time.process_time()
    assert body(bench.look(npm()))["versions"] == 12_000
    assert time.process_time() - began < 6.0


@pytest.mark.parametrize("tag", ["<", "<a ", "<?x>", "&amp;<", "<a href=x>", "<a x>" + " x" * 20])
def test_a_page_of_countless_tags_is_too_large(index: PackageIndex, bench: Bench, tag: str) -> None:
    index.script("/simple/two/", Answer(200, tag.encode() * 300_000, {"Content-Type": "text/html"}))
    assert absent(bench.look(pypi())) == Absent(Reason.TOO_LARGE, "the Python index gave a document that is too large")


@pytest.mark.parametrize(
    "description", ["mcp-name: " * 100_000, "mcp-name:" + " " * 500_000, "mcp-name: " + "a" * 900_000, "<" * 900_000]
)
def test_a_hostile_description_takes_little_time(index: PackageIndex, bench: Bench, description: str) -> None:
    index.add_project("two", file("two-1.0.tar.gz"))
    index.projects["two"] = project_json("two", "1.0", description=description, author=description)
    began = time.process_time()
    assert body(bench.look(pypi()))["mcp_name"] is None
    assert time.process_time() - began < 6.0
