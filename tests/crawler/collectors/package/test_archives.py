"""The archive from which the source of a package is read."""

from __future__ import annotations

import asyncio

import pytest

from crawler.collectors.package import Archive
from evidence.model import Absent, Dossier, Reason, Server, Target, TargetType
from tests.crawler.collectors.package.local_indexes import NOON, Bench, npm, pypi
from tests.servers.indexes import PackageIndex, file, packument


def test_an_npm_tarball_is_named_with_its_strongest_digest(index: PackageIndex, bench: Bench) -> None:
    index.npm["@example/one"] = packument("@example/one", "1.0.0", "2.0.0")
    found = bench.archive(npm("@example/one", "1.0.0"))
    assert isinstance(found, Archive)
    assert (found.ecosystem, found.name, found.version, found.kind) == ("npm", "@example/one", "1.0.0", "tgz")
    assert found.address == f"{index.url}/npm/@example/one/-/one-1.0.0.tgz"
    assert found.filename == "one-1.0.0.tgz"
    assert found.digest is not None
    assert (found.digest[0], len(found.digest[1])) == ("sha512", 128)


@pytest.mark.parametrize(
    ("integrity", "algorithm"),
    [("sha512-nonsense sha1-x", "sha1"), (None, "sha1"), (7, "sha1"), ("sha256-" + "A" * 43 + "=", "sha256")],
)
def test_a_digest_that_is_none_is_not_used(
    index: PackageIndex, bench: Bench, integrity: object, algorithm: str
) -> None:
    index.npm["one"] = packument("one")
    index.npm["one"]["versions"]["1.0.0"]["dist"]["integrity"] = integrity
    found = bench.archive(npm())
    assert isinstance(found, Archive)
    assert found.digest is not None
    assert found.digest[0] == algorithm


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        (("two-1.0-py3-none-any.whl", "two-1.0.tar.gz"), ("sdist", "two-1.0.tar.gz")),
        (("two-1.0.zip",), ("sdist", "two-1.0.zip")),
        (
            ("two-1.0-cp311-cp311-manylinux_2_17_x86_64.whl", "two-1.0-py3-none-any.whl"),
            ("wheel", "two-1.0-py3-none-any.whl"),
        ),
        (("two-1.0-cp311-cp311-win_amd64.whl",), ("wheel", "two-1.0-cp311-cp311-win_amd64.whl")),
    ],
)
def test_a_source_distribution_is_preferred_to_a_wheel(
    index: PackageIndex, bench: Bench, files: tuple[str, ...], chosen: tuple[str, str]
) -> None:
    index.add_project("two", *(file(name) for name in files))
    found = bench.archive(pypi())
    assert isinstance(found, Archive)
    assert (found.kind, found.filename) == chosen
    assert found.address == f"{index.url}/files/{chosen[1]}"
    assert (found.size, found.digest and found.digest[0]) == (1234, "sha256")


def test_the_archive_costs_no_request_after_the_package_was_collected(index: PackageIndex, bench: Bench) -> None:
    index.npm["one"] = packument("one")

    async def both() -> Archive | Absent:
        collector = bench.collector()
        server = Server(ref="test:one", name="one", targets=(npm(),))
        await collector.collect(server, Dossier(server=server, as_of=NOON))
        index.asked.clear()
        return await collector.archive(npm())

    assert isinstance(asyncio.run(both()), Archive)
    assert index.asked == []


@pytest.mark.parametrize("target", [npm("nobody"), npm("one", "9.9.9"), pypi("nobody"), pypi("empty")])
def test_what_the_index_does_not_have_has_no_archive(index: PackageIndex, bench: Bench, target: Target) -> None:
    index.npm["one"] = packument("one")
    index.add_project("empty")
    found = bench.archive(target)
    assert isinstance(found, Absent)
    assert found.reason is (Reason.NO_VERSION if target.version else Reason.NO_PACKAGE)
    assert target.identifier in found.detail


def test_other_targets_have_no_archive(bench: Bench) -> None:
    found = bench.archive(Target(type=TargetType.OCI, identifier="example/one"))
    assert found == Absent(Reason.NO_PACKAGE, "oci packages are not looked up")


@pytest.mark.parametrize(
    "tarball", ["file:///etc/passwd", "https://user:secret@example.org/x.tgz", 7, None, "http://[bad"]
)
def test_an_address_that_cannot_be_fetched_is_no_archive(index: PackageIndex, bench: Bench, tarball: object) -> None:
    index.npm["one"] = packument("one")
    index.npm["one"]["versions"]["1.0.0"]["dist"]["tarball"] = tarball
    found = bench.archive(npm())
    assert isinstance(found, Absent)
    assert "secret" not in found.detail
