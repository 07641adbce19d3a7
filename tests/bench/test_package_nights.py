"""The nights of `bench.package_nights`: what changes in one, and what a day does to a cache."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.package_nights import age, choose_changed, forget, write_registry

ENTRIES: list[dict[str, Any]] = [{"registryType": "npm", "identifier": f"package-{number}"} for number in range(40)]


def package_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())["packages"][0]
    return found


def test_every_night_changes_other_packages_and_each_run_the_same_ones() -> None:
    nights = [choose_changed(ENTRIES, number, 0.05) for number in range(1, 5)]
    assert [len(night) for night in nights] == [2] * 4
    assert nights == [choose_changed(ENTRIES, number, 0.05) for number in range(1, 5)]
    assert len({entry["identifier"] for night in nights for entry in night}) > 4


def test_only_a_changed_package_is_declared_differently(tmp_path: Path) -> None:
    write_registry(tmp_path, ENTRIES[:2], [], 0)
    before = [package_of(path) for path in sorted(tmp_path.iterdir())]
    write_registry(tmp_path, ENTRIES[:2], ENTRIES[:1], 3)
    changed, same = (package_of(path) for path in sorted(tmp_path.iterdir()))
    assert same == before[1]
    assert changed != before[0]
    assert changed["environmentVariables"] == [{"name": "BENCH_NIGHT", "value": "3"}]


def test_a_day_ages_the_cache_and_a_changed_package_is_forgotten(tmp_path: Path) -> None:
    for name in ("a", "b"):
        known = {"name": name, "layer": name * 64, "checked_at": "2026-11-27T02:00:00+00:00"}
        (tmp_path / "index").mkdir(exist_ok=True)
        (tmp_path / "index" / f"{name}.json").write_text(json.dumps(known))
        (tmp_path / "layers" / known["layer"]).mkdir(parents=True)
    age(tmp_path)
    forget(tmp_path, {"a"})
    [left] = (tmp_path / "index").iterdir()
    assert json.loads(left.read_text())["checked_at"] == "2026-11-26T01:59:00+00:00"
    assert [layer.name for layer in (tmp_path / "layers").iterdir()] == ["b" * 64]
