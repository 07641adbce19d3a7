"""Layers: added, verified before use, held during use, and evicted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from crawler.sandbox.kernel.user_ids import try_lock
from crawler.sandbox.layers import trees
from crawler.sandbox.layers.eviction import EvictedLayers, EvictionPolicy, evict_layers, remove_abandoned
from crawler.sandbox.layers.layers import Layers, seal_path
from evidence.model import TargetType
from tests.crawler.sandbox import unprivileged
from tests.crawler.sandbox.driving import NOON

DAY = timedelta(days=1)


@pytest.fixture
def layers(tmp_path: Path) -> Layers:
    return Layers(tmp_path / "cache", "python3.11-x86_64")


def adopt(layers: Layers, text: str = "x", lock: tuple[str, ...] = ("a 1.0 sha512-abc",)) -> str:
    """Make and adopt a tree."""
    tree = layers.cache_dir / "work" / "one" / "out"
    (tree / "node_modules").mkdir(parents=True)
    (tree / "node_modules/index.js").write_text(text)
    found = layers.adopt(tree, TargetType.NPM, lock, trees.settle_tree(tree), NOON)
    shutil.rmtree(tree.parent)
    return found


def used(layers: Layers, digest: str, days: int) -> None:
    """Pretend that a layer was last used so many days before noon."""
    with layers.hold(digest):
        pass
    at = (NOON - timedelta(days=days)).timestamp()
    os.utime(layers.cache_dir / "uses" / digest, (at, at))


def tamper(layers: Layers, digest: str) -> Path:
    path = layers.tree(digest) / "node_modules/index.js"
    path.chmod(0o644)
    path.write_text("require('child_process')")
    return path


def test_equal_trees_are_one_layer_and_another_lock_or_content_is_another(layers: Layers) -> None:
    first = adopt(layers)
    assert adopt(layers) == first
    assert adopt(layers, lock=("a 1.0 sha512-def",)) != first
    assert adopt(layers, "y") != first


def test_a_sound_layer_has_no_flaw(layers: Layers) -> None:
    assert layers.find_flaw(adopt(layers), NOON) is None


def test_a_changed_file_is_a_flaw_and_the_layer_is_removed(layers: Layers) -> None:
    digest = adopt(layers)
    tamper(layers, digest)
    assert layers.repair(digest, NOON) == "its files are not those that it was made of"
    assert not layers.has(digest)
    assert not list((layers.cache_dir / "work").iterdir())


def test_a_layer_without_a_seal_is_not_used(layers: Layers) -> None:
    planted = layers.tree("0" * 64)
    planted.mkdir(parents=True)
    (planted / "evil.js").write_text("")
    assert layers.find_flaw(planted.name, NOON) == "it has no seal"


def test_a_seal_does_not_vouch_for_other_contents(layers: Layers) -> None:
    good, bad = adopt(layers), adopt(layers, "bad")
    seal_path(layers.cache_dir, good).write_bytes(seal_path(layers.cache_dir, bad).read_bytes())
    shutil.rmtree(layers.tree(good))
    shutil.copytree(layers.tree(bad), layers.tree(good))
    assert layers.find_flaw(good, NOON) == "its files are not those that it was made of"


def test_a_link_in_the_place_of_a_layer_is_a_flaw(layers: Layers, tmp_path: Path) -> None:
    digest = adopt(layers)
    layers.tree(digest).rename(tmp_path / "moved")
    layers.tree(digest).symlink_to(tmp_path / "moved")
    assert layers.find_flaw(digest, NOON) == "it is not a folder of ours"
    layers.discard(digest)
    assert not layers.tree(digest).is_symlink()
    assert (tmp_path / "moved/node_modules/index.js").exists()


def test_a_cache_that_was_copied_is_hashed_and_believed_again(layers: Layers, tmp_path: Path) -> None:
    digest = adopt(layers)
    shutil.copytree(layers.cache_dir, tmp_path / "copy", symlinks=True)
    moved = Layers(tmp_path / "copy", layers.abi)
    before = moved.read_seal(digest)
    assert moved.find_flaw(digest, NOON) is None
    assert moved.read_seal(digest) != before
    assert moved.find_flaw(digest, NOON) is None


def test_what_changes_no_time_is_found_within_a_week(layers: Layers, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = adopt(layers)
    tamper(layers, digest)
    seal = layers.read_seal(digest)
    assert seal
    monkeypatch.setattr(trees, "metadata_digest", lambda _tree: seal.stamp)
    assert layers.find_flaw(digest, NOON + 6 * DAY) is None
    assert layers.find_flaw(digest, NOON + 8 * DAY) == "its files are not those that it was made of"


def test_a_damaged_layer_is_replaced_by_the_same_tree(layers: Layers) -> None:
    digest = adopt(layers)
    tamper(layers, digest)
    assert adopt(layers) == digest
    assert layers.find_flaw(digest, NOON) is None


@pytest.mark.parametrize("name", ["../../etc", "", "a" * 63, "A" * 64])
def test_a_name_that_is_no_digest_is_no_layer(layers: Layers, name: str) -> None:
    (layers.cache_dir / "layers").mkdir(parents=True)
    assert not layers.has(name)


def test_a_long_unused_layer_is_evicted(layers: Layers) -> None:
    old, young = adopt(layers, "old"), adopt(layers, "young")
    used(layers, old, 40)
    used(layers, young, 20)
    assert evict_layers(layers.cache_dir, EvictionPolicy(unused=30 * DAY), NOON) == EvictedLayers(1, 3)
    assert (layers.has(old), layers.has(young)) == (False, True)
    assert layers.find_flaw(young, NOON) is None
    assert [path.name for path in (layers.cache_dir / "uses").iterdir()] == [young]


def test_the_resolution_of_an_evicted_layer_is_remembered_for_two_weeks(layers: Layers) -> None:
    index = layers.cache_dir / "index"
    index.mkdir(parents=True)
    for name, days in (("young.json", 13), ("old.json", 15), ("young.refused", 0.1), ("tmp0abc", 0.1)):
        (index / name).write_text(json.dumps({"layer": "a" * 64}))
        os.utime(index / name, ((NOON - days * DAY).timestamp(),) * 2)
    evict_layers(layers.cache_dir, EvictionPolicy(size=0), NOON)
    assert [path.name for path in index.iterdir()] == ["young.json"]


def test_the_least_recently_used_makes_room(layers: Layers) -> None:
    digests = [adopt(layers, letter * 100) for letter in "abc"]
    for days, digest in enumerate(digests):
        used(layers, digest, days)
    assert evict_layers(layers.cache_dir, EvictionPolicy(size=250), NOON) == EvictedLayers(1, 100)
    assert [layers.has(digest) for digest in digests] == [True, True, False]


def test_a_layer_in_use_is_never_evicted(layers: Layers) -> None:
    digest = adopt(layers)
    with layers.hold(digest):
        os.utime(layers.cache_dir / "uses" / digest, (0, 0))
        assert evict_layers(layers.cache_dir, EvictionPolicy(size=0, unused=DAY), NOON) == EvictedLayers()
        assert layers.has(digest)
    os.utime(layers.cache_dir / "uses" / digest, (0, 0))
    assert evict_layers(layers.cache_dir, EvictionPolicy(size=0), NOON).layers == 1
    assert not list((layers.cache_dir / "work").iterdir())


def test_without_a_bound_nothing_is_evicted(layers: Layers) -> None:
    used(layers, adopt(layers), 4000)
    assert evict_layers(layers.cache_dir, EvictionPolicy(), NOON) == EvictedLayers()


def test_an_abandoned_work_folder_is_removed_at_once(tmp_path: Path) -> None:
    for name in ("killed", "busy"):
        (tmp_path / "work" / name).mkdir(parents=True)
        (tmp_path / "work" / name / "lock").touch()
    handle = try_lock(tmp_path / "work/busy/lock")
    assert handle is not None
    remove_abandoned(tmp_path, NOON)
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["busy"]
    os.close(handle)
    remove_abandoned(tmp_path, NOON)
    assert not list((tmp_path / "work").iterdir())


def test_long_unused_root_file_systems_and_locks_are_evicted(tmp_path: Path) -> None:
    for name in ("old", "young"):
        (tmp_path / "rootfs" / name).mkdir(parents=True)
        (tmp_path / "rootfs" / f"{name}.seal").touch()
        (tmp_path / "locks").mkdir(exist_ok=True)
        (tmp_path / "locks" / name).touch()
    for path in (tmp_path / "rootfs/old.seal", tmp_path / "locks/old"):
        os.utime(path, (0, 0))
    evict_layers(tmp_path, EvictionPolicy(unused=30 * DAY), NOON)
    assert sorted(path.name for path in (tmp_path / "rootfs").iterdir()) == ["young", "young.seal"]
    assert [path.name for path in (tmp_path / "locks").iterdir()] == ["young"]


def test_a_root_file_system_in_use_stays(tmp_path: Path) -> None:
    (tmp_path / "rootfs" / "busy").mkdir(parents=True)
    seal = tmp_path / "rootfs" / "busy.seal"
    seal.touch()
    os.utime(seal, ((NOON - timedelta(hours=2)).timestamp(),) * 2)
    evict_layers(tmp_path, EvictionPolicy(unused=timedelta()), NOON)
    assert sorted(path.name for path in (tmp_path / "rootfs").iterdir()) == ["busy", "busy.seal"]


def test_workshops_of_killed_installations_and_shared_downloads_are_swept(tmp_path: Path) -> None:
    for name in ("work/dead/out", "work/alive/out", "downloads/bun/evil@1.0.0"):
        (tmp_path / name).mkdir(parents=True)
    os.utime(tmp_path / "work/alive", (NOON.timestamp(),) * 2)
    os.utime(tmp_path / "work/dead", ((NOON - 2 * timedelta(hours=1)).timestamp(),) * 2)
    remove_abandoned(tmp_path, NOON)
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["alive"]
    assert not (tmp_path / "downloads").exists()


def test_an_ordinary_user_finds_out_what_was_changed_too(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    cache = unprivileged.cache(tmp_path, tmp_path / "tools")
    command = unprivileged.command("tests.crawler.sandbox.tampering", str(cache))
    environment = unprivileged.environment(cache)
    done = subprocess.run(
        command, cwd=unprivileged.REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "rewrite found out",
        "plant found out",
        "relink found out",
        "evicted when not held",
        f"/ belongs to user 0, not to {unprivileged.STRANGER}; remove it or set HALLMARK_CACHE",
    ]
