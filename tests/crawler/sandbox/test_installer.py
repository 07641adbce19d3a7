"""Installations from an index on loopback with the real bun and uv."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import shutil
import stat
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.launcher import LaunchedServer
from crawler.sandbox import Sandbox
from crawler.sandbox.install.installer import InstallCaps
from evidence.canonical import Json
from evidence.launch_options import LaunchOptions
from evidence.model import Absent, Reason, Target, TargetType
from tests.crawler.sandbox.driving import NOON, greet, install_alone, sandbox
from tests.crawler.sandbox.index_server import IndexServer
from tests.sampling import some

pytestmark = pytest.mark.sandbox


def npm(name: str, version: str | None = None, *arguments: str) -> Target:
    return Target(type=TargetType.NPM, identifier=name, version=version, arguments=arguments)


def pypi(name: str, version: str | None = None, *arguments: str) -> Target:
    return Target(type=TargetType.PYPI, identifier=name, version=version, arguments=arguments)


async def started(box: Sandbox, target: Target) -> tuple[Json, LaunchedServer]:
    launched = await box.launch(target)
    assert not isinstance(launched, Absent), launched
    return await greet(launched), launched


async def refused(box: Sandbox, target: Target) -> Absent:
    launched = await box.launch(target)
    assert isinstance(launched, Absent)
    return launched


def scenario(cache: Path, index: IndexServer, tmp_path: Path, *targets: Target) -> list[tuple[Json, LaunchedServer]]:
    async def run() -> list[tuple[Json, LaunchedServer]]:
        box = await sandbox(cache, index.environ(str(tmp_path)))
        return [await started(box, target) for target in targets]

    return asyncio.run(run())


def outcome(cache: Path, index: IndexServer, tmp_path: Path, target: Target, **options: object) -> Absent:
    async def run() -> Absent:
        return await refused(await sandbox(cache, index.environ(str(tmp_path)), **options), target)

    return asyncio.run(run())


def test_npm_package_with_a_dependency_starts(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_npm("dependency", "2.1.0")
    server = """#!/usr/bin/env node
        require("dependency/package.json");
        process.stdin.once("data", () => console.log(JSON.stringify({argv: process.argv.slice(2)})));"""
    index.add_npm("@scope/thing", manifest={"dependencies": {"dependency": "^2.0.0"}}, files={"server.js": server})
    [(said, launched)] = scenario(cache, index, tmp_path, npm("@scope/thing", None, "--flag"))
    assert said == {"argv": ["--flag"]}
    assert launched.runtime == "bubblewrap"
    assert launched.facts["version"] == "1.0.0"


def test_python_package_with_a_dependency_starts(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("a-library", "3.0")
    index.add_wheel("time-teller", "1.5", requires=("a-library",))
    [(said, launched)] = scenario(cache, index, tmp_path, pypi("Time_Teller", None, "--utc"))
    assert said == {"hello": ["--utc"], "name": "time-teller", "you": "friend"}
    assert launched.facts["version"] == "1.5"


def test_a_registration_chooses_the_command_and_adds_packages(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("a-library", "3.0")
    scripts = {"teller": "teller:main", "other": "teller:other"}
    server = """
import json, sys
def main(): raise SystemExit("the wrong command")
def other():
    import a_library
    sys.stdin.readline()
    print(json.dumps({"argv": sys.argv[1:]}), flush=True)
