"""The choice of a Python for a package, and the message if none fits."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from crawler.sandbox.toolchain import host, index_queries, pythons
from crawler.sandbox.toolchain.host import Interpreter
from crawler.sandbox.toolchain.package_indexes import PythonIndex
from crawler.sandbox.toolchain.pythons import Pythons, examine_interpreter, find_interpreters
from evidence.launch_options import LaunchOptions
from evidence.model import Absent, Reason, Target, TargetType
from tests.crawler.sandbox.driving import greet, sandbox
from tests.crawler.sandbox.index_server import IndexServer

OURS = host.find_own_interpreter()
OLDER = replace(OURS, version="3.5", release="3.5.0")
"""What we would be if the only Python that there really is were another one than ours."""


def releases(them: Pythons, requirement: str | None) -> list[str]:
    return [each.release for each in them.allowed(requirement)]


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> Pythons:
    """Ours is 3.11; of four others one cannot be started."""

    def examine(binary: Path) -> Interpreter | None:
        version = binary.name
        return None if version == "3.12" else replace(OURS, version=version, release=f"{version}.4")

    monkeypatch.setattr(pythons, "examine_interpreter", examine)
    others = {version: [Path(version)] for version in ("3.14", "3.10", "3.12", "3.13")}
    return Pythons(replace(OURS, version="3.11", release="3.11.7"), others)


@pytest.mark.parametrize(
    ("requirement", "first"),
    [
        (None, "3.11.7"),
        (">=3.10", "3.11.7"),
        (">=3.12", "3.13.4"),
        (">=3.14", "3.14.4"),
        ("<3.11", "3.10.4"),
        ("!=3.11.*", "3.13.4"),
        (">=3.11.8,<3.13", None),
        ("no specifier at all", "3.11.7"),
    ],
)
def test_a_package_gets_ours_or_the_nearest_that_it_allows(many: Pythons, requirement: str, first: str | None) -> None:
    assert next(iter(releases(many, requirement)), None) == first


@pytest.mark.parametrize(
    ("wanted", "first"), [("3.14", "3.14.4"), ("3.10", "3.11.7"), ("3.12", "3.11.7"), ("3.99", "3.11.7")]
)
def test_a_registered_python_comes_first_if_it_is_there_and_allowed(many: Pythons, wanted: str, first: str) -> None:
    assert next(many.allowed(">=3.11", wanted)).release == first


def test_no_other_interpreter_starts_when_ours_is_allowed(many: Pythons, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pythons, "examine_interpreter", pytest.fail)
    assert next(many.allowed(">=3.9")).release == "3.11.7"


def test_an_unusable_interpreter_is_described(many: Pythons) -> None:
    assert many.describe() == "3.11.7 (Hallmark's), 3.13.4, 3.14.4, 3.10.4; not usable: 3.12"
    assert Pythons(many.own).describe() == "3.11.7 (Hallmark's), no other"


def test_pythons_are_found_on_path_and_where_pyenv_and_uv_keep_them(tmp_path: Path) -> None:
    places = {
        "bin/python3.31": OURS.binary,
        ".pyenv/versions/3.32.1/bin/python3.32": OURS.binary,
        ".pyenv/versions/3.32.10/bin/python3.32": OURS.binary,
        ".local/share/uv/python/cpython-3.33.0-linux/bin/python3.33": OURS.binary,
        "bin/python3.9": OURS.binary,
        "bin/python3.34t": OURS.binary,
        "bin/python3.35": None,  # a script, as pyenv's shims are
        f"bin/python{OURS.version}": OURS.binary,
    }
    for place, binary in places.items():
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if binary:
            path.symlink_to(binary)
        else:
            path.write_text("#!/bin/sh\n")
    environ = {"HOME": str(tmp_path), "PATH": f"relative:{tmp_path}/bin:{tmp_path}/nowhere"}
    found = find_interpreters(environ)
    assert found.names == ["3.31", "3.32", "3.33"]
    assert [path.parts[-3] for path in found.others["3.32"]] == ["3.32.10", "3.32.1"]
    assert find_interpreters(environ, "3.33, 3.31").names == ["3.31", "3.33"]
    assert find_interpreters(environ, "own").names == []
    elsewhere = {"PYENV_ROOT": f"{tmp_path}/.pyenv", "UV_PYTHON_INSTALL_DIR": f"{tmp_path}/.local/share/uv/python"}
    assert find_interpreters(elsewhere).names == ["3.32", "3.33"]


def test_a_binary_is_believed_what_it_says_and_not_what_it_is_called(tmp_path: Path) -> None:
    assert examine_interpreter(OURS.binary) == OURS
    (tmp_path / "python3.31").symlink_to(OURS.binary)
    (tmp_path / "python3.32").symlink_to("/bin/true")
    found = find_interpreters({"PATH": str(tmp_path)})
    assert found.names == ["3.31", "3.32"]
    assert [*found.usable()] == [OURS]


@pytest.mark.parametrize("is_json", [True, False])
def test_the_index_tells_which_pythons_the_asked_version_is_for(is_json: bool) -> None:
    files = {
        "thing-1.0-py3-none-any.whl": ">=3.9",
        "thing-2.0.tar.gz": ">=3.7",
        "thing-2.0-py3-none-any.whl": ">=3.12",
        "thing-3.0a1-py3-none-any.whl": ">=3.14",
    }
    rows = [
        {"filename": name, "url": f"/{name}", "hashes": {"sha256": "00"}, "requires-python": text}
        for name, text in files.items()
    ]
    links = "".join(
        f'<a href="/{name}#sha256=00" data-requires-python="{text.replace(">", "&gt;")}">{name}</a>'
        for name, text in files.items()
    )

    def answer(_: httpx.Request) -> httpx.Response:
        kind = {"content-type": "text/html"}
        return httpx.Response(200, json={"files": rows}) if is_json else httpx.Response(200, text=links, headers=kind)

    async def ask(version: str | None) -> str | None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
            found = await index_queries.query_python_indexes(
                PythonIndex("http://127.0.0.1/simple", ()), "thing", version, http
            )
        assert isinstance(found, index_queries.IndexAnswer)
        return found.requires_python

    assert [asyncio.run(ask(version)) for version in (None, "1.0", "3.0a1")] == [">=3.12", ">=3.9", ">=3.14"]


@pytest.mark.sandbox
def test_a_package_that_ours_does_not_suit_runs_on_another(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("modern", python=">=3.8")

    async def run() -> None:
        box = await sandbox(cache, index.environ(str(tmp_path)), python="own")
        usual = await box.prepare(pypi("modern"))
        box.others.pythons = Pythons(OLDER, {OURS.version: [OURS.binary]})
        box.known = replace(box.known, pythons=[OURS.version])
        launched = await box.launch(pypi("modern"))
        assert not isinstance(launched, Absent), launched
        assert isinstance(await greet(launched), dict)
        assert launched.facts["python"] == OURS.version
        found = await box.prepare(pypi("modern"))
        assert not isinstance(found, Absent)
        assert not isinstance(usual, Absent)
        assert (usual.python, found.python) == ("", OURS.version)
        asked = len(index.asked)
        again = await box.prepare(pypi("modern"))
        assert (again, len(index.asked)) == (found, asked)

    asyncio.run(run())


@pytest.mark.sandbox
def test_a_package_gets_the_python_that_its_registration_names(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    index.add_wheel("chosen", python=">=3.4")

    async def run() -> None:
        box = await sandbox(cache, index.environ(str(tmp_path)), python="own")
        box.others.pythons = Pythons(OLDER, {OURS.version: [OURS.binary]})
        box.known = replace(box.known, pythons=[OURS.version])
        targets = [replace(pypi("chosen"), launch=LaunchOptions(python=name)) for name in (OURS.version, "3.99", "")]
        found = [await box.prepare(target) for target in targets]
        assert [each if isinstance(each, Absent) else each.python for each in found] == [OURS.version, "", ""]

    asyncio.run(run())


@pytest.mark.sandbox
@pytest.mark.parametrize("through", ["itself", "a dependency"])
def test_a_package_that_no_python_suits_says_what_it_needs_and_what_there_is(
    cache: Path, index: IndexServer, tmp_path: Path, through: str
) -> None:
    index.add_wheel("too-new", python=">=3.99")
    index.add_wheel("outer", requires=("too-new",))

    async def run() -> Absent:
        box = await sandbox(cache, index.environ(str(tmp_path)), python="own")
        found = await box.launch(pypi("too-new" if through == "itself" else "outer"))
        assert isinstance(found, Absent), found
        return found

    absent = asyncio.run(run())
    assert absent.reason is Reason.RUNTIME_UNSUPPORTED
    for word in ("3.99", OURS.version, "HALLMARK_SANDBOX_PYTHONS"):
        assert word in absent.detail


@pytest.mark.sandbox
@pytest.mark.soak
def test_every_python_of_this_machine_starts_a_server(cache: Path, index: IndexServer, tmp_path: Path) -> None:
    """Builds a root file system for each: some 20 s of a processor and 350 MB."""
    others = [each.version for each in find_interpreters(os.environ).usable()][1:]
    if not others:
        pytest.skip("there is no other Python on this machine")
    (cache / "rootfs").unlink()
    for version in others:
        index.add_wheel(f"on-{version.replace('.', '-')}", python=f"=={version}.*")

    async def run() -> dict[str, object]:
        found = {}
        box = await sandbox(cache, {**os.environ, **index.environ(str(tmp_path)), "HOME": os.environ["HOME"]})
        for version in others:
            launched = await box.launch(pypi(f"on-{version.replace('.', '-')}"))
            assert not isinstance(launched, Absent), launched
            assert isinstance(await greet(launched), dict)
            found[version] = launched.facts["python"]
        return found

    assert asyncio.run(run()) == {version: version for version in others}


def pypi(name: str) -> Target:
    return Target(type=TargetType.PYPI, identifier=name)
