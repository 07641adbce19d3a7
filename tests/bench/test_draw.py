"""The draw of packages can be repeated, and takes npm and Python packages only."""

from __future__ import annotations

from bench.draw import draw
from bench.packages import name_of

SERVERS = [
    {"packages": [{"registryType": kind, "identifier": f"thing-{number}", "version": "1.0.0"}]}
    for number in range(20)
    for kind in ("npm", "pypi", "oci")
]


def test_the_same_registry_gives_the_same_draw_in_any_order() -> None:
    once = [name_of(entry) for entry in draw(SERVERS, 12)]
    assert once == [name_of(entry) for entry in draw(SERVERS[::-1], 12)]
    assert len(set(once)) == 12
    assert {name.partition(":")[0] for name in once} == {"npm", "pypi"}


def test_a_draw_of_more_than_there_are_is_all_of_them() -> None:
    assert len(draw([*SERVERS, {"packages": None}, {}], 60)) == 40
