"""The source of a server is the archive of its repository's head, else of its package; what is known costs nothing."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, BinaryIO

import pytest
from msgspec.structs import replace

from crawler.collectors.package.archives import Archive
from crawler.collectors.repository.parsing.sbom import SbomPart
from crawler.collectors.source import SourceCollector, SourceLimits
from crawler.collectors.source.archive_origin import FetchLimits
from crawler.collectors.source.archive_reader import read_archive
from crawler.collectors.source.reading_task import ArchiveUnreadable, FolderMissing, ReadingResult, ReadingTask
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.http.resolver import SystemResolver
from crawler.sandbox.install.package_inventory import InstalledPackage, InstalledTree
from crawler.sandbox.toolchain.package_indexes import NpmIndex, PythonIndex
from evidence.canonical import Json, canonical_json
from evidence.kinds.dependencies import Dependencies
from evidence.kinds.source import Source
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType
from tests.crawler.archives.building import files
from tests.crawler.collectors.source.local_reading import scanner
from tests.servers.indexes import Answer, PackageIndex

NOON = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
NPM = Target(type=TargetType.NPM, identifier="one", version="1.0.0")
LOCK = json.dumps({"lockfileVersion": 3, "packages": {"": {}, "node_modules/zod": {"version": "3.25.0"}}})


@dataclass
class World:
    """A loopback server with archives, and everybody the collector asks. Also the collector's ports."""

    http: PackageIndex
    now: datetime = NOON
    archive_digest: str | None = None
    address: str | Absent = ""
    parts: tuple[SbomPart, ...] | Absent = field(default_factory=lambda: Absent(Reason.RATE_LIMITED, "quota"))
    tree: InstalledTree | Absent = field(default_factory=lambda: Absent(Reason.INSTALL_FAILED, "no"))
    limits: SourceLimits | None = None
    rules: str = field(default_factory=lambda: scanner().digest)
    readings: int = 0
    installs: int = 0
    asked: list[str] = field(default_factory=list)

    async def npm(self) -> NpmIndex:
        return NpmIndex(self.http.url + "/npm/")

    async def python(self) -> PythonIndex:
        return PythonIndex(self.http.url + "/simple")

    async def tarball_address(self, name: str, ref: str) -> str | Absent:
        self.asked.append(f"{name}@{ref}")
        return self.address or f"{self.http.url}/files/{ref}.tgz"

    async def sbom(self, name: str) -> tuple[SbomPart, ...] | Absent:
        return self.parts

    async def installed(self, target: Target) -> InstalledTree | Absent:
        self.installs += 1
        return self.tree

    async def archive(self, target: Target) -> Archive | Absent:
        digest = ("sha512", self.archive_digest) if self.archive_digest else None
        return Archive(
            ecosystem="npm", name=target.identifier, version="1.0.0", kind="tgz", filename="one-1.0.0.tgz",
            address=f"{self.http.url}/files/one-1.0.0.tgz", digest=digest,
        )  # fmt: skip

    async def read_archive(self, file: BinaryIO, task: ReadingTask) -> ReadingResult | Absent:
        self.readings += 1
        try:
            return read_archive(file, task, scanner(), b"salt")
        except FolderMissing as error:
            return Absent(Reason.NO_REPOSITORY, str(error))
        except ArchiveUnreadable as error:
            return Absent(Reason.INSTALL_FAILED, str(error))

    def collector(self) -> SourceCollector:
        guard = AddressGuard(allow_private=True)
        engine = HttpEngine(user_agent="hallmark-test", guard=guard, resolver=SystemResolver())
        return SourceCollector(
            engine, self, self, self, lambda: self.now,
            rules=self.rules, limits=self.limits, tarballs=self, sboms=self, installs=self,
        )  # fmt: skip

    def follow(self, found: Dossier, earlier: Dossier | None = None) -> dict[str, Record]:
        records = asyncio.run(self.collector().follow(found, earlier or replace(found, records={})))
        assert [record.kind for record in records] == ["source", "dependencies", "secrets"]
        return {record.kind: record for record in records}

    def downloads(self) -> list[str]:
        return [asked.path for asked in self.http.asked if asked.path.startswith("/files/")]


@pytest.fixture
def world() -> Iterator[World]:
    with PackageIndex() as http:
        http.files["/files/c0ffee.tgz"] = files(
            [("a.py", b"x"), ("src/one/b.py", b"y"), ("package-lock.json", LOCK.encode())]
        )
        http.files["/files/one-1.0.0.tgz"] = files([("index.js", b"1"), ("package.json", b"{}")], folder="package")
        yield World(http)


