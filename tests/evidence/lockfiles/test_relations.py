"""What belongs to the project and what does not, in locks with workspaces, folders, overrides and extras."""

from __future__ import annotations

import json

from evidence.lockfiles import FORMATS, Lockfile, parse_lockfile
from tests.evidence.lockfiles.samples import short


def read(form: str, text: str) -> list[str]:
    found = parse_lockfile(FORMATS[form], text.encode())
    assert isinstance(found, Lockfile), found
    assert found.faults == ()
    return [short(item) for item in found.dependencies]


def npm(packages: dict[str, object]) -> list[str]:
    return read("package-lock", json.dumps({"lockfileVersion": 3, "packages": packages}))


def test_a_folder_that_is_asked_for_by_its_path_is_no_workspace_of_npm() -> None:
    assert npm({
        "": {"workspaces": ["parts/*"], "dependencies": {"shed": "file:shed"}},
        "node_modules/barn": {"resolved": "parts/barn", "link": True},
        "node_modules/shed": {"resolved": "shed", "link": True},
        "node_modules/rake": {"version": "1.0.0"},
        "node_modules/spade": {"version": "2.0.0"},
        "parts/barn": {"version": "0.1.0", "dependencies": {"rake": "1"}},
        "shed": {"version": "0.2.0", "dependencies": {"spade": "2"}},
    }) == [
        "barn 0.1.0 direct workspace",
        "rake 1.0.0 direct registry",
        "shed 0.2.0 direct path",
        "spade 2.0.0 transitive registry",
    ]  # fmt: skip


def test_the_name_of_a_linked_folder_may_be_that_of_its_place() -> None:
    found = parse_lockfile(
        FORMATS["package-lock"],
        json.dumps({
            "lockfileVersion": 3,
            "packages": {
                "": {"dependencies": {"tool": "file:lib/@farm/hoe"}},
                "node_modules/tool": {"resolved": "lib/@farm/hoe", "link": True},
                "lib/@farm/hoe": {"version": "1.0.0"},
            },
        }).encode(),
    )  # fmt: skip
    assert isinstance(found, Lockfile)
    assert [(item.name, item.alias, item.location) for item in found.dependencies] == [
        ("@farm/hoe", "tool", "lib/@farm/hoe")
    ]


def test_a_tarball_of_a_registry_that_bun_took_by_its_address_is_kept() -> None:
    text = """{"lockfileVersion": 1, "workspaces": {"": {"dependencies": {"oak": "https://r.example/elm/-/elm-1.0.0.tgz"}},
      "part": {"name": "part"}}, "packages": {"oak": ["elm@https://r.example/elm/-/elm-1.0.0.tgz", {}, "sha512-A"],
      "part": ["part@workspace:part"]}}"""
    assert read("bun", text) == [
        "elm ?https://r.example/elm/-/elm-1.0.0.tgz direct url",
        "part ?workspace:part direct workspace",
    ]


UV = """
[manifest]
members = ["farm", "mill"]

[[package]]
name = "farm"
source = { virtual = "." }
dependencies = [{ name = "axle", extra = ["grease"] }, { name = "cart" }]

[[package]]
name = "mill"
version = "0.1.0"
source = { editable = "mill" }
dependencies = [{ name = "stone" }]

[[package]]
name = "cart"
version = "0.2.0"
source = { editable = "../cart" }
dependencies = [{ name = "wheel-of-cart" }]

[[package]]
name = "axle"
version = "1.0.0"
source = { registry = "https://index.example/simple" }

[package.optional-dependencies]
grease = [{ name = "tallow" }]

[[package]]
name = "stone"
version = "1.1.0"

[[package]]
name = "tallow"
version = "1.2.0"

[[package]]
name = "wheel-of-cart"
version = "1.3.0"
"""


def test_an_extra_that_the_project_asks_for_is_needed_and_an_editable_neighbour_is_no_member() -> None:
    assert read("uv", UV) == [
        "axle 1.0.0 direct registry",
        "cart 0.2.0 direct path",
        "mill 0.1.0 direct workspace",
        "stone 1.1.0 direct registry",
        "tallow 1.2.0 transitive registry",
        "wheel-of-cart 1.3.0 transitive registry",
    ]


