"""Untrusted trees: settled, hashed, and checked for changes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.sandbox.layers import trees


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A settled tree with a program, a module and a link."""
    top = tmp_path / "tree"
    (top / "inner").mkdir(parents=True)
    (top / "inner/file").write_text("x")
    (top / "program").write_text("#!/bin/sh\n")
    (top / "program").chmod(0o755)
    (top / "link").symlink_to("inner/file")
    trees.settle_tree(top)
    return top


def names(top: Path) -> list[str]:
    return sorted(path.name for path in top.rglob("*"))


def test_links_that_leave_a_tree_and_special_files_are_removed(tree: Path) -> None:
    (tree / "inner/up").symlink_to("../../../etc/passwd")
    (tree / "inner/absolute").symlink_to("/etc/passwd")
    (tree / "inner/self").symlink_to("self")
    os.mkfifo(tree / "fifo")
    (tree / "inner/file").chmod(0o6777)
    trees.settle_tree(tree)
    assert set(names(tree)) - {"self"} == {"file", "inner", "link", "program"}
    assert stat.S_IMODE((tree / "inner/file").stat().st_mode) == 0o555


def test_a_way_out_that_is_hidden_in_a_chain_of_links_is_removed(tree: Path) -> None:
    (tree.parent / "secret").write_text("of the host")
    (tree / "here").symlink_to(".")
    (tree / "through").symlink_to("here/../secret")
    assert (tree / "through").read_text() == "of the host"
    trees.settle_tree(tree)
    assert names(tree) == ["file", "here", "inner", "link", "program"]


def test_a_file_with_a_second_name_outside_becomes_a_file_of_its_own(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("as it was")
    os.link(outside, tree / "inside")
    trees.settle_tree(tree)
    outside.write_text("changed from outside")
    assert (tree / "inside").read_text() == "as it was"


def test_a_folder_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    top = tmp_path / "tree"
    top.mkdir()
    here = os.open(top, os.O_DIRECTORY)
    for _ in range(30):  # beyond the longest path that a system call takes
        os.mkdir("d" * 200, dir_fd=here)
        inner = os.open("d" * 200, os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    with pytest.raises(OSError, match="too long"):
        trees.settle_tree(top)
    trees.remove_tree(top)
    assert not top.exists()


def test_a_link_is_removed_and_not_what_it_leads_to(tree: Path) -> None:
    tree.chmod(0o555)
    (tree.parent / "link").symlink_to(tree)
    trees.remove_tree(tree.parent / "link")
    assert not (tree.parent / "link").is_symlink()
    assert tree.stat().st_mode & 0o777 == 0o555
    assert names(tree) == ["file", "inner", "link", "program"]


def test_a_manifest_that_is_too_large_is_not_read(tree: Path) -> None:
    (tree / "package.json").write_text("{" + " " * 100 + "}")
    assert trees.read_file(tree / "package.json") == b"{" + b" " * 100 + b"}"
    with pytest.raises(ValueError, match="more than 50 bytes"):
        trees.read_file(tree / "package.json", 50)


def test_equal_trees_have_one_name_and_others_another(tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "inner").mkdir(parents=True)
    (other / "program").write_text("#!/bin/sh\n")
    (other / "program").chmod(0o700)
    (other / "inner/file").write_text("x")
    (other / "link").symlink_to("inner/file")
    trees.settle_tree(other)
    same = trees.content_digest(other)
    assert same == trees.content_digest(tree)
    (other / "link").unlink()
    (other / "link").symlink_to("program")
    assert trees.content_digest(other) != same


def _overwrite(tree: Path) -> None:
    """Change a byte and pretend that nothing happened."""
    path = tree / "inner/file"
    before = path.stat()
    path.chmod(0o644)
    path.write_text("y")
    path.chmod(0o444)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _replace(tree: Path) -> None:
    (tree.parent / "new").write_text("y")
    (tree.parent / "new").replace(tree / "inner/file")


def _add(tree: Path) -> None:
    (tree / "node_modules.js").write_text("")


def _relink(tree: Path) -> None:
    (tree / "link").unlink()
    (tree / "link").symlink_to("/etc/passwd")


def _link_elsewhere(tree: Path) -> None:
    os.link(tree / "inner/file", tree.parent / "second-name")


def _exchange(tree: Path) -> None:
    (tree / "program").rename(tree / "aside")
    (tree / "inner/file").rename(tree / "program")
    (tree / "aside").rename(tree / "inner/file")


@pytest.mark.parametrize("change", [_overwrite, _replace, _add, _relink, _link_elsewhere, _exchange])
def test_no_change_is_unseen(tree: Path, change: Callable[[Path], None]) -> None:
    before = trees.metadata_digest(tree)
    assert trees.metadata_digest(tree) == before
    change(tree)
    assert trees.metadata_digest(tree) != before