def server(*targets: Target, repository: Any = None, **body: Json) -> Dossier:
    one = Server(ref="npm:one", name="one", targets=targets)
    content: Observed | Absent
    if isinstance(repository, Absent):
        content = repository
    else:
        content = Observed(canonical_json({"name": "acme/one", "head": "c0ffee", "subfolder": None, **body}))
    record = Record(
        server=one.id,
        kind="repository",
        schema=1,
        collector="repository",
        collector_version=1,
        observed_at=NOON,
        content=content,
    )
    return Dossier(server=one, as_of=NOON, records={"repository": record})


def body(record: Record) -> Source:
    assert isinstance(record.content, Observed), record.content
    return Source.parse(record.content.body)


def needs(record: Record) -> Dependencies:
    assert isinstance(record.content, Observed), record.content
    return Dependencies.parse(record.content.body)


def reason(record: Record) -> Reason:
    assert isinstance(record.content, Absent), record.content
    return record.content.reason


def test_the_head_of_the_repository_is_read(world: World) -> None:
    records = world.follow(server(NPM))
    view = body(records["source"])
    assert (view.origin, view.name, view.ref, view.count("files")) == ("github", "acme/one", "c0ffee", 3)
    assert needs(records["dependencies"]).taken_from == "lockfile"
    assert records["source"].observation == {"looked_at": NOON.isoformat()}
    assert world.asked == ["acme/one@c0ffee"]


def test_servers_of_one_repository_share_one_download(world: World) -> None:
    async def run() -> list[list[Record]]:
        collector = world.collector()
        found = [server(NPM, subfolder="src/one"), server(NPM), server(NPM, subfolder="src/one")]
        return await asyncio.gather(*(collector.follow(one, replace(one, records={})) for one in found))

    views = [body(records[0]) for records in asyncio.run(run())]
    assert [(view.subfolder, view.count("files")) for view in views] == [("src/one", 1), ("", 3), ("src/one", 1)]
    assert (len(world.downloads()), world.readings) == (1, 2)


def test_an_unchanged_commit_costs_no_download(world: World) -> None:
    first = world.follow(server(NPM))
    world.now += timedelta(days=40)
    again = world.follow(server(NPM), replace(server(NPM), records=first))
    assert len(world.downloads()) == 1
    assert [again[kind].content for kind in again] == [first[kind].content for kind in again]
    assert again["source"].observation == {"looked_at": world.now.isoformat(), "carried": True}


@pytest.mark.parametrize("member", ["head", "subfolder", "rules", "version"])
def test_what_has_changed_is_read_again(world: World, member: str) -> None:
    first = world.follow(server(NPM))
    found = server(NPM)
    if member == "head":
        world.http.files["/files/beef.tgz"] = world.http.files["/files/c0ffee.tgz"]
        found = server(NPM, head="beef")
    elif member == "subfolder":
        found = server(NPM, subfolder="src/one")
    elif member == "version":
        first["source"] = replace(first["source"], collector_version=0)
    else:
        world.rules = "others"
    world.follow(found, replace(found, records=first))
    assert len(world.downloads()) == 2


def test_without_a_repository_the_package_is_read(world: World) -> None:
    world.archive_digest = hashlib.sha512(world.http.files["/files/one-1.0.0.tgz"]).hexdigest()
    view = body(world.follow(server(NPM, repository=Absent(Reason.NO_REPOSITORY, "none")))["source"])
    assert (view.origin, view.name, view.ref, view.paths("manifests")) == ("npm", "one", "1.0.0", ("package.json",))


@pytest.mark.parametrize("stated", ["src/one", "/src/one/", "./src//one", "src\\one"])
def test_a_folder_is_found_however_it_is_written(world: World, stated: str) -> None:
    assert body(world.follow(server(NPM, subfolder=stated))["source"]).subfolder == "src/one"


def test_a_folder_outside_of_the_repository_is_none(world: World) -> None:
    assert reason(world.follow(server(subfolder="../.."))["source"]) is Reason.NO_REPOSITORY


def test_a_folder_that_is_not_there_gives_way_to_the_package(world: World) -> None:
    assert body(world.follow(server(NPM, subfolder="src/gone"))["source"]).origin == "npm"
    records = world.follow(server(subfolder="src/gone"))
    assert (reason(records["source"]), reason(records["secrets"])) == (Reason.NO_REPOSITORY, Reason.NO_REPOSITORY)


def test_another_file_than_the_index_says_is_refused(world: World) -> None:
    world.archive_digest = "00" * 64
    records = world.follow(server(NPM, repository=Absent(Reason.NO_REPOSITORY, "none")))
    assert reason(records["source"]) is Reason.INSTALL_FAILED


def scripted(answer: Answer, *others: Answer) -> Callable[[World], None]:
    return lambda world: world.http.script("/files/c0ffee.tgz", answer, *others)


def small(world: World) -> None:
    world.limits = SourceLimits(fetching=FetchLimits(packed=50))


