"""Declared ranges: which the lockfiles show, and which versions they admit."""

from __future__ import annotations

import json

import pytest

from evidence.lockfiles import FORMATS, Ecosystem, Lockfile, parse_lockfile
from evidence.lockfiles.lockfile import MAX_RANGES, MAX_TEXT, bound_ranges
from evidence.lockfiles.ranges import admits_version
from tests.evidence.lockfiles.samples import SAMPLES


@pytest.mark.parametrize(
    ("declared", "admitted", "refused"),
    [
        ("", "0.0.1 9.9.9", ""),
        ("*", "0.0.1", ""),
        ("1.2.3", "1.2.3", "1.2.4 1.2.2"),
        ("v1.2", "1.2.0 1.2.9", "1.3.0"),
        ("1.x", "1.0.0 1.9.9", "2.0.0 0.9.9"),
        ("^1.2.3", "1.2.3 1.9.0", "1.2.2 2.0.0"),
        ("^0.2.3", "0.2.9", "0.3.0"),
        ("^0.0.3", "0.0.3", "0.0.4"),
        ("^0", "0.9.9", "1.0.0"),
        ("~1.2.3", "1.2.9", "1.3.0"),
        ("~1", "1.9.9", "2.0.0"),
        (">= 1.2 < 2", "1.2.0 1.9.9", "1.1.9 2.0.0"),
        (">1", "2.0.0", "1.9.9"),
        ("<=1.2", "1.2.9", "1.3.0"),
        ("1.2 - 2", "1.2.0 2.9.9", "3.0.0"),
        ("^1 || ^3", "1.5.0 3.0.0", "2.0.0"),
        ("^1.0.0-rc.1", "1.0.0", "2.0.0"),
        ("=1.0.0-rc.1", "", "1.0.0"),
        (">x", "", "1.0.0"),
    ],
)
def test_ranges_of_npm_admit_what_npm_installs(declared: str, admitted: str, refused: str) -> None:
    for version in admitted.split():
        assert admits_version(Ecosystem.NPM, declared, version) is True, version
    for version in refused.split():
        assert admits_version(Ecosystem.NPM, declared, version) is False, version


@pytest.mark.parametrize(
    ("ecosystem", "declared", "version"),
    [
        (Ecosystem.NPM, "latest", "1.0.0"),
        (Ecosystem.NPM, "workspace:^", "1.0.0"),
        (Ecosystem.NPM, "^1", "1.0.0-rc.1"),
        (Ecosystem.NPM, "1" * 999, "1.0.0"),
        (Ecosystem.PYPI, "^1", "1.0"),
        (Ecosystem.PYPI, ">=1", "2.0rc1"),
        (Ecosystem.CRATES, "^1", "1.0.0"),
    ],
)
def test_what_is_not_understood_is_unknown(ecosystem: Ecosystem, declared: str, version: str) -> None:
    assert admits_version(ecosystem, declared, version) is None


def test_ranges_of_python_follow_pep_440() -> None:
    assert admits_version(Ecosystem.PYPI, ">=1,<2", "1.5") is True
    assert admits_version(Ecosystem.PYPI, "~=1.4", "2.0") is False
    assert admits_version(Ecosystem.PYPI, "*", "2.0") is True


def test_a_place_in_node_modules_must_suit_the_packages_that_find_it() -> None:
    packages = {
        "": {"dependencies": {"oak": "^1.0.0", "elm": "1"}, "devDependencies": {"leaf": "^1.1.0"}},
        "node_modules/oak": {"version": "1.0.0", "dependencies": {"leaf": "~1.1.2"}},
        "node_modules/elm": {"version": "1.0.0", "dependencies": {"leaf": "2", "tree": "npm:wood@^3"}},
        "node_modules/elm/node_modules/leaf": {"version": "2.0.0"},
        "node_modules/leaf": {"version": "1.1.5"},
        "node_modules/tree": {"version": "3.0.0", "name": "wood"},
    }
    assert ranges("package-lock", json.dumps({"lockfileVersion": 3, "packages": packages})) == {
        "oak@1.0.0": (("", "^1.0.0"),),
        "elm@1.0.0": (("", "1"),),
        "leaf@1.1.5": (("", "^1.1.0"), ("oak", "~1.1.2")),
        "leaf@2.0.0": (("elm", "2"),),
        "wood@3.0.0": (("elm", "^3"),),
    }


@pytest.mark.parametrize("name", [name for name, sample in SAMPLES.items() if sample.format in {"yarn", "bun"}])
def test_each_locked_version_suits_its_ranges(name: str) -> None:
    sample = SAMPLES[name]
    found = parse_lockfile(FORMATS[sample.format], sample.text.encode())
    assert isinstance(found, Lockfile)
    judged = [
        admits_version(one.ecosystem, declared, str(one.version))
        for one in found.dependencies
        for _, declared in one.ranges
    ]
    assert True in judged
    assert False not in judged


def test_yarn_shows_the_package_that_declares_a_range() -> None:
    text = (
        "# yarn lockfile v1\n\n"
        'left@^1.0.0, left@^1.2.0:\n  version "1.2.5"\n\n'
        'right@^2.0.0:\n  version "2.0.0"\n  dependencies:\n    left "^1.2.0"\n'
    )
    assert ranges("yarn", text)["left@1.2.5"] == (("", "^1.0.0"), ("right", "^1.2.0"))


def test_bun_shows_the_package_that_declares_a_range() -> None:
    lock = {
        "lockfileVersion": 1,
        "workspaces": {"": {"name": "own", "dependencies": {"right": "^2.0.0"}}},
        "packages": {
            "right": ["right@2.0.0", "", {"dependencies": {"left": "^1.2.0"}}],
            "left": ["left@1.2.5", "", {}],
        },
    }
    assert ranges("bun", json.dumps(lock)) == {
        "left@1.2.5": (("right", "^1.2.0"),),
        "right@2.0.0": (("", "^2.0.0"),),
    }


def test_of_too_many_ranges_or_an_address_none_is_kept() -> None:
    many = [("a", f"^{number}") for number in range(MAX_RANGES + 1)]
    assert bound_ranges(many[:-1]) == tuple(many[:-1])
    assert bound_ranges(many) == ()
    assert bound_ranges([("a", "^1"), ("b", "git+https://user:token@host/x")]) == ()


@pytest.mark.parametrize("package", ["x" * (MAX_TEXT + 1), "a b", "\x1b[2J", "\ud800"])
def test_of_a_package_with_a_long_or_invalid_name_no_range_is_kept(package: str) -> None:
    assert bound_ranges([(package, "^1")]) == ()


def test_the_ranges_of_a_hostile_lockfile_are_not_much_larger_than_it() -> None:
    needs = "".join(f'    p{number} "^1.0.0"\n' for number in range(100))
    entries = "".join(f'p{number}@^1.0.0:\n  version "1.0.0"\n\n' for number in range(100))
    name = "x" * 50_000
    found = ranges(
        "yarn", f'# yarn lockfile v1\n\n{name}@^1.0.0:\n  version "1.0.0"\n  dependencies:\n{needs}\n{entries}'
    )
    assert "p99@1.0.0" in found
    assert sum(len(text) for pairs in found.values() for pair in pairs for text in pair) < 2 * len(name)


def ranges(form: str, text: str) -> dict[str, tuple[tuple[str, str], ...]]:
    found = parse_lockfile(FORMATS[form], text.encode())
    assert isinstance(found, Lockfile), found
    return {f"{item.name}@{item.version}": item.ranges for item in found.dependencies}