BERRY = """__metadata:
  version: 8

"farm@workspace:.":
  version: 0.0.0-use.local
  resolution: "farm@workspace:."
  dependencies:
    oak: "npm:^4.0.0"
    shed: "file:./shed"

"oak@npm:4.1.0":
  version: 4.1.0
  resolution: "oak@npm:4.1.0"

"shed@file:./shed::locator=farm%40workspace%3A.":
  version: 0.3.0
  resolution: "shed@file:./shed#./shed::hash=12ab&locator=farm%40workspace%3A."
"""


def test_what_the_project_names_is_direct_when_yarn_writes_its_range_in_another_way() -> None:
    assert read("yarn", BERRY) == ["oak 4.1.0 direct registry", "shed 0.3.0 direct path"]
    found = parse_lockfile(FORMATS["yarn"], BERRY.encode())
    assert isinstance(found, Lockfile)
    assert [item.location for item in found.dependencies] == [None, "./shed"]


def test_a_pnpm_folder_without_a_version_is_identified_by_its_path() -> None:
    text = """lockfileVersion: '6.0'

dependencies:
  shed:
    specifier: file:./shed
    version: file:shed

packages:

  file:shed:
    resolution: {directory: shed, type: directory}
    name: shed
    dev: false
"""
    assert read("pnpm", text) == ["shed ?shed direct path"]


def test_what_is_for_development_and_optional_is_not_called_needed_where_pnpm_flags_neither() -> None:
    text = """lockfileVersion: 5.4

specifiers:
  gate: 1.0.0
  hinge: 1.1.0

optionalDependencies:
  gate: 1.0.0

devDependencies:
  hinge: 1.1.0

packages:

  /gate/1.0.0:
    dependencies:
      nail: 1.2.0
    dev: false
    optional: true

  /hinge/1.1.0:
    dependencies:
      nail: 1.2.0
    dev: true

  /nail/1.2.0:
    resolution: {integrity: sha512-A}
"""
    assert read("pnpm", text) == [
        "gate 1.0.0 direct registry optional",
        "hinge 1.1.0 direct registry dev",
        "nail 1.2.0 transitive registry dev optional",
    ]


def test_of_two_versions_of_a_crate_only_the_one_that_is_named_is_direct() -> None:
    source = 'source = "registry+https://index.example"'
    text = f"""version = 3

[[package]]
name = "farm"
version = "0.1.0"
dependencies = [
 "gate",
 "nail 2.0.0",
]

[[package]]
name = "gate"
version = "1.0.0"
{source}
dependencies = [
 "nail 1.0.0 (registry+https://index.example)",
]

[[package]]
name = "nail"
version = "1.0.0"
{source}

[[package]]
name = "nail"
version = "2.0.0"
{source}
"""
    assert read("cargo", text) == [
        "farm 0.1.0 direct workspace",
        "gate 1.0.0 direct registry",
        "nail 1.0.0 transitive registry",
        "nail 2.0.0 direct registry",
    ]


def test_a_package_that_needs_itself_for_an_extra_is_still_named_by_the_project() -> None:
    entries = """
[[package]]
name = "axle"
version = "1.0.0"

[[package]]
name = "axle"
version = "1.0.0"
extras = ["grease"]
dependencies = ["axle==1.0.0", "tallow>=1"]

[[package]]
name = "tallow"
version = "1.2.0"
"""
    expected = ["axle 1.0.0 direct registry", "tallow 1.2.0 unstated registry"]
    assert read("pdm", '[metadata]\nlock_version = "4.5.0"\n' + entries) == expected
    poetry = """[[package]]
name = "Axle"
version = "1.0.0"
[package.dependencies]
axle = {version = "1.0.0", extras = ["grease"]}
tallow = ">=1"

[[package]]
name = "tallow"
version = "1.2.0"

[metadata]
lock-version = "2.1"
"""
    assert read("poetry", poetry) == expected