@pytest.mark.parametrize(
    ("happens", "expected"),
    [
        (scripted(Answer(404)), Reason.NO_REPOSITORY),
        (scripted(Answer(403)), Reason.FORBIDDEN),
        (scripted(Answer(429)), Reason.RATE_LIMITED),
        (scripted(Answer(503)), Reason.UNREACHABLE),
        (scripted(Answer(302, headers={"Location": "/files/c0ffee.tgz"})), Reason.UNREACHABLE),
        (scripted(Answer(200, b"no archive")), Reason.INSTALL_FAILED),
        (scripted(Answer(200, b"")), Reason.INSTALL_FAILED),
        (small, Reason.TOO_LARGE),
    ],
    ids=["404", "403", "429", "503", "redirects", "text", "empty", "large"],
)
def test_what_the_world_refuses_is_absent_with_its_reason(
    world: World, happens: Callable[[World], None], expected: Reason
) -> None:
    happens(world)
    records = world.follow(server())
    assert [reason(records[kind]) for kind in ("source", "secrets")] == [expected, expected]


def test_an_archive_that_is_too_large_is_not_fetched_again_for_a_while(world: World) -> None:
    small(world)
    first = world.follow(server())
    again = world.follow(server(), replace(server(), records=first))
    assert [again[kind].content for kind in again] == [first[kind].content for kind in first]
    assert len(world.downloads()) == 1
    world.now += timedelta(days=15)
    world.follow(server(), replace(server(), records=again))
    world.follow(server(head="beef"), replace(server(), records=again))
    assert len(world.downloads()) == 3


def test_a_package_that_is_read_instead_remembers_that_its_repository_is_too_large(world: World) -> None:
    world.http.files["/files/c0ffee.tgz"] = files([("a.bin", Random(7).randbytes(20_000))])
    world.limits = SourceLimits(fetching=FetchLimits(packed=10_000))
    first = world.follow(server(NPM))
    again = world.follow(server(NPM), replace(server(NPM), records=first))
    assert body(first["source"]).origin == body(again["source"]).origin == "npm"
    assert [path for path in world.downloads() if "c0ffee" in path] == ["/files/c0ffee.tgz"]


def test_a_redirect_is_followed(world: World) -> None:
    world.http.files["/files/moved.tgz"] = world.http.files["/files/c0ffee.tgz"]
    world.http.script("/files/c0ffee.tgz", Answer(302, headers={"Location": "/files/moved.tgz"}))
    assert body(world.follow(server())["source"]).count("files") == 3


def test_our_failure_does_not_move_what_was_seen(world: World) -> None:
    first = world.follow(server(NPM))
    world.address = Absent(Reason.RATE_LIMITED, "quota")
    found = server(NPM, head="beef")
    for days, stands in ((13, True), (2, False)):
        world.now += timedelta(days=days)
        again = world.follow(found, replace(found, records=first))
        assert (again["source"].content == first["source"].content) is stands
        assert again["source"].observation == (first["source"].observation if stands else {})


def test_a_repository_that_we_could_not_ask_is_not_replaced_by_its_package(world: World) -> None:
    first = world.follow(server(NPM))
    found = server(NPM, repository=Absent(Reason.RATE_LIMITED, "quota"))
    assert world.follow(found, replace(found, records=first))["source"].content == first["source"].content
    assert body(world.follow(found)["source"]).origin == "npm"


def test_a_lockfile_that_could_not_be_fetched_is_not_replaced_by_another_list(world: World) -> None:
    first = world.follow(server(NPM))
    assert needs(first["dependencies"]).taken_from == "lockfile"
    world.address = Absent(Reason.RATE_LIMITED, "quota")
    world.parts = (SbomPart(ecosystem="npm", name="other", version="1"),)
    found = server(NPM, head="beef")
    again = world.follow(found, replace(found, records=first))
    assert again["dependencies"].content == first["dependencies"].content
    assert again["dependencies"].observation == first["dependencies"].observation


def test_the_list_of_a_repository_that_we_could_not_ask_for_is_not_replaced_by_an_installation(world: World) -> None:
    world.http.files["/files/beef.tgz"] = world.http.files["/files/c0ffee.tgz"] = files([("a.py", b"x")])
    world.parts = (SbomPart(ecosystem="npm", name="zod", version="3.1.0"),)
    world.tree = InstalledTree(ecosystem="npm", name="one", version="1.0.0", packages=())
    first = world.follow(server(NPM))
    world.parts = Absent(Reason.RATE_LIMITED, "quota")
    found = server(NPM, head="beef")
    assert world.follow(found, replace(found, records=first))["dependencies"].content == first["dependencies"].content
    assert needs(world.follow(found)["dependencies"]).taken_from == "installed"


