"""Installed packages match the index and stay unchanged; our own failures are not attributed to them."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.sandbox import Sandbox, sandbox_launcher
from crawler.sandbox.install import installer
from crawler.sandbox.install.installer import InstallCaps
from crawler.sandbox.layers import layers, trees
from crawler.sandbox.layers.eviction import EvictedLayers, EvictionPolicy, evict_layers
from evidence.canonical import Json
from evidence.model import Absent, Reason, Target, TargetType
from tests.crawler.sandbox.driving import NOON, greet, sandbox
from tests.crawler.sandbox.index_server import IndexServer

pytestmark = pytest.mark.sandbox

NPM = Target(type=TargetType.NPM, identifier="server")
PYPI = Target(type=TargetType.PYPI, identifier="server")


@pytest.fixture
def opened(cache: Path, index: IndexServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Sandbox]:
    """Opens a sandbox for the packages of `index`, in which a look at a layer counts for one start."""
    monkeypatch.setattr(sandbox_launcher, "VERIFIED_SECONDS", 0.0)
    return lambda: asyncio.run(sandbox(cache, index.environ(str(tmp_path))))


def tarballs(index: IndexServer) -> int:
    return sum(path.endswith((".tgz", ".whl")) for path in index.asked)


async def start(box: Sandbox, target: Target) -> tuple[Json, dict[str, Json]]:
    launched = await box.launch(target)
    assert not isinstance(launched, Absent), launched
    return await greet(launched), dict(launched.facts)


def refused(box: Sandbox, target: Target) -> Absent:
    found = asyncio.run(box.prepare(target))
    assert isinstance(found, Absent), found
    return found


def module(box: Sandbox, layer: Json, target: Target) -> Path:
    """A file of the server that is read when it starts."""
    tree = box.installer.store.tree(str(layer))
    return tree / ("node_modules/server/server.js" if target is NPM else "server/__init__.py")


@pytest.mark.parametrize("target", [NPM, pytest.param(PYPI, marks=pytest.mark.soak)])
def test_a_file_that_was_changed_is_never_answered_from_and_the_package_is_installed_anew(
    opened: Callable[[], Sandbox], index: IndexServer, target: Target
) -> None:
    index.add_npm("server")
    index.add_wheel("server")
    box = opened()

    async def run() -> None:
        _, facts = await start(box, target)
        path = module(box, facts["layer"], target)
        before = path.stat()
        path.chmod(0o644)
        path.write_text('console.log(\'{"name": "evil"}\')' if target is NPM else "def main(): print('evil')")
        path.chmod(0o444)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        said, again = await start(box, target)
        assert isinstance(said, dict)
        assert said["name"] == "server"
        assert again == {**facts, "reinstalled": "its files are not those that it was made of"}
        assert await start(box, target) == (said, facts)

    asyncio.run(run())
    assert target is PYPI or tarballs(index) == 2


@pytest.mark.soak
@pytest.mark.parametrize(("seconds", "looks"), [(30.0, 1), (0.0, 3)])
def test_starts_in_a_row_share_a_look(
    opened: Callable[[], Sandbox],
    index: IndexServer,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    looks: int,
) -> None:
    index.add_npm("server")
    box, looked, look = opened(), [], layers.Layers.find_flaw
    monkeypatch.setattr(sandbox_launcher, "VERIFIED_SECONDS", seconds)
    monkeypatch.setattr(layers.Layers, "find_flaw", lambda *given: looked.append(given) or look(*given))

    async def run() -> None:
        for _ in range(3):
            await start(box, NPM)

    asyncio.run(run())
    assert len(looked) == looks


@pytest.mark.soak
def test_dependencies_are_not_read_from_a_changed_layer(opened: Callable[[], Sandbox], index: IndexServer) -> None:
    index.add_npm("dependency")
    index.add_npm("server", manifest={"dependencies": {"dependency": "1.0.0"}})
    box = opened()
    found = asyncio.run(box.prepare(NPM))
    assert not isinstance(found, Absent)
    manifest = box.installer.store.tree(found.layer) / "node_modules/dependency/package.json"
    manifest.chmod(0o644)
    manifest.write_text('{"name": "dependency", "version": "9.9.9"}')
    tree = asyncio.run(box.installed(NPM))
    assert not isinstance(tree, Absent)
    assert [(one.name, one.version) for one in tree.packages] == [("dependency", "1.0.0")]


@pytest.mark.soak
def test_who_keeps_changing_files_gets_no_start(
    opened: Callable[[], Sandbox], index: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add_npm("server")
    box = opened()
    monkeypatch.setattr(type(box.installer.store), "find_flaw", lambda *_: "it is changed all the time")
    absent = asyncio.run(box.launch(NPM))
    assert isinstance(absent, Absent)
    assert absent.reason is Reason.SANDBOX_RESTRICTED
    assert not list((box.cache_dir / "layers").iterdir())


@pytest.mark.soak
def test_a_layer_that_we_cannot_look_at_stays_for_those_who_run_from_it(
    opened: Callable[[], Sandbox], index: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(_tree: Path) -> str:
        raise OSError(errno.EMFILE, "Too many open files")

    index.add_npm("server")
    box = opened()
    _, facts = asyncio.run(start(box, NPM))
    monkeypatch.setattr(trees, "metadata_digest", busy)
    absent = Absent(Reason.NO_SANDBOX, "installed files cannot be read: Too many open files")
    assert asyncio.run(box.launch(NPM)) == absent
    assert asyncio.run(box.installed(NPM)) == absent
    monkeypatch.undo()
    assert asyncio.run(start(opened(), NPM))[1] == facts
    assert tarballs(index) == 1


def test_what_lies_in_a_download_cache_reaches_no_layer(
    opened: Callable[[], Sandbox], index: IndexServer, cache: Path
) -> None:
    index.add_npm("server")
    for name in ("bun/server@1.0.0@@127.0.0.1@@@1", "bun/server@1.0.0"):
        planted = cache / "downloads" / name
        planted.mkdir(parents=True)
        (planted / "package.json").write_text('{"name": "server", "version": "1.0.0", "bin": "evil.js"}')
        (planted / "evil.js").write_text("#!/usr/bin/env node\nprocess.exit(66)")
    said, _ = asyncio.run(start(opened(), NPM))
    assert isinstance(said, dict)
    assert said["name"] == "server"
    assert not list((cache / "work").iterdir())


def test_a_wheel_that_is_not_the_one_of_the_index_is_refused(opened: Callable[[], Sandbox], index: IndexServer) -> None:
    index.add_wheel("server")
    index.simple["server"][0]["hashes"] = {"sha256": "0" * 64}
    absent = refused(opened(), PYPI)
    assert absent.reason is Reason.INSTALL_FAILED
    assert "Hash mismatch" in absent.detail


def test_a_package_without_a_digest_is_refused(opened: Callable[[], Sandbox], index: IndexServer) -> None:
    index.add_npm("bare")
    dist = index.npm["bare"]["1.0.0"]["dist"]
    assert isinstance(dist, dict)
    del dist["integrity"], dist["shasum"]
    index.add_npm("server", manifest={"dependencies": {"bare": "1.0.0"}})
    absent = refused(opened(), NPM)
    assert absent == Absent(Reason.INSTALL_FAILED, "the index gives no digest by which to check bare@1.0.0")


def test_a_wheel_without_a_digest_is_refused(opened: Callable[[], Sandbox], index: IndexServer) -> None:
    index.add_wheel("server")
    index.simple["server"][0]["hashes"] = {}
    absent = refused(opened(), PYPI)
    assert absent == Absent(Reason.INSTALL_FAILED, "the Python index gives no digest by which to check server")
    assert tarballs(index) == 0


def test_a_version_that_was_asked_for_is_the_one_that_starts(opened: Callable[[], Sandbox], index: IndexServer) -> None:
    for version in ("1.0.0", "2.0.0"):
        index.add_npm("server", version)
        index.add_wheel("server", version)
    box = opened()
    for target in (NPM, PYPI):
        for version, expected in ((None, "2.0.0"), ("1.0.0", "1.0.0"), ("2.0.0", "2.0.0")):
            found = asyncio.run(box.prepare(replace(target, version=version)))
            assert not isinstance(found, Absent)
            assert found.version == expected


@pytest.mark.soak
def test_a_withdrawn_version_is_for_those_who_name_it(opened: Callable[[], Sandbox], index: IndexServer) -> None:
    index.add_wheel("server", "1.0.0", yanked=True)
    box = opened()
    absent = refused(box, PYPI)
    assert absent == Absent(Reason.NO_VERSION, "the Python index has no version of server that was not withdrawn")
    found = asyncio.run(box.prepare(replace(PYPI, version="1.0.0")))
    assert not isinstance(found, Absent)
    assert found.version == "1.0.0"


@pytest.mark.parametrize(
    ("caps", "said"),
    [
        (InstallCaps(files=10), "the package unpacks to more than 1024 MiB or 10 files"),
        (InstallCaps(download=1000), "the package needs more than 0 MiB of downloads"),
        (InstallCaps(room=1 << 20), "the installation was stopped at the size limit of 1 MiB and 300000 files"),
        (InstallCaps(room_files=20), "the installation was stopped at the size limit of 3072 MiB and 20 files"),
    ],
)
def test_an_installation_has_caps_on_files_downloads_and_room(
    opened: Callable[[], Sandbox], index: IndexServer, monkeypatch: pytest.MonkeyPatch, caps: InstallCaps, said: str
) -> None:
    monkeypatch.setattr(installer, "POLL", 0.001)
    monkeypatch.setattr(installer, "POLL_PAUSE", 0.001)
    index.add_npm("server", files={f"{number}.txt": "x" * 60_000 + str(number) for number in range(50)})
    box = opened()
    box.installer = replace(box.installer, caps=caps)
    assert refused(box, NPM) == Absent(Reason.TOO_LARGE, said)
    assert not list((box.cache_dir / "work").iterdir())


def test_an_installation_that_takes_too_long_is_ended(opened: Callable[[], Sandbox], index: IndexServer) -> None:
    index.add_npm("server")
    index.hanging.add(next(iter(index.files)))
    box = opened()
    box.installer = replace(box.installer, limits=replace(box.installer.limits, seconds=1.0))

    async def run() -> set[str]:
        found = await box.prepare(NPM)
        assert found == Absent(Reason.TIMEOUT, "the installation was stopped at the time limit of 1 seconds")
        return {task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()}

    assert asyncio.run(run()) == set()


@pytest.mark.parametrize("kind", [TargetType.NUGET, TargetType.CARGO, TargetType.MCPB])
def test_packages_without_an_installer_are_recorded_as_unsupported(
    opened: Callable[[], Sandbox], index: IndexServer, kind: TargetType
) -> None:
    box, target = opened(), Target(type=kind, identifier="server")
    for found in (asyncio.run(box.launch(target)), asyncio.run(box.installed(target))):
        assert isinstance(found, Absent)
        assert found.reason is Reason.RUNTIME_UNSUPPORTED
        assert kind.value in found.detail
    assert index.asked == []


def test_a_dependency_from_elsewhere_is_named_and_not_fetched(
    opened: Callable[[], Sandbox], index: IndexServer
) -> None:
    index.add_npm("server", manifest={"dependencies": {"other": "https://host.example/other.tgz"}})
    absent = refused(opened(), NPM)
    assert absent.reason is Reason.INSTALL_FAILED
    assert absent.detail == "it needs something that no package index holds: host.example:443"


def test_what_cannot_be_installed_is_tried_once_an_hour_or_for_a_new_version(
    cache: Path, index: IndexServer, tmp_path: Path
) -> None:
    def visit(minutes: int) -> tuple[Reason, int]:
        index.asked.clear()
        box = asyncio.run(sandbox(cache, index.environ(str(tmp_path)), now=lambda: NOON + timedelta(minutes=minutes)))
        box.installer = replace(box.installer, caps=InstallCaps(size=1000))
        return refused(box, NPM).reason, tarballs(index)

    index.add_npm("server", files={"big.txt": "x" * 2000})
    assert visit(0) == (Reason.TOO_LARGE, 1)
    assert visit(59) == (Reason.TOO_LARGE, 0)
    assert visit(61) == (Reason.TOO_LARGE, 1)
    index.add_npm("server", "1.1.0", files={"big.txt": "x" * 2000})
    assert visit(62) == (Reason.TOO_LARGE, 1)


def test_a_disk_of_ours_that_is_full_is_not_held_against_the_package(
    opened: Callable[[], Sandbox], index: IndexServer
) -> None:
    index.add_npm("server")
    box = opened()
    box.installer = replace(box.installer, caps=InstallCaps(disk_floor=1 << 60))
    assert refused(box, NPM).reason is Reason.NOT_COLLECTED


@pytest.mark.soak
def test_a_cache_that_cannot_be_written_is_not_held_against_the_package(
    opened: Callable[[], Sandbox], index: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_tree: Path) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    index.add_npm("server")
    box = opened()
    monkeypatch.setattr(trees, "content_digest", full)
    assert refused(box, NPM) == Absent(Reason.NOT_COLLECTED, "the cache of the sandbox cannot be written (OSError)")
    assert not list((box.cache_dir / "work").iterdir())
    monkeypatch.undo()
    assert not isinstance(asyncio.run(box.prepare(NPM)), Absent)


@pytest.mark.soak
def test_a_file_host_that_is_away_is_not_held_against_the_package(
    opened: Callable[[], Sandbox], index: IndexServer
) -> None:
    index.add_npm("server")
    dist = index.npm["server"]["1.0.0"]["dist"]
    assert isinstance(dist, dict)
    with IndexServer() as gone:
        dist["tarball"] = f"{gone.url}/server.tgz"
    absent = refused(opened(), NPM)
    assert absent == Absent(Reason.NOT_COLLECTED, "the package index could not be reached by the installer")


def test_servers_with_equal_trees_share_a_layer_that_stays_while_one_of_them_runs(
    opened: Callable[[], Sandbox], index: IndexServer
) -> None:
    index.add_npm("server")
    box = opened()

    async def run() -> None:
        pinned = replace(NPM, version="1.0.0")
        first, second = await box.launch(NPM), await box.launch(pinned)
        assert not isinstance(first, Absent)
        assert not isinstance(second, Absent)
        assert first.facts["layer"] == second.facts["layer"]
        await first.stop()
        assert evict_layers(box.cache_dir, EvictionPolicy(size=0), NOON) == EvictedLayers()
        said = await greet(second)
        assert isinstance(said, dict)
        assert evict_layers(box.cache_dir, EvictionPolicy(size=0), NOON).layers == 1
        assert (await start(box, pinned))[0] == said

    asyncio.run(run())
    assert tarballs(index) == 2


@pytest.mark.soak
def test_an_overwritten_index_entry_is_not_followed(opened: Callable[[], Sandbox], index: IndexServer) -> None:
    index.add_npm("server")
    box = opened()
    asyncio.run(start(box, NPM))
    entries = list((box.cache_dir / "index").glob("*.json"))
    good = entries[0].read_text()
    for planted in ("[]", good.replace('"layer": "', '"layer": "../'), good.replace('"/usr/bin/node"', "7")):
        for entry in entries:
            entry.write_text(planted)
        said, _ = asyncio.run(start(box, NPM))
        assert isinstance(said, dict)
        assert said["name"] == "server"
