"""The packages of an installed, untrusted tree."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from crawler.sandbox import InstalledTree
from crawler.sandbox.install.package_inventory import TreeLimits, read_tree
from evidence.model import Absent, Reason, Target, TargetType
from tests.crawler.sandbox.driving import sandbox
from tests.crawler.sandbox.index_server import IndexServer
from tests.durations import cpu_below

Row = tuple[str, str, str, str]


def put(tree: Path, files: Mapping[str, object]) -> None:
    """Write files; anything but text becomes JSON."""
    for name, content in files.items():
        place = tree / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")


def node(tree: Path, place: str, name: str, version: str = "1.0.0", **members: object) -> None:
    """An npm package in a tree."""
    put(tree, {f"node_modules/{place}/package.json": {"name": name, "version": version, **members}})


def wheel(tree: Path, name: str, version: str, *needs: str) -> None:
    """The metadata of an installed distribution."""
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {n}" for n in needs)]
    put(
        tree, {f"{name.replace('-', '_')}-{version}.dist-info/METADATA": "\n".join([*lines, "", "Name: no header", ""])}
    )


def npm_tree(tree: Path, limits: TreeLimits | None = None) -> InstalledTree:
    """What is read of the layer of `top`."""
    return read_tree(tree, TargetType.NPM, "top", "1.0.0", limits)


def rows(found: InstalledTree) -> list[Row]:
    """The packages as tuples."""
    return [(one.name, one.version, one.relation, one.path) for one in found.packages]


def unread(found: InstalledTree) -> list[tuple[str, str]]:
    """What was left out."""
    return [(one.path, one.why) for one in found.unread]


def test_npm_packages_have_the_ranges_that_they_must_suit(tmp_path: Path) -> None:
    node(tmp_path, "top", "top", dependencies={"a": "^1"}, devDependencies={"b": "^9"})
    node(tmp_path, "a", "a", dependencies={"b": "~2.1"})
    node(tmp_path, "b", "b", version="1.0.0")
    node(tmp_path, "a/node_modules/b", "b", version="2.1.3")
    assert {one.path: one.ranges for one in npm_tree(tmp_path).packages} == {
        "node_modules/a": (("", "^1"),),
        "node_modules/b": (),
        "node_modules/a/node_modules/b": (("a", "~2.1"),),
    }


def test_python_packages_have_the_ranges_that_they_must_suit(tmp_path: Path) -> None:
    wheel(tmp_path, "top", "1.0", "A.b (>=1,<2)", "c[x]>=3", "d; python_version > '3.9'", "e")
    wheel(tmp_path, "a-b", "1.5", "c <4", "e==2; extra == 'y'")
    wheel(tmp_path, "c", "3.1")
    wheel(tmp_path, "d", "2.0")
    wheel(tmp_path, "e", "2.0")
    found = read_tree(tmp_path, TargetType.PYPI, "top", "1.0")
    assert {one.name: one.ranges for one in found.packages} == {
        "a-b": (("", ">=1,<2"),),
        "c": (("a-b", "<4"), ("", ">=3")),
        "d": (("", ""),),
        "e": (),
    }


def test_a_second_requirement_of_a_python_package_takes_no_range_away(tmp_path: Path) -> None:
    wheel(tmp_path, "top", "1.0", "a<2", "a[x]; extra == 'x'", "b>1", "b<3; python_version < '3.9'")
    wheel(tmp_path, "a", "1.5")
    wheel(tmp_path, "b", "2.0")
    found = read_tree(tmp_path, TargetType.PYPI, "top", "1.0")
    assert {one.name: one.ranges for one in found.packages} == {"a": (("", "<2"),), "b": ()}


@pytest.mark.parametrize("end", ["(x", "^", ") ^"])
def test_a_hostile_requirement_costs_little(tmp_path: Path, end: str) -> None:
    wheel(tmp_path, "top", "1.0", *(f"a{' ' * 800}{end}" for _ in range(10)))
    wheel(tmp_path, "a", "1.5")
    began = time.process_time()
    assert len(read_tree(tmp_path, TargetType.PYPI, "top", "1.0").packages) == 1
    assert time.process_time() - began < 1


def test_a_tree_that_is_not_read_completely_has_no_ranges(tmp_path: Path) -> None:
    node(tmp_path, "top", "top", dependencies={"a": "^1"})
    node(tmp_path, "a", "a")
    put(tmp_path, {"node_modules/b/package.json": "no JSON"})
    assert [one.ranges for one in npm_tree(tmp_path).packages] == [()]


def test_direct_and_transitive_packages_are_distinguished(tmp_path: Path) -> None:
    node(tmp_path, "top", "top", dependencies={"a": "^1", "@s/b": "*"}, optionalDependencies={"c": "1", "absent": "1"})
    node(tmp_path, "a", "a", "1.2.3")
    node(tmp_path, "@s/b", "@s/b")
    node(tmp_path, "c", "c")
    node(tmp_path, "d", "d", "0.1.0-beta.1+build")
    found = npm_tree(tmp_path)
    assert (found.name, found.version, found.ecosystem, found.complete) == ("top", "1.0.0", "npm", True)
    assert rows(found) == [
        ("@s/b", "1.0.0", "direct", "node_modules/@s/b"),
        ("a", "1.2.3", "direct", "node_modules/a"),
        ("c", "1.0.0", "direct", "node_modules/c"),
        ("d", "0.1.0-beta.1+build", "transitive", "node_modules/d"),
    ]


def test_of_two_copies_the_one_that_node_finds_is_direct(tmp_path: Path) -> None:
    node(tmp_path, "top", "top", dependencies={"a": "2", "b": "1"})
    node(tmp_path, "a", "a", "1.0.0")
    node(tmp_path, "top/node_modules/a", "a", "2.0.0")
    node(tmp_path, "b", "b")
    node(tmp_path, "b/node_modules/a", "a", "3.0.0")
    assert rows(npm_tree(tmp_path)) == [
        ("a", "1.0.0", "transitive", "node_modules/a"),
        ("a", "2.0.0", "direct", "node_modules/top/node_modules/a"),
        ("a", "3.0.0", "transitive", "node_modules/b/node_modules/a"),
        ("b", "1.0.0", "direct", "node_modules/b"),
    ]


def test_a_scoped_server_is_not_its_own_dependency(tmp_path: Path) -> None:
    node(tmp_path, "@s/top", "@s/top", dependencies={"a": "1"})
    node(tmp_path, "a", "a")
    assert rows(read_tree(tmp_path, TargetType.NPM, "@s/top", "1.0.0")) == [("a", "1.0.0", "direct", "node_modules/a")]


def test_an_aliased_package_is_called_by_its_own_name(tmp_path: Path) -> None:
    node(tmp_path, "top", "top", dependencies={"old-a": "npm:a@1"})
    node(tmp_path, "old-a", "a")
    assert rows(npm_tree(tmp_path)) == [("a", "1.0.0", "direct", "node_modules/old-a")]


def test_manifests_that_mark_no_package_are_not_read(tmp_path: Path) -> None:
    node(tmp_path, "top", "top")
    put(
        tmp_path,
        {
            "node_modules/top/dist/cjs/package.json": {"type": "commonjs"},
            "node_modules/top/test/node_modules/x/package.json": {"name": "x", "version": "1.0.0"},
            "node_modules/.bin/package.json": {"name": "y", "version": "1.0.0"},
            "node_modules/.package-lock.json": {},
        },
    )
    found = npm_tree(tmp_path)
    assert (rows(found), found.complete) == ([], True)


def test_distributions_are_named_as_their_index_normalises_them(tmp_path: Path) -> None:
    wheel(tmp_path, "Top.Server", "1.0", "Needed_One>=2; python_version > '3'", "extra-thing ; extra == 'x'", "(broken")
    wheel(tmp_path, "needed-one", "2.1")
    wheel(tmp_path, "Other", "3.0.post1", "needed-one")
    found = read_tree(tmp_path, TargetType.PYPI, "top-server", "1.0")
    assert rows(found) == [
        ("needed-one", "2.1", "direct", "needed_one-2.1.dist-info"),
        ("other", "3.0.post1", "transitive", "Other-3.0.post1.dist-info"),
    ]
    assert found.complete


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "it is not a JSON object"),
        ("{", "it is not a JSON object"),
        ("[]", "it is not a JSON object"),
        ("[" * 5000 + "]" * 5000, "it is not a JSON object"),
        ({}, "it has no name and version"),
        ({"name": "../../x", "version": "1"}, "it has no name and version"),
        ({"name": "x", "version": 1}, "it has no name and version"),
        ({"name": "x", "version": "1.0.0\n2"}, "it has no name and version"),
        ({"name": ["x"], "version": None}, "it has no name and version"),
        ({"name": "x", "version": "1" * 257}, "it has no name and version"),
    ],
)
def test_a_broken_manifest_is_listed_as_unread(tmp_path: Path, content: object, why: str) -> None:
    node(tmp_path, "top", "top", dependencies={"x": "1"})
    node(tmp_path, "good", "good")
    put(tmp_path, {"node_modules/x/package.json": content})
    found = npm_tree(tmp_path)
    assert [row[0] for row in rows(found)] == ["good"]
    assert unread(found) == [("node_modules/x/package.json", why)]
    assert not found.complete


@pytest.mark.parametrize(
    "text", ["", "Name: x\n", "Version: 1\n", "Name: \nVersion: 1\n", "\x00\x00", "Name x\n\nName: x"]
)
def test_broken_metadata_is_listed_as_unread(tmp_path: Path, text: str) -> None:
    wheel(tmp_path, "top", "1.0", "x")
    put(tmp_path, {"x-1.dist-info/METADATA": text})
    (tmp_path / "y-1.dist-info").mkdir()
    found = read_tree(tmp_path, TargetType.PYPI, "top", "1.0")
    assert rows(found) == []
    assert unread(found) == [
        ("x-1.dist-info/METADATA", "it has no name and version"),
        ("y-1.dist-info/METADATA", "it cannot be opened as a file"),
    ]


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    node(outside, "secret", "secret")
    node(tree, "top", "top", dependencies={"linked": "1", "file": "1", "secret": "1"})
    modules = tree / "node_modules"
    (modules / "linked").symlink_to(outside / "node_modules/secret")
    (modules / "@scope").symlink_to(outside / "node_modules")
    (modules / "file").mkdir()
    (modules / "file/package.json").symlink_to(outside / "node_modules/secret/package.json")
    (modules / "top/node_modules").symlink_to(outside / "node_modules")
    found = npm_tree(tree)
    assert rows(found) == []
    assert unread(found) == [("node_modules/file/package.json", "it cannot be opened as a file")]


def test_a_server_behind_a_link_has_no_direct_dependencies(tmp_path: Path) -> None:
    node(tmp_path / "outside", "top", "top", dependencies={"a": "1"})
    node(tmp_path / "tree", "a", "a")
    (tmp_path / "tree/node_modules/top").symlink_to(tmp_path / "outside/node_modules/top")
    assert rows(npm_tree(tmp_path / "tree")) == [("a", "1.0.0", "transitive", "node_modules/a")]


def test_what_is_no_file_does_not_block(tmp_path: Path) -> None:
    node(tmp_path, "top", "top")
    for name in ("fifo", "folder"):  # opening a FIFO waits for a writer
        (tmp_path / "node_modules" / name).mkdir()
    os.mkfifo(tmp_path / "node_modules/fifo/package.json")
    (tmp_path / "node_modules/folder/package.json").mkdir()
    assert unread(npm_tree(tmp_path)) == [
        ("node_modules/fifo/package.json", "it is not a regular file"),
        ("node_modules/folder/package.json", "it is not a regular file"),
    ]


def test_links_in_circles_and_deep_nesting_end(tmp_path: Path) -> None:
    place = "top"
    node(tmp_path, place, "top")
    for level in range(40):
        place += f"/node_modules/n{level}"
        node(tmp_path, place, f"n{level}")
    (tmp_path / "node_modules/loop").symlink_to(tmp_path / "node_modules")
    found = npm_tree(tmp_path)
    assert len(found.packages) == 31
    assert [why for _, why in unread(found)] == ["nested more than 32 deep"]


@pytest.mark.parametrize(
    ("limits", "packages", "why"),
    [
        (TreeLimits(packages=5), 5, "more than 5 packages"),
        (TreeLimits(entries=7), 7, "more than 7 entries"),
        (TreeLimits(manifest=60), 10, "more than 60 bytes"),
        (TreeLimits(total=200), None, "more than 200 bytes of manifests"),
    ],
)
def test_bounds_leave_out_the_rest_and_say_so(
    tmp_path: Path, limits: TreeLimits, packages: int | None, why: str
) -> None:
    node(tmp_path, "a-large-one", "large", padding="x" * 100)
    for n in range(10):
        node(tmp_path, f"p{n}", f"p{n}")
    found = npm_tree(tmp_path, limits)
    assert why in {reason for _, reason in unread(found)}
    assert packages is None or len(found.packages) <= packages
    assert found.packages
    assert not found.complete


def test_the_list_of_what_was_left_out_is_bounded(tmp_path: Path) -> None:
    for n in range(30):
        (tmp_path / f"node_modules/p{n}").mkdir(parents=True)
    assert len(npm_tree(tmp_path, TreeLimits(unread=7)).unread) == 7


def test_a_name_that_no_text_can_hold_is_shown_escaped(tmp_path: Path) -> None:
    node(tmp_path, "good", "good")
    os.mkdir(os.fsencode(tmp_path / "node_modules") + b"/\xff\x1b[31m")
    found = npm_tree(tmp_path)
    assert unread(found) == [("node_modules/\\udcff\\x1b[31m/package.json", "it cannot be opened as a file")]
    json.dumps([one.path for one in found.unread]).encode()


def test_an_empty_tree_holds_nothing(tmp_path: Path) -> None:
    for ecosystem in (TargetType.NPM, TargetType.PYPI):
        found = read_tree(tmp_path / "nowhere", ecosystem, "top", "1.0.0")
        assert (found.packages, found.complete) == ((), True)


@pytest.mark.soak
def test_a_tree_of_twenty_thousand_packages_takes_seconds(tmp_path: Path) -> None:
    for n in range(20_500):
        node(tmp_path, f"p{n}", f"p{n}")
    with cpu_below(20):
        found = npm_tree(tmp_path)
    assert (len(found.packages), found.complete) == (20_000, False)


@pytest.mark.sandbox
def test_a_package_is_installed_to_be_read_and_never_started(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_npm("dep", "1.5.0", manifest={"dependencies": {"deeper": "^2"}})
    index.add_npm("deeper", "2.0.1")
    index.add_npm(
        "top", "1.0.0", manifest={"dependencies": {"dep": "^1"}, "scripts": {"postinstall": "touch /app/ran"}}
    )

    async def twice() -> tuple[InstalledTree | Absent, InstalledTree | Absent, int]:
        box = await sandbox(cache, index.environ(str(tmp_path)))
        first = await box.installed(Target(type=TargetType.NPM, identifier="top", version="1.0.0"))
        asked = len(index.asked)
        return first, await box.installed(Target(type=TargetType.NPM, identifier="top", version="1.0.0")), asked

    first, second, asked = asyncio.run(twice())
    assert isinstance(first, InstalledTree), first
    assert [row[:3] for row in rows(first)] == [("deeper", "2.0.1", "transitive"), ("dep", "1.5.0", "direct")]
    assert second == first
    assert len(index.asked) == asked
    assert not list(cache.glob("layers/*/ran"))


@pytest.mark.soak
@pytest.mark.sandbox
def test_the_distributions_of_a_python_package_are_read(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("dep", "1.5", requires=("deeper",))
    index.add_wheel("deeper", "2.0")
    index.add_wheel("top", "1.0", requires=("dep",))

    async def once() -> InstalledTree | Absent:
        box = await sandbox(cache, index.environ(str(tmp_path)))
        return await box.installed(Target(type=TargetType.PYPI, identifier="top"))

    found = asyncio.run(once())
    assert isinstance(found, InstalledTree), found
    assert (found.name, found.version) == ("top", "1.0")
    assert [row[:3] for row in rows(found)] == [("deeper", "2.0", "transitive"), ("dep", "1.5", "direct")]


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (Target(type=TargetType.NPM, identifier="nobody"), Reason.NO_PACKAGE),
        (Target(type=TargetType.NPM, identifier="a b"), Reason.NO_PACKAGE),
        (Target(type=TargetType.OCI, identifier="example/x"), Reason.RUNTIME_UNSUPPORTED),
    ],
)
def test_what_cannot_be_installed_has_no_tree(
    cache: Path, index: IndexServer, tmp_path: Path, target: Target, reason: Reason
) -> None:
    async def once() -> InstalledTree | Absent:
        box = await sandbox(cache, index.environ(str(tmp_path)))
        return await box.installed(target)

    found = asyncio.run(once())
    assert isinstance(found, Absent)
    assert found.reason is reason