@pytest.mark.parametrize(("carried", "since", "installs"), [(True, 0, 0), (True, 1, 1), (False, 0, 1)])
def test_the_installation_of_a_carried_start_is_not_read_again(
    world: World, carried: bool, since: int, installs: int
) -> None:
    world.http.files["/files/c0ffee.tgz"] = files([("src/one/b.py", b"x")])
    world.tree = InstalledTree(ecosystem="npm", name="one", version="1.0.0", packages=())
    found = server(NPM, subfolder="src/one")
    first = world.follow(found)
    started = Record(
        server=found.server.id, kind="listing", schema=1, collector="protocol", collector_version=1,
        observed_at=NOON + timedelta(days=since), content=Observed(b"{}"),
        observation={"carried_from": NOON.isoformat()} if carried else {},
    )  # fmt: skip
    world.now, world.installs = NOON + timedelta(days=2), 0
    tonight = replace(found, records={**found.records, "listing": started})
    again = world.follow(tonight, replace(found, records=first))["dependencies"]
    assert world.installs == installs
    assert again.content == first["dependencies"].content
    assert (again.observation == first["dependencies"].observation) is (installs == 0)


def test_source_is_no_younger_than_the_look_at_its_repository(world: World) -> None:
    found = server()
    refreshed = replace(found.records["repository"], observation={"looked_at": NOON.isoformat()})
    found = replace(found, records={"repository": refreshed})
    first = world.follow(found)
    world.now += timedelta(days=13)
    again = world.follow(found, replace(found, records=first))
    assert {record.observation["looked_at"] for record in again.values()} == {NOON.isoformat()}
    world.now += timedelta(days=2)
    silent = server(repository=Absent(Reason.UNREACHABLE, "GitHub did not answer"))
    assert reason(world.follow(silent, replace(silent, records=again))["source"]) is Reason.UNREACHABLE


def test_without_a_lockfile_the_repository_s_list_is_taken(world: World) -> None:
    world.http.files["/files/c0ffee.tgz"] = files([("a.py", b"x")])
    world.parts = (
        SbomPart(ecosystem="npm", name="zod", version="3.1.0"),
        SbomPart(ecosystem="npm", name="ms", version=None),
    )
    found = needs(world.follow(server(NPM))["dependencies"])
    assert (found.taken_from, found.lockfile, found.complete) == ("sbom", False, True)
    assert [(one.name, one.version, one.relation) for one in found.dependencies] == [
        ("ms", None, "unknown"), ("zod", "3.1.0", "unknown"),
    ]  # fmt: skip
    assert world.installs == 0


def test_else_the_installed_tree_is_taken(world: World) -> None:
    world.http.files["/files/c0ffee.tgz"] = files([("src/one/b.py", b"x")])
    world.parts = (SbomPart(ecosystem="npm", name="of-another-server", version="1"),)
    package = InstalledPackage(ecosystem="npm", name="zod", version="3.1.0", relation="direct", path="zod")
    world.tree = InstalledTree(ecosystem="npm", name="one", version="1.0.0", packages=(package,))
    found = needs(world.follow(server(NPM, subfolder="src/one"))["dependencies"])
    assert (found.taken_from, [one.name for one in found.dependencies]) == ("installed", ["zod"])


def test_an_installation_is_read_again_though_its_source_is_known(world: World) -> None:
    world.http.files["/files/c0ffee.tgz"] = files([("src/one/b.py", b"x")])
    world.tree = InstalledTree(ecosystem="npm", name="one", version="1.0.0", packages=())
    found = server(NPM, subfolder="src/one")
    first = world.follow(found)
    world.tree = replace(world.tree, version="1.0.1")
    again = world.follow(found, replace(found, records=first))
    assert needs(again["dependencies"]).body["ref"] == "1.0.1"
    assert (world.installs, len(world.downloads())) == (2, 1)


def test_nothing_to_install_is_an_absence(world: World) -> None:
    world.http.files["/files/c0ffee.tgz"] = files([("a.py", b"x")])
    world.parts = ()
    assert reason(world.follow(server())["dependencies"]) is Reason.NO_PACKAGE
    assert reason(world.follow(server(NPM))["dependencies"]) is Reason.INSTALL_FAILED


def test_a_server_without_source_says_why(world: World) -> None:
    remote = Target(type=TargetType.STREAMABLE_HTTP, identifier="https://a.example/mcp")
    records = world.follow(server(remote, repository=Absent(Reason.NO_REPOSITORY, "the repository is on GitLab")))
    assert records["source"].content == Absent(Reason.NO_REPOSITORY, "the repository is on GitLab")


def test_no_detail_names_an_address(world: World) -> None:
    world.address = f"{world.http.url}/files/gone.tgz?token=abc"
    content = world.follow(server())["source"].content
    assert isinstance(content, Absent)
    assert "127.0.0.1" not in content.detail
    assert "abc" not in content.detail
