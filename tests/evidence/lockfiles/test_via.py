"""The direct dependencies that bring a transitive one, in the formats that show it."""

from __future__ import annotations

import json
from itertools import accumulate

import pytest

from evidence.lockfiles import FORMATS, Lockfile, parse_lockfile
from evidence.lockfiles.reachability import find_origins
from tests.durations import cpu_below


def via(form: str, text: str) -> dict[str, tuple[str, ...]]:
    found = parse_lockfile(FORMATS[form], text.encode())
    assert isinstance(found, Lockfile), found
    return {f"{item.name}@{item.version}": item.via for item in found.dependencies}


NPM = {
    "": {"dependencies": {"oak": "1", "elm": "1", "shed": "file:shed"}},
    "node_modules/oak": {"version": "1.0.0", "dependencies": {"leaf": "1"}},
    "node_modules/elm": {"version": "1.0.0", "dependencies": {"leaf": "2", "bark": "1"}},
    "node_modules/elm/node_modules/leaf": {"version": "2.0.0", "dependencies": {"cell": "1"}},
    "node_modules/leaf": {"version": "1.0.0"},
    "node_modules/bark": {"version": "1.0.0", "dependencies": {"cell": "1"}},
    "node_modules/cell": {"version": "1.0.0", "dependencies": {"bark": "1"}},
    "node_modules/shed": {"resolved": "shed", "link": True},
    "node_modules/nail": {"version": "1.0.0"},
    "node_modules/lost": {"version": "1.0.0"},
    "shed": {"version": "1.0.0", "dependencies": {"nail": "1"}},
}


def test_npm_resolves_as_node_does() -> None:
    found = via("package-lock", json.dumps({"lockfileVersion": 3, "packages": NPM}))
    assert found == {
        "oak@1.0.0": (),
        "elm@1.0.0": (),
        "shed@1.0.0": (),
        "leaf@1.0.0": ("oak",),
        "leaf@2.0.0": ("elm",),
        "bark@1.0.0": ("elm",),
        "cell@1.0.0": ("elm",),
        "nail@1.0.0": ("shed",),
        "lost@1.0.0": (),
    }


@pytest.mark.parametrize(
    "places",
    [["node_modules/" + "o" * 300_000], list(accumulate(["node_modules/x"] * 120, "{}/{}".format))],
    ids=["long", "deep"],
)
def test_a_long_or_deep_place_costs_no_time_for_each_need(places: list[str]) -> None:
    direct = places[0].removeprefix("node_modules/")
    entries: dict[str, object] = {"": {"dependencies": {direct: "1"}}}
    entries |= {place: {"version": "1.0.0", "dependencies": {direct: "1"}} for place in places}
    entries[places[-1]] = {"version": "1.0.0", "dependencies": {f"d{number}": "1" for number in range(20_000)}}
    text = json.dumps({"lockfileVersion": 3, "packages": entries}).encode()
    with cpu_below(0.6):
        parse_lockfile(FORMATS["package-lock"], text)


UV = """
version = 1
[[package]]
name = "own"
version = "1"
source = { editable = "." }
dependencies = [{ name = "httpx" }, { name = "anyio" }]
[[package]]
name = "httpx"
version = "1"
source = { registry = "r" }
dependencies = [{ name = "h11" }, { name = "idna" }]
[[package]]
name = "anyio"
version = "1"
source = { registry = "r" }
dependencies = [{ name = "idna" }]
[[package]]
name = "h11"
version = "1"
source = { registry = "r" }
[[package]]
name = "idna"
version = "1"
source = { registry = "r" }
"""
PNPM = """
lockfileVersion: '9.0'
importers:
  .:
    dependencies:
      oak: {specifier: ^1.0.0, version: 1.0.0}
packages:
  oak@1.0.0: {resolution: {integrity: x}}
  '@tree/leaf@2.0.0': {resolution: {integrity: x}}
snapshots:
  oak@1.0.0:
    dependencies:
      '@tree/leaf': 2.0.0
  '@tree/leaf@2.0.0': {}
"""
BUN = """{"lockfileVersion": 1, "workspaces": {"": {"dependencies": {"@tree/oak": "1"}}}, "packages": {
 "@tree/oak": ["@tree/oak@1.0.0", "", {"dependencies": {"leaf": "1"}}, "sha512-A"],
 "leaf": ["leaf@1.0.0", "", {}, "sha512-A"]}}"""


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("uv", UV, {"httpx@1": (), "anyio@1": (), "h11@1": ("httpx",), "idna@1": ("anyio", "httpx")}),
        ("pnpm", PNPM, {"oak@1.0.0": (), "@tree/leaf@2.0.0": ("oak",)}),
        ("bun", BUN, {"@tree/oak@1.0.0": (), "leaf@1.0.0": ("@tree/oak",)}),
    ],
)
def test_formats_with_edges_name_the_direct_dependency(
    form: str, text: str, expected: dict[str, tuple[str, ...]]
) -> None:
    assert via(form, text) == expected


def test_a_graph_is_followed_at_most_three_times() -> None:
    followed: list[str] = []
    chain = {f"r{number:03}": "c0" for number in range(200)}
    chain |= {f"c{number}": f"c{number + 1}" for number in range(500)}

    def next_of(node: str) -> list[str]:
        followed.append(node)
        return [chain[node]] if node in chain else []

    found = find_origins((name for name in chain if name.startswith("r")), next_of)
    assert found["c500"] == ["r000", "r001", "r002"]
    assert len(followed) == 200 + 3 * 501
