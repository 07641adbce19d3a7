"""What a project is called, where its repository begins, and how it is started."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from crawler.projects.manifests import read_manifests
from crawler.projects.project import ARCHIVE, WHOLE, describe_archive, describe_folder
from crawler.projects.start_command import Start, build_target, find_start
from evidence.model import TargetType


def package(folder: Path, **members: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"name": "my-server", "version": "1.2.3", **members}))


def start(folder: Path) -> Start | str:
    return find_start(*describe_folder(folder))


def touch(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()


def test_the_name_is_that_of_the_manifest_and_the_root_that_of_the_repository(tmp_path: Path) -> None:
    package(tmp_path / "packages/server")
    (tmp_path / ".git").mkdir()
    project, _ = describe_folder(tmp_path / "packages/server")
    assert (project.name, project.version) == ("my-server", "1.2.3")
    assert (project.root, project.subfolder, project.origin) == (tmp_path, "packages/server", WHOLE)


def test_a_name_that_is_not_utf8_is_shown_as_text_and_still_found(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"bad\xff")
    folder.mkdir()
    (folder / "setup.py").touch()
    (tmp_path / ".git").mkdir()
    project, _ = describe_folder(folder)
    assert (project.name, project.path_in_repository) == ("bad%FF", "bad%FF")
    assert project.folder == folder
    archive = folder / os.fsdecode(b"bad\xff-1.0.0.tgz")
    assert describe_archive(archive).name == "bad%FF"


@pytest.mark.parametrize("name", ["package.json", "pyproject.toml", "server.json"])
def test_a_manifest_that_is_a_folder_or_a_pipe_is_named_as_unread(tmp_path: Path, name: str) -> None:
    (tmp_path / "a" / name).mkdir(parents=True)
    (tmp_path / "b").mkdir()
    os.mkfifo(tmp_path / "b" / name)
    for folder in (tmp_path / "a", tmp_path / "b"):
        assert read_manifests(folder).unread == (f"{name} cannot be read as a file",)


def test_a_path_that_no_file_can_have_starts_nothing(tmp_path: Path) -> None:
    package(tmp_path, bin="a" * 5_000)
    found = start(tmp_path)
    assert isinstance(found, str)
    assert "which does not exist" in found
    assert len(found) < 1_000


def test_a_repository_around_the_home_folder_is_not_the_projects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".git").mkdir()
    package(tmp_path / "code")
    project, _ = describe_folder(tmp_path / "code")
    assert (project.root, project.subfolder, project.origin) == (tmp_path / "code", "", ARCHIVE)


@pytest.mark.parametrize(
    ("file", "name", "version", "strip"),
    [
        (
            "modelcontextprotocol-server-everything-2026.8.31.tgz",
            "modelcontextprotocol-server-everything",
            "2026.8.31",
            1,
        ),
        ("my_server-1.0-py3-none-any.whl", "my-server", "1.0", 0),
        ("my_server-1.0rc1.tar.gz", "my-server", "1.0rc1", 1),
        ("server.tgz", "server", "", 1),
    ],
)
def test_an_archive_is_named_by_its_file(tmp_path: Path, file: str, name: str, version: str, strip: int) -> None:
    found = describe_archive(tmp_path / file)
    assert (found.origin, found.name, found.version, found.strip) == (ARCHIVE, name, version, strip)


@pytest.mark.parametrize(
    ("members", "words", "stated"),
    [
        ({"bin": "dist/a.js"}, ("node", "dist/a.js"), "`bin` of package.json (my-server)"),
        ({"bin": {"x": "b.js", "my-server": "dist/a.js"}}, ("node", "dist/a.js"), "`bin` of package.json (my-server)"),
        ({"bin": {"other": "dist/a.js"}}, ("node", "dist/a.js"), "`bin` of package.json (other)"),
        ({"scripts": {"start": "node dist/a.js --stdio"}}, ("node", "dist/a.js", "--stdio"), "`scripts.start`"),
        ({"bin": "missing.js", "main": "./dist/a.js"}, ("node", "dist/a.js"), "`main` of package.json"),
    ],
)
def test_package_json_says_how_the_server_starts(
    tmp_path: Path, members: dict[str, Any], words: tuple[str, ...], stated: str
) -> None:
    package(tmp_path, **members)
    touch(tmp_path, "dist/a.js")
    found = start(tmp_path)
    assert isinstance(found, Start)
    assert found.words == words
    assert found.stated_in.startswith(stated)


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"bin": "dist/a.js"}, "names dist/a.js, which does not exist: build the project first"),
        ({"bin": "../../bin/sh"}, "leads out of the folder"),
        ({"scripts": {"start": "npm run build && node x.js"}}, "needs a shell"),
        ({"scripts": {"start": "node $(touch pwned)"}}, "needs a shell"),
        ({}, "expected `bin`, `main` or `scripts.start` in package.json"),
        ({"bin": 7, "main": [], "scripts": {"start": {}}}, "expected `bin`"),
    ],
)
def test_what_cannot_start_is_said_with_what_to_do(tmp_path: Path, members: dict[str, Any], why: str) -> None:
    package(tmp_path, **members)
    found = start(tmp_path)
    assert isinstance(found, str)
    assert why in found
    assert "hallmark scan FOLDER -- COMMAND" in found


def test_an_entry_point_of_python_is_started_from_the_source(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "My-Server"\n[project.scripts]\nother = "x:y"\nmy_server = "my_server.cli:app.main"\n'
    )
    found = start(tmp_path)
    assert isinstance(found, Start)
    assert found.words[:2] == ("python", "-c")
    assert "importlib.import_module('my_server.cli')" in found.words[2]
    assert "'app.main'.split('.')" in found.words[2]


def test_a_module_with_main_is_started_when_no_script_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "my-server"\n')
    touch(tmp_path, "src/my_server/__main__.py")
    assert start(tmp_path) == Start(("python", "-m", "my_server"), "my_server/__main__.py")


def test_several_scripts_of_other_names_are_a_question_for_the_author(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a"\n[project.scripts]\nb = "b:x"\nc = "c:x"\n')
    found = start(tmp_path)
    assert isinstance(found, str)
    assert "has 2 commands, none named as the project" in found


def test_server_json_adds_arguments_and_variables(tmp_path: Path) -> None:
    package(tmp_path, bin="a.js")
    touch(tmp_path, "a.js")
    declared = {
        "registryType": "npm",
        "identifier": "my-server",
        "version": "1.2.3",
        "transport": {"type": "stdio"},
        "packageArguments": [
            {"type": "positional", "value": "serve"},
            {"type": "named", "name": "--root", "isRequired": True},
        ],
        "environmentVariables": [
            {"name": "API_KEY", "isRequired": True, "isSecret": True},
            {"name": "MODE", "value": "x"},
        ],
    }
    (tmp_path / "server.json").write_text(json.dumps({"name": "io.example/my-server", "packages": [declared]}))
    project, manifests = describe_folder(tmp_path)
    found = find_start(project, manifests)
    assert isinstance(found, Start)
    target = build_target(project, found, manifests)
    assert target.type is TargetType.COMMAND
    assert target.arguments == ("node", "a.js", "serve")
    assert target.environment == (("MODE", "x"),)
    assert {(each.name, each.at) for each in target.inputs} == {("API_KEY", 2), ("--root", 3)}


def test_modules_of_a_workspace_are_found_above_the_project(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    touch(tmp_path, "node_modules/x/index.js", "packages/server/a.js")
    package(tmp_path / "packages/server", bin="a.js")
    project, manifests = describe_folder(tmp_path / "packages/server")
    found = find_start(project, manifests)
    assert isinstance(found, Start)
    target = build_target(project, found, manifests)
    assert (target.identifier, target.arguments) == (str(tmp_path), ("node", "packages/server/a.js"))


@pytest.mark.parametrize("text", ["{", "[]", '"x"', "[" * 100_000])
def test_a_damaged_manifest_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "package.json").write_text(text)
    (tmp_path / "pyproject.toml").write_text("a = " + "[" * 5_000)
    found = read_manifests(tmp_path)
    assert (found.npm, found.python) == (None, None)
    assert [why.split(" ")[0] for why in found.unread] == ["package.json", "pyproject.toml"]


def test_a_manifest_that_is_a_link_or_a_pipe_is_not_opened(tmp_path: Path) -> None:
    import os

    (tmp_path / "outside.json").write_text('{"name": "x"}')
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "package.json").symlink_to(tmp_path / "outside.json")
    os.mkfifo(folder / "server.json")
    found = read_manifests(folder)
    assert found.name == ""
    assert len(found.unread) == 2


def test_the_repository_of_the_manifest_is_that_of_the_server(tmp_path: Path) -> None:
    package(tmp_path, repository={"url": "git+https://github.com/Example/Tools.git", "directory": "packages/server"})
    assert read_manifests(tmp_path).repository == "https://github.com/example/tools#packages/server"