"""
    index.add_wheel("teller", "1.5", scripts=scripts, files={"teller/__init__.py": server})
    launch = LaunchOptions(command="other", requirements=("a-library>=3", "x @ https://host.example/x.whl"))
    target = replace(pypi("teller", None, "--utc"), launch=launch)
    [(said, launched)] = scenario(cache, index, tmp_path, target)
    assert said == {"argv": ["--utc"]}
    assert launched.facts["command"] == "other"


@pytest.mark.soak
def test_python_layer_is_compiled(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("time-teller")
    [(_, launched)] = scenario(cache, index, tmp_path, pypi("time-teller"))
    assert list((cache / "layers" / str(launched.facts["layer"])).glob("time_teller/__pycache__/*.pyc"))


@pytest.mark.soak
def test_path_files_of_a_python_package_count(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("time-teller", files={"time_teller_path.pth": "import os; os.environ['SEEN'] = 'yes'\n"})
    index.add_wheel(
        "time-teller", "2.0", files={"x.pth": "inner\n", "inner/tucked_away.py": ""}, requires=("tucked-away",)
    )
    index.add_wheel("tucked-away", "1.0")
    [(said, _)] = scenario(cache, index, tmp_path, pypi("time-teller"))
    assert said["name"] == "time-teller"


@pytest.mark.parametrize("ecosystem", [pytest.param("npm", marks=pytest.mark.soak), "pypi"])
def test_second_run_of_a_pinned_version_sends_no_request(
    cache: Path, index: IndexServer, tmp_path: Path, ecosystem: str
) -> None:
    index.add_npm("server")
    index.add_wheel("server", "1.0.0")
    target = npm("server", "1.0.0") if ecosystem == "npm" else pypi("server", "1.0.0")
    scenario(cache, index, tmp_path, target)
    index.asked.clear()
    [(said, _)] = scenario(cache, index, tmp_path, target)
    assert said["name"] == "server"
    assert index.asked == []


@pytest.mark.soak
def test_unpinned_version_is_looked_up_again_after_a_day(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    async def visit(hours: int) -> tuple[Json, list[str]]:
        index.asked.clear()
        box = await sandbox(cache, index.environ(str(tmp_path)), now=lambda: NOON + timedelta(hours=hours))
        _, launched = await started(box, npm("server"))
        return launched.facts["version"], list(index.asked)

    index.add_npm("server", "1.0.0")
    assert asyncio.run(visit(0))[0] == "1.0.0"
    index.add_npm("server", "1.1.0")
    assert asyncio.run(visit(23)) == ("1.0.0", [])
    assert asyncio.run(visit(25))[0] == "1.1.0"
    assert asyncio.run(visit(50)) == ("1.1.0", ["/npm/server/latest"])


@pytest.mark.soak  # processes that do the same share a lock on disk too
def test_concurrent_installations_do_the_work_once(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_npm("server")

    async def run() -> None:
        environ = index.environ(str(tmp_path))
        boxes = [await sandbox(cache, environ, slots=3) for _ in range(3)]
        said = await asyncio.gather(*(started(box, npm("server")) for box in boxes for _ in range(2)))
        assert {answer["name"] for answer, _ in said} == {"server"}

    asyncio.run(run())
    assert sum(path.endswith(".tgz") for path in index.asked) == 1
    assert index.asked.count("/npm/server/latest") == 1


def test_concurrent_processes_do_the_work_once(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_npm("server")
    context = multiprocessing.get_context("spawn")
    environ = index.environ(str(tmp_path))
    jobs = [context.Process(target=install_alone, args=(cache, environ, npm("server"))) for _ in range(2)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join(120)
    assert [job.exitcode for job in jobs] == [0, 0]
    assert sum(path.endswith(".tgz") for path in index.asked) == 1


def test_install_scripts_do_not_run_and_are_named(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_npm("builds-itself", manifest={"scripts": {"postinstall": "touch /app/node_modules/ran"}})
    [(_, launched)] = scenario(cache, index, tmp_path, npm("builds-itself"))
    assert launched.facts["install_scripts_blocked"] == ["builds-itself"]
    assert not list((cache / "layers").glob("*/node_modules/ran"))


def test_layer_is_immutable(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_npm("server")
    [(_, launched)] = scenario(cache, index, tmp_path, npm("server"))
    tree = cache / "layers" / str(launched.facts["layer"])
    for path in (p for p in tree.rglob("*") if not p.is_symlink()):
        info = path.lstat()
        assert info.st_uid == os.geteuid()
        assert not path.is_file() or not info.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH | stat.S_ISUID)
    assert index.url not in "".join(p.read_text("utf-8", "replace") for p in tree.rglob("*") if p.is_file())
    assert list((cache / "work").iterdir()) == []


def test_same_resolution_is_the_same_layer(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_npm("server")
    index.add_wheel("server", "1.0.0")
    targets = (npm("server"), npm("server", "1.0.0"), pypi("server"), pypi("server", "1.0"))
    said = scenario(cache, index, tmp_path, *targets)
    layers = [launched.facts["layer"] for _, launched in said]
    assert layers[0] == layers[1] != layers[2] == layers[3]


@pytest.mark.parametrize(
    "target", some([npm("nowhere"), pypi("nowhere", "9.9.9"), pypi("nowhere"), npm("nowhere", "9.9.9")], 2)
)
def test_unknown_package_is_no_package(cache: Path, index: IndexServer, tmp_path: Path, target: Target) -> None:
    index.add_npm("server")
    index.add_wheel("server")
    absent = outcome(cache, index, tmp_path, target)
    assert absent.reason is Reason.NO_PACKAGE
    assert target.identifier in absent.detail


@pytest.mark.parametrize("target", [npm("server", "9.9.9"), pypi("server", "9.9.9")])
def test_the_newest_version_takes_the_place_of_one_that_is_gone(
    cache: Path, index: IndexServer, tmp_path: Path, target: Target
) -> None:
    index.add_npm("server", "1.2.0")
    index.add_wheel("server", "1.2.0")
    [(said, launched)] = scenario(cache, index, tmp_path, target)
    assert said["name"] == "server"
    assert (launched.facts["version"], launched.facts["declared"]) == ("1.2.0", "9.9.9")
    index.asked.clear()
    scenario(cache, index, tmp_path, target)
    assert index.asked == []


def test_a_newest_version_without_a_command_is_said_to_stand_for_one_that_is_gone(
    cache: Path, index: IndexServer, tmp_path: Path
) -> None:
    index.add_npm("server", "1.2.0", manifest={"bin": {}})
    absent = outcome(cache, index, tmp_path, npm("server", "9.9.9"))
    words = "the index has no version 9.9.9; of 1.2.0: the package has no command to start"
    assert absent == Absent(Reason.START_FAILED, words)


@pytest.mark.parametrize("ecosystem", ["npm", "pypi"])
def test_a_version_that_is_gone_is_no_version_where_the_newest_does_not_install(
    cache: Path, index: IndexServer, tmp_path: Path, ecosystem: str
) -> None:
    index.add_npm("server", manifest={"dependencies": {"nowhere": "^1.0.0"}})
    index.add_wheel("server", requires=("nowhere",))
    target = npm("server", "9.9.9") if ecosystem == "npm" else pypi("server", "9.9.9")
    absent = outcome(cache, index, tmp_path, target)
    assert absent.reason is Reason.NO_VERSION
    assert "server 9.9.9" in absent.detail


@pytest.mark.soak
@pytest.mark.parametrize("ecosystem", ["npm", "pypi"])
def test_an_unknown_dependency_cannot_be_installed(
    cache: Path, index: IndexServer, tmp_path: Path, ecosystem: str
) -> None:
    index.add_npm("server", manifest={"dependencies": {"nowhere": "^1.0.0"}})
    index.add_wheel("server", requires=("nowhere",))
    absent = outcome(cache, index, tmp_path, npm("server") if ecosystem == "npm" else pypi("server"))
    assert absent.reason is Reason.INSTALL_FAILED
    assert "nowhere" in absent.detail
    assert "127.0.0.1" not in absent.detail


@pytest.mark.soak
def test_source_only_package_is_install_failed(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_sdist("from-source")
    absent = outcome(cache, index, tmp_path, pypi("from-source"))
    assert absent.reason is Reason.INSTALL_FAILED
    assert absent.detail.startswith("no wheel to install")


def test_wheel_for_another_platform_is_install_failed(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("other-platform", tag="cp311-cp311-win_amd64")
    assert outcome(cache, index, tmp_path, pypi("other-platform")).reason is Reason.INSTALL_FAILED


@pytest.mark.soak
def test_package_for_another_python_is_runtime_unsupported(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("too-new", python=">=3.99")
    absent = outcome(cache, index, tmp_path, pypi("too-new"))
    assert absent.reason is Reason.RUNTIME_UNSUPPORTED
    assert "3.99" in absent.detail


def test_package_that_unpacks_to_too_much_is_too_large(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_npm("server", files={"big.txt": "x" * (3 << 20)})

    async def run() -> Absent:
        box = await sandbox(cache, index.environ(str(tmp_path)))
        box.installer = replace(box.installer, caps=InstallCaps(size=1 << 20))
        return await refused(box, npm("server"))

    assert asyncio.run(run()).reason is Reason.TOO_LARGE


@pytest.mark.soak
def test_corrupt_tarball_is_install_failed(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_npm("server")
    path = next(iter(index.files))
    index.files[path] = index.files[path][:-20] + b"not the same as it was"[:20]
    absent = outcome(cache, index, tmp_path, npm("server"))
    assert absent.reason is Reason.INSTALL_FAILED


def test_an_index_that_does_not_answer_is_not_held_against_the_package(cache: Path, tmp_path: Path) -> None:
    with IndexServer() as gone:
        environ = gone.environ(str(tmp_path))

    async def run() -> Absent:
        return await refused(await sandbox(cache, environ), npm("server"))

    absent = asyncio.run(run())
    assert (absent.reason, absent.detail) == (
        Reason.NOT_COLLECTED,
        "the package index could not be read (ConnectError)",
    )


def test_credentials_of_the_index_stay_outside(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("server")
    environ = index.environ(str(tmp_path))
    environ["UV_DEFAULT_INDEX"] = environ["UV_DEFAULT_INDEX"].replace("http://", "http://me:topsecret@")

    async def run() -> None:
        box = await sandbox(cache, environ)
        await started(box, pypi("server"))

    asyncio.run(run())
    entries = [json.loads(path.read_text()) for path in (cache / "index").iterdir()]
    assert "topsecret" not in str(entries)


@pytest.mark.parametrize(
    "target",
    [
        npm("../etc/passwd"),
        npm("server", "file:/etc"),
        npm("server", "git+https://host.example/x"),
        npm("server", "npm:other@1"),
        pypi("server @ https://host.example/x.whl"),
        pypi("server", "1.0; import os"),
        pypi("-r/etc/passwd"),
    ],
)
def test_requests_that_are_not_plain_names_never_reach_a_tool(
    cache: Path, index: IndexServer, tmp_path: Path, target: Target
) -> None:
    absent = outcome(cache, index, tmp_path, target)
    assert absent.reason is Reason.NO_PACKAGE
    assert index.asked == []


def test_a_start_is_identified_without_an_installation_until_the_package_changes(
    cache: Path, index: IndexServer, tmp_path: Path
) -> None:
    index.add_wheel("server", "1.0.0")
    environ = index.environ(str(tmp_path))

    async def identify(hours: int, target: Target) -> tuple[str | None, list[str]]:
        index.asked.clear()
        box = await sandbox(cache, environ, now=lambda: NOON + timedelta(hours=hours))
        return await box.identify(target), list(index.asked)

    async def install(hours: int, target: Target) -> None:
        assert not isinstance(
            await (await sandbox(cache, environ, now=lambda: NOON + timedelta(hours=hours))).prepare(target), Absent
        )

    async def run() -> None:
        newest, pinned = pypi("server"), pypi("server", "1.0.0")
        assert await identify(0, newest) == (None, [])
        await install(0, newest)
        first, asked = await identify(1, newest)
        assert first is not None and asked == []
        assert (await identify(25, newest))[0] == first
        assert await identify(25, pinned) == (first, [])
        for layer in (cache / "layers").iterdir():
            shutil.rmtree(layer)
        assert await identify(25, pinned) == (first, [])
        index.add_wheel("server", "1.1.0")
        assert (await identify(50, newest))[0] is None
        assert (await identify(50, pinned))[0] == first
        await install(50, newest)
        assert (await identify(50, newest))[0] not in {None, first}

    asyncio.run(run())
