"""A package in a file of this machine is installed and started like one of an index."""

from __future__ import annotations

import asyncio
import json
import zipfile
from pathlib import Path

import pytest

from crawler.launcher import LaunchedServer
from crawler.sandbox.install.package_file import read_package_file
from crawler.sandbox.package_spec import PackageSpec
from evidence.canonical import Json
from evidence.model import Absent, Reason, Target, TargetType
from tests.crawler.sandbox.driving import greet, sandbox
from tests.crawler.sandbox.index_server import IndexServer, make_tarball, make_wheel


def take_from_index(index: IndexServer, name: str, folder: Path) -> Path:
    """Move a package from the index into a file: the author has not published it."""
    path = next(each for each in index.files if name in each)
    file = folder / path.rsplit("/", 1)[-1]
    file.write_bytes(index.files.pop(path))
    index.npm.pop(name, None)
    index.simple.pop(name.replace("_", "-"), None)
    return file


def launch(cache: Path, index: IndexServer, home: Path, *files: Path) -> list[tuple[Json, LaunchedServer] | Absent]:
    async def one(file: Path) -> tuple[Json, LaunchedServer] | Absent:
        box = await sandbox(cache, index.environ(str(home)))
        launched = await box.launch(Target(type=TargetType.COMMAND, identifier=str(file)))
        return launched if isinstance(launched, Absent) else (await greet(launched), launched)

    async def run() -> list[tuple[Json, LaunchedServer] | Absent]:
        return [await one(file) for file in files]

    return asyncio.run(run())


@pytest.mark.sandbox
@pytest.mark.parametrize(("name", "version"), [("dependency", "^2.0.0"), ("alias", "npm:dependency@^2.0.0")])
def test_a_tarball_of_npm_starts_with_its_dependencies(
    cache: Path, index: IndexServer, tmp_path: Path, name: str, version: str
) -> None:
    index.add_npm("dependency", "2.1.0")
    server = f"""#!/usr/bin/env node
        require("{name}/package.json");
        process.stdin.once("data", () => console.log(JSON.stringify({{started: true}})));"""
    index.add_npm("unpublished", manifest={"dependencies": {name: version}}, files={"server.js": server})
    file = take_from_index(index, "unpublished", tmp_path)
    file.chmod(0o600)
    [found, again] = launch(cache, index, tmp_path, file, file)
    assert not isinstance(found, Absent), found
    assert not isinstance(again, Absent), again
    said, launched = found
    assert said == {"started": True}
    assert (launched.facts["package"], launched.facts["version"]) == ("npm:unpublished", "1.0.0")
    assert not any("unpublished" in path for path in index.asked)
    assert again[1].facts["layer"] == launched.facts["layer"]


