from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from crawler.sandbox.engines.engine import EngineFlavour
from crawler.sandbox.engines.pulled_images import PulledImages
from crawler.sandbox.layers.layers import Layers
from tests.crawler.sandbox.engines import stand_in
from tests.workers.cli.conftest import Hallmark


def test_settings_never_show_a_secret(hallmark: Hallmark, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = {"name": "own", "url": "https://registry.example", "headers": {"X-API-Key": "s3cret-header"}}
    monkeypatch.setenv("HALLMARK_REGISTRIES", json.dumps([registry]))
    monkeypatch.setenv("HALLMARK_REDIS_URL", "redis://:s3cret-redis@127.0.0.1:1/0")
    monkeypatch.setenv("HALLMARK_DATABASE_URL", "postgresql+psycopg://me:s3cret-db@127.0.0.1:1/x")
    for words in (["settings"], ["settings", "--json"], ["doctor"], ["doctor", "--json"], ["registry", "list"]):
        result = hallmark(*words)
        assert "s3cret" not in result.out + result.err, words


def test_settings_rows_say_value_origin_and_meaning(hallmark: Hallmark) -> None:
    rows = {row["variable"]: row for row in hallmark("settings", "--json").rows}
    assert all(list(row) == ["variable", "value", "set", "meaning"] for row in rows.values())
    assert all(row["meaning"] for row in rows.values())
    assert rows["HALLMARK_HOME"]["set"] is True
    assert rows["HALLMARK_IN_FLIGHT"]["set"] is False
    assert [rows[name]["value"] for name in ("HALLMARK_IN_FLIGHT", "HALLMARK_LEASE_TTL", "HALLMARK_NIGHTLY_AT")] == [
        200,
        180,
        "03:00:00",
    ]


def test_a_wrong_setting_is_wrong_usage_and_is_named(hallmark: Hallmark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALLMARK_IN_FLIGHT", "many")
    result = hallmark("list")
    assert result.code == 2
    assert "HALLMARK_IN_FLIGHT: expected a whole number, at least 1, at most 4000, found 'many'" in result.err
    assert "Servers probed at the same time" in result.err


def test_doctor_says_for_each_thing_what_to_do(hallmark: Hallmark) -> None:
    rows = {row["check"]: row for row in hallmark("doctor", "--json").rows}
    assert {"python", "database", "sandbox", "node", "bun", "uv", "redis", "postgres", "tokens"} <= rows.keys()
    assert all(list(row) == ["check", "verdict", "found", "needed_for", "fix"] for row in rows.values())
    assert all(row["fix"] for row in rows.values() if row["verdict"] != "ok")
    assert "hallmark run" in str(rows["database"]["found"])


def test_doctor_counts_tokens_for_github_and_tells_none_of_them(
    hallmark: Hallmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {row["check"]: row for row in hallmark("doctor", "--json").rows}
    assert [rows[name]["verdict"] for name in ("GitHub tokens", "advisories")] == ["optional"] * 2
    assert "hallmark advisories refresh" in str(rows["advisories"]["fix"])

    monkeypatch.setenv("HALLMARK_GITHUB_TOKENS", "hunter1,hunter2")
    result = hallmark("doctor", "--json")
    assert {row["check"]: row for row in result.rows}["GitHub tokens"]["found"] == "2, for https://api.github.com"
    assert "hunter" not in result.out + result.err


def test_doctor_fails_where_something_needed_is_missing(
    hallmark: Hallmark, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HALLMARK_HOME", str(tmp_path / "file" / "home"))
    result = hallmark("doctor")
    assert result.code == 3
    assert "home folder" in result.err


def test_registry_check_names_invalid_entries(hallmark: Hallmark, registry: Path) -> None:
    result = hallmark("registry", "check", str(registry))
    assert result.code == 3
    assert "20 active, 1 invalid" in result.err
    (registry / "broken.json").unlink()
    assert hallmark("registry", "check", str(registry)).code == 0


def test_registry_check_of_nothing_says_what_is_possible(hallmark: Hallmark) -> None:
    result = hallmark("registry", "check", "./no-such-folder")
    assert result.code == 2
    assert "starter" in result.err


def test_registry_list_says_what_is_walked(hallmark: Hallmark) -> None:
    rows = {row["registry"]: row["default"] for row in hallmark("registry", "list", "--json").rows}
    assert rows == {"starter": True, "official": False, "docker": False}
    assert "starter" in hallmark("registry").out


def test_cleaning_what_is_old_leaves_the_rest_and_what_is_in_use(hallmark: Hallmark, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    layers = Layers(cache, "python3.11-x86_64")
    for name in ("old", "young", "running"):
        (cache / "layers" / name).mkdir(parents=True)
        (cache / "uses").mkdir(exist_ok=True)
        (cache / "uses" / name).touch()
    with layers.hold("running"):
        for name in ("old", "running"):
            os.utime(cache / "uses" / name, (0, 0))
        said = hallmark("sandbox", "clean", "--older-than", "30")
    assert said.code == 0
    assert "removed 1 installed package" in said.err
    assert sorted(path.name for path in (cache / "layers").iterdir()) == ["running", "young"]


def test_cleaning_asks_first_and_leaves_other_files(hallmark: Hallmark, tmp_path: Path) -> None:
    layer = tmp_path / "cache" / "layers" / "abc"
    layer.mkdir(parents=True)
    (layer / "file").write_text("x")
    (tmp_path / "cache" / "mine").write_text("x")
    assert hallmark("sandbox", "clean", stdin="n\n").code == 0
    assert layer.exists()
    layer.chmod(0o555)
    assert hallmark("sandbox", "clean", "--yes").code == 0
    assert not layer.exists()
    assert (tmp_path / "cache" / "mine").exists()


def test_pulled_images_are_counted_and_cleaned(
    hallmark: Hallmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = stand_in(tmp_path / "engine", EngineFlavour.PODMAN)
    monkeypatch.setattr("crawler.sandbox.runtime_selection.PATHS", str(engine.engine.binary.parent))
    monkeypatch.setenv("HOME", str(engine.home))
    image = {"Id": "b" * 64, "Size": 3_000_000, "RepoDigests": []}
    engine.keep("images", {"example.com/x:1": {"pulled": True, "image": image}})
    PulledImages(engine.engine, tmp_path / "cache").remember("b" * 64, "example.com/x:1", 3_000_000)
    (record,) = (tmp_path / "cache" / "images").iterdir()
    status = json.loads(hallmark("sandbox", "status", "--json").out)
    assert (status["pulled_images"], status["pulled_bytes"]) == (1, 3_000_000)
    assert "removed 1 image" not in hallmark("sandbox", "clean", "--older-than", "30").err
    os.utime(record, (0, 0))
    engine.behave(down="yes")
    assert "images stay" in hallmark("sandbox", "clean", "--yes").err
    engine.behave()
    assert "removed 1 image (3 MB)" in hallmark("sandbox", "clean", "--older-than", "30").err
    assert json.loads(hallmark("sandbox", "status", "--json").out)["pulled_images"] == 0
