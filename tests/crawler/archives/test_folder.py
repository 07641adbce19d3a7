"""A folder is read like an archive: only the author's files, never through a link, never written to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.archives import ArchiveWalk, Bounds, Folder
from crawler.archives.folder import IGNORED, INSTALLED
from crawler.archives.ignore_rules import IgnoreRules
from crawler.archives.published_files import ReleaseContents
from tests.durations import cpu_below


@contextmanager
def opened(folder: Path) -> Iterator[Folder]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield Folder(descriptor)
    finally:
        os.close(descriptor)


def fill(root: Path, *paths: str) -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)


def read(root: Path, *, project: str = "", bounds: Bounds | None = None) -> tuple[ArchiveWalk, dict[str, bytes | None]]:
    with opened(root) as folder:
        walk = ArchiveWalk(folder, lambda _: 1_000, project=project, bounds=bounds)
        return walk, {member.path: member.data for member in walk}


def test_installed_code_and_caches_are_not_the_authors(tmp_path: Path) -> None:
    fill(tmp_path, "server.py", "src/a.ts", "node_modules/x/index.js", ".venv/lib/a.py", "src/__pycache__/a.pyc")
    fill(tmp_path, "env/pyvenv.cfg", "env/lib/b.py", "target/CACHEDIR.TAG", "target/x.rs", ".git/HEAD", ".git/config")
    walk, found = read(tmp_path)
    assert list(found) == ["server.py", ".git/config", "src/a.ts"]
    assert found["src/a.ts"] == b"src/a.ts"
    assert walk.complete


def test_ignored_files_are_left_out_by_the_nearest_rule(tmp_path: Path) -> None:
    fill(tmp_path, "a.log", "keep.log", "dist/x.js", "src/dist/y.js", "src/secret.env", "src/sub/secret.env")
    (tmp_path / ".gitignore").write_text("*.log\n!keep.log\n/dist/\n# a comment\n\n")
    (tmp_path / "src/.gitignore").write_text("/secret.env\n")
    _, found = read(tmp_path)
    assert set(found) == {".gitignore", "keep.log", "src/.gitignore", "src/dist/y.js", "src/sub/secret.env"}


@pytest.mark.parametrize(
    ("pattern", "path", "is_folder", "ignored"),
    [
        ("build", "a/b/build", False, True),
        ("build/", "build", False, False),
        ("build/", "a/build", True, True),
        ("/build", "a/build", True, False),
        ("a/*.js", "a/x.js", False, True),
        ("a/*.js", "a/b/x.js", False, False),
        ("a/**/x", "a/x", False, True),
        ("a/**/x", "a/b/c/x", False, True),
        ("**/logs", "x/y/logs", True, True),
        ("*.[oa]", "x.o", False, True),
        ("*.[!oa]", "x.o", False, False),
        (r"\#x", "#x", False, True),
        (r"\!x", "!x", False, True),
        (r"a\ b", "a b", False, True),
        (r"a\*b", "a*b", False, True),
        (r"a\*b", "axb", False, False),
        ("[^a]", "b", False, True),
        ("[^a]", "a", False, False),
        ("[[:alpha:]_]x", "Bx", False, True),
        ("[[:alpha:]_]x", "_x", False, True),
        ("[[:alpha:]_]x", "1x", False, False),
        ("[![:upper:]]", "a", False, True),
        ("[![:upper:]]", "A", False, False),
        ("[[:nope:]a]", "a", False, False),
        ("[[:a]", ":", False, True),
        ("[a-c]", "b", False, True),
        ("[a-]", "-", False, True),
        ("[]a]", "]", False, True),
        (r"[\]b]", "]", False, True),
        ("[!a]", "/", False, False),
        ("x[a/b]", "xb", False, True),
        ("x[a/b]", "y/xb", False, False),
        ("[a", "a", False, False),
        ("a/**", "a", True, False),
        ("a/**", "a/b/c", False, True),
    ],
)
def test_patterns_mean_what_git_says(pattern: str, path: str, is_folder: bool, ignored: bool) -> None:
    assert IgnoreRules().extend("", pattern.encode()).ignores(path, is_folder=is_folder) is ignored


def test_a_hostile_pattern_is_matched_in_little_time(tmp_path: Path) -> None:
    rules = IgnoreRules().extend("", ("*a" * 400 + "b").encode())
    assert not rules.ignores("a" * 250, is_folder=False)
    deep = IgnoreRules().extend("", ("**/" * 300 + "x").encode())
    assert not deep.ignores("/".join("y" * 40), is_folder=False)


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    fill(outside, "id_rsa", "folder/key")
    fill(project, "server.py")
    (project / "file").symlink_to(outside / "id_rsa")
    (project / "folder").symlink_to(outside / "folder")
    (project / ".gitignore").symlink_to(outside / "id_rsa")
    walk, found = read(project)
    assert list(found) == ["server.py"]
    assert {(skip.path, skip.why) for skip in walk.skipped} == {
        (".gitignore", "a link"),
        ("file", "a link"),
        ("folder", "a link"),
    }
    assert walk.complete


def test_a_file_that_becomes_a_link_while_it_is_read_is_refused(tmp_path: Path) -> None:
    fill(tmp_path / "outside", "key")
    project = tmp_path / "project"
    fill(project, "a", "b")
    with opened(project) as folder:
        walk = ArchiveWalk(folder, lambda _: 1_000)
        members = iter(walk)
        assert next(members).path == "a"
        (project / "b").unlink()
        (project / "b").symlink_to(tmp_path / "outside/key")
        assert list(members) == []
    assert [(skip.path, skip.why) for skip in walk.skipped] == [("b", "it cannot be opened")]
    assert not walk.complete


def test_a_folder_that_becomes_a_link_while_it_is_read_is_refused(tmp_path: Path) -> None:
    fill(tmp_path / "outside", "key")
    project = tmp_path / "project"
    fill(project, "a", "b/c")
    with opened(project) as folder:
        walk = ArchiveWalk(folder, lambda _: 1_000)
        members = iter(walk)
        assert next(members).path == "a"
        (project / "b/c").unlink()
        (project / "b").rmdir()
        (project / "b").symlink_to(tmp_path / "outside")
        assert list(members) == []
    assert [(skip.path, skip.why) for skip in walk.skipped] == [("b", "the folder cannot be opened")]


def test_a_file_that_becomes_a_folder_while_it_is_read_is_refused(tmp_path: Path) -> None:
    fill(tmp_path, "a", "b")
    with opened(tmp_path) as folder:
        walk = ArchiveWalk(folder, lambda _: 1_000)
        members = iter(walk)
        assert next(members).path == "a"
        (tmp_path / "b").unlink()
        (tmp_path / "b").mkdir()
        assert list(members) == []
    assert [(skip.path, skip.why) for skip in walk.skipped] == [("b", "it cannot be opened")]


def test_a_project_whose_name_is_not_utf8_is_read(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"bad\xff")
    fill(folder, "server.py")
    _, found = read(tmp_path, project="bad%FF")
    assert list(found) == ["bad%FF/server.py"]


def test_pipes_and_large_files_are_not_read(tmp_path: Path) -> None:
    fill(tmp_path, "a")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"x" * 2_000)
    walk, found = read(tmp_path)
    assert found == {"a": b"a", "large": None}
    assert [skip.path for skip in walk.skipped] == ["large"]


def test_the_number_of_entries_bounds_the_walk_also_in_folders_that_are_left_out(tmp_path: Path) -> None:
    fill(tmp_path, *(f"src/{number}.py" for number in range(50)))
    walk, _ = read(tmp_path, bounds=Bounds(entries=20))
    assert walk.ended == "more than 20 entries"
    assert not walk.complete


def test_a_folder_that_is_too_deep_hides_no_other_file(tmp_path: Path) -> None:
    fill(tmp_path, "a/b/c/d/deep.py", "z/server.py")
    walk, found = read(tmp_path, bounds=Bounds(depth=2))
    assert set(found) == {"z/server.py"}
    assert [(skip.path, skip.why) for skip in walk.skipped] == [("a/b/c", "more than 2 folders deep")]
    assert not walk.complete


def test_of_a_repository_only_the_project_and_shared_documents_are_read(tmp_path: Path) -> None:
    fill(tmp_path, "LICENSE", ".github/workflows/ci.yml", "servers/a/a.py", "servers/b/b.py", "other/c.py")
    (tmp_path / ".gitignore").write_text("servers\n")
    _, found = read(tmp_path, project="servers/a")
    assert set(found) == {".gitignore", "LICENSE", ".github/workflows/ci.yml", "servers/a/a.py"}


def test_many_patterns_cost_little_more_than_few() -> None:
    lines = [f"name{at}\n*.ext{at}\n/dir{at}/sub/*.js\n**/foo{at}/\na{at}*b?c\n" for at in range(400)]
    rules = IgnoreRules().extend("", "".join(lines).encode())
    paths = [f"src/pkg{at % 50}/file{at}.ts" for at in range(12_000)]
    with cpu_below(2.0):
        assert not any(rules.ignores(path, is_folder=False) for path in paths)
    assert rules.ignores("src/x.ext399", is_folder=False)


@pytest.mark.parametrize(
    ("release", "files"),
    [
        (ReleaseContents(), set()),
        (ReleaseContents(has_npm=True), {"p/.env", "p/dist/x.js", "p/src/key.py"}),
        (ReleaseContents(has_npm=True, npm=("/dist", "!/dist/*.map")), {"p/dist/x.js"}),
        (ReleaseContents(python=("/src/**/*.py", "!/src/key.py")), set()),
        (ReleaseContents(python=("/src/**/*.py",)), {"p/src/key.py"}),
    ],
)
def test_an_ignored_file_is_read_if_a_release_holds_it(
    tmp_path: Path, release: ReleaseContents, files: set[str]
) -> None:
    fill(tmp_path, ".gitignore", "p/.env", "p/dist/x.js", "p/dist/x.map", "p/src/key.py", "p/src/a.py", "p/local/.env")
    (tmp_path / ".gitignore").write_text(".env\ndist/\nkey.py\n*.map\n")
    (tmp_path / "p/.npmignore").write_text("local\n*.map\n")
    with opened(tmp_path) as folder:
        walk = ArchiveWalk(folder, lambda _: 9, project="p", release=replace(release, folder="p"))
        found = {member.path for member in walk}
    assert found == files | {".gitignore", "p/.npmignore", "p/src/a.py"}
    assert walk.folder is not None
    assert set(walk.folder.published) == files
    assert walk.folder.left_out["p/local/.env"] == IGNORED
    assert any(path.startswith("p/dist") for path in walk.folder.left_out)


def test_installed_code_that_is_left_out_is_named(tmp_path: Path) -> None:
    fill(tmp_path, "node_modules/x.js", "env/pyvenv.cfg", "a.js")
    with opened(tmp_path) as folder:
        walk = ArchiveWalk(folder, lambda _: 9)
        list(walk)
    assert walk.folder is not None
    assert walk.folder.left_out == {"node_modules": INSTALLED, "env": INSTALLED}