@pytest.mark.sandbox
def test_a_wheel_starts_with_its_dependencies(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("a-library", "3.0")
    index.add_wheel("time-teller", "1.5", requires=("a-library",))
    file = take_from_index(index, "time_teller", tmp_path)
    [found] = launch(cache, index, tmp_path, file)
    assert not isinstance(found, Absent), found
    said, launched = found
    assert said == {"hello": [], "name": "time-teller", "you": "friend"}
    assert (launched.facts["package"], launched.facts["version"]) == ("pypi:time-teller", "1.5")


@pytest.mark.sandbox
def test_another_content_under_the_same_name_is_installed_again(
    cache: Path, index: IndexServer, tmp_path: Path
) -> None:
    index.add_npm("thing")
    file = take_from_index(index, "thing", tmp_path)
    [first] = launch(cache, index, tmp_path, file)
    index.add_npm("thing", files={"extra.js": "1"})
    file = take_from_index(index, "thing", tmp_path)
    [second] = launch(cache, index, tmp_path, file)
    assert not isinstance(first, Absent)
    assert not isinstance(second, Absent)
    assert first[1].facts["layer"] != second[1].facts["layer"]


@pytest.mark.sandbox
def test_a_file_that_changes_after_its_manifest_was_read_is_not_installed(
    cache: Path, index: IndexServer, tmp_path: Path
) -> None:
    index.add_npm("thing")
    file = take_from_index(index, "thing", tmp_path)

    async def run() -> LaunchedServer | Absent:
        box = await sandbox(cache, index.environ(str(tmp_path)))
        box._files[str(file)] = read_package_file(file)
        index.add_npm("thing", files={"extra.js": "1"})
        take_from_index(index, "thing", tmp_path)
        return await box.launch(Target(type=TargetType.COMMAND, identifier=str(file)))

    assert asyncio.run(run()) == Absent(Reason.NOT_COLLECTED, "the file changed while it was scanned")


def write(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


@pytest.mark.parametrize(
    ("name", "content", "reason", "said"),
    [
        ("a-1.0.tar.gz", {"PKG-INFO": "Name: a\nVersion: 1.0\n"}, Reason.NOT_COLLECTED, "scan the wheel"),
        ("a-1.0.tgz", {"package.json": "["}, Reason.INSTALL_FAILED, "its package.json cannot be read"),
        ("a-1.0.tgz", {"package.json": '{"name": "../x", "version": "1.0.0"}'}, Reason.NO_PACKAGE, "not an npm"),
        ("a-1.0.tgz", {"package.json": '{"name": 3}'}, Reason.INSTALL_FAILED, "no name or no version"),
        ("a-1.0.tgz", {"x.js": ""}, Reason.INSTALL_FAILED, "it is no package"),
    ],
)
def test_a_file_that_cannot_be_installed_says_why(
    tmp_path: Path, name: str, content: dict[str, str], reason: Reason, said: str
) -> None:
    found = read_package_file(write(tmp_path, name, make_tarball(content)))
    assert isinstance(found, Absent)
    assert found.reason is reason
    assert said in found.detail


@pytest.mark.parametrize(
    ("dependencies", "needs"),
    [
        ({"alias": "npm:other@1", "plain": "^1.0.0 || 2"}, "plain"),
        ({"own": "file:own", "fork": "user/fork", "far": "https://host.example/x.tgz", "@a/b": "*"}, "@a/b"),
        ({"\ud800": "1", "../x": "1", "n": 3}, ""),
        (["plain"], ""),
    ],
)
def test_the_index_is_asked_about_a_dependency_that_comes_from_it(
    tmp_path: Path, dependencies: Json, needs: str
) -> None:
    manifest = json.dumps({"name": "a", "version": "1.0.0", "dependencies": dependencies})
    found = read_package_file(write(tmp_path, "a-1.0.0.tgz", make_tarball({"package.json": manifest})))
    assert isinstance(found, PackageSpec)
    assert found.file is not None
    assert found.file.needs == needs


def test_a_wheel_states_name_version_and_python(tmp_path: Path) -> None:
    content = {"t/__init__.py": "", "t/package.json": '{"name": "x", "version": "1.0.0"}'}
    data = make_wheel("time-teller", "1.5", content, {}, ("a-library>=2",), ">=3.8", "py3-none-any")
    found = read_package_file(write(tmp_path, "time_teller-1.5-py3-none-any.whl", data))
    assert isinstance(found, PackageSpec)
    assert found.file is not None
    assert (found.name, found.version) == ("time-teller", "1.5")
    assert (found.file.needs, found.file.requires_python) == ("a-library", ">=3.8")
    wrong = read_package_file(write(tmp_path, "other-1.5-py3-none-any.whl", data))
    assert isinstance(wrong, Absent)
    assert "another package" in wrong.detail


def test_a_damaged_or_missing_file_is_a_reason(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a-1-py3-none-any.whl", "w"):
        pass
    for file in (tmp_path / "a-1-py3-none-any.whl", tmp_path / "missing.tgz"):
        assert isinstance(read_package_file(file), Absent)
