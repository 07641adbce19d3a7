"""Only we can write to the cache, and a changed root file system is built again."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.sandbox import Rootfs, SandboxError, open_sandbox
from crawler.sandbox.layers.cache_ownership import claim_cache
from crawler.sandbox.toolchain import rootfs
from crawler.sandbox.toolchain.package_indexes import NpmIndex
from evidence.model import Absent, Reason
from tests.crawler.sandbox.conftest import NOON

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")


@pytest.mark.parametrize("part", ["", "index", "layers", "rootfs", "seals", "tools"])
def test_folders_of_the_cache_are_closed_to_others(tmp_path: Path, part: str) -> None:
    folder = tmp_path / "cache" / part
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    claim_cache(tmp_path / "cache")
    assert folder.stat().st_mode & 0o022 == 0


@needs_root
@pytest.mark.sandbox
@pytest.mark.parametrize("part", ["", "layers", "rootfs"])
def test_a_cache_of_another_user_is_not_used(cache: Path, part: str) -> None:
    folder = cache / part
    if folder.is_symlink():
        folder.unlink()
    folder.mkdir(exist_ok=True)
    os.chown(folder, 64321, 64321)
    found = asyncio.run(open_sandbox(cache, environ={}, now=lambda: NOON))
    assert isinstance(found, Absent)
    assert found.reason is Reason.NO_SANDBOX
    assert "belongs to user 64321" in found.detail
    assert "HALLMARK_CACHE" in found.detail


@pytest.fixture
def built(tmp_path: Path) -> Rootfs:
    """A small root file system, as if it had been built."""
    path = tmp_path / "rootfs" / "key"
    for name in ("root/usr/bin/node", "root/etc/passwd", "tools/bun"):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(name)
    facts = rootfs._facts(path, "key", "3.11.7", "24")
    (path / rootfs.OWN_FACTS).write_text(json.dumps(facts))
    found = rootfs.load_rootfs(tmp_path, "key")
    assert found
    return found


def _node(path: Path) -> None:
    (path / "root/usr/bin/node").write_text("evil node")


def _tool(path: Path) -> None:
    (path / "tools/bun").unlink()
    (path / "tools/bun").symlink_to("/bin/true")


def _planted(path: Path) -> None:
    (path / "root/etc/ld.so.preload").write_text("/evil.so")


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize("change", [_node, _tool, _planted])
def test_a_root_file_system_that_was_changed_is_built_anew(
    built: Rootfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None], sealed: bool
) -> None:
    monkeypatch.setattr(rootfs, "compute_inputs_key", lambda *_: "key")
    monkeypatch.setattr(rootfs, "_build", lambda *_: built)
    monkeypatch.setattr(rootfs.node, "find_npm_index", _no_index)
    monkeypatch.setattr(rootfs.bun, "fetch_bun", _bun)
    said: list[str] = []
    if sealed:
        assert asyncio.run(rootfs.build_rootfs(tmp_path, said.append, environ={})) == built
    assert said == []
    change(built.path)
    asyncio.run(rootfs.build_rootfs(tmp_path, said.append, environ={}))
    assert said[0] == "the sandbox's files were changed; building them again"
    assert not built.path.exists()


async def _no_index(*_: object) -> NpmIndex:
    """The replaced download asks no index."""
    return NpmIndex("https://npm.example/")


async def _bun(*_: object) -> bytes:
    return b"bun"


def test_a_root_file_system_that_cannot_be_read_is_left_where_it_is(
    built: Rootfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_tree: Path) -> str:
        raise OSError("too many open files")

    monkeypatch.setattr(rootfs, "compute_inputs_key", lambda *_: "key")
    monkeypatch.setattr(rootfs.trees, "metadata_digest", fail)
    with pytest.raises(SandboxError, match="too many open files"):
        asyncio.run(rootfs.build_rootfs(tmp_path, environ={}))
    assert built.path.exists()
