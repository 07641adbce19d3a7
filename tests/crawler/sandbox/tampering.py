"""Run as an ordinary user: a layer is created, changed, detected, held and evicted."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from crawler.sandbox.errors import SandboxError
from crawler.sandbox.layers import trees
from crawler.sandbox.layers.cache_ownership import claim_cache
from crawler.sandbox.layers.eviction import EvictionPolicy, evict_layers
from crawler.sandbox.layers.layers import Layers
from evidence.model import TargetType

NOON = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def main(cache: Path) -> None:
    """Print one line for each claim that holds; any other end is a failure."""
    assert os.getuid() != 0
    claim_cache(cache)
    layers = Layers(cache, "any")
    digest = make(layers)
    assert layers.find_flaw(digest, NOON) is None
    for change in (rewrite, plant, relink):
        change(layers.tree(digest))
        assert layers.repair(digest, NOON) == "its files are not those that it was made of", change
        assert not layers.tree(digest).exists()
        assert make(layers) == digest
        sys.stdout.write(f"{change.__name__} found out\n")
    with layers.hold(digest):
        assert evict_layers(cache, EvictionPolicy(size=0), NOON).layers == 0
    assert evict_layers(cache, EvictionPolicy(size=0), NOON).layers == 1
    assert not list((cache / "work").iterdir())
    sys.stdout.write("evicted when not held\n")
    try:
        claim_cache(Path("/"))
    except SandboxError as error:
        sys.stdout.write(f"{error}\n")


def make(layers: Layers) -> str:
    """A layer of a tree as an installer leaves it: with a folder that may not be entered, and a way out."""
    tree = layers.cache_dir / "work/one/out"
    (tree / "closed").mkdir(parents=True)
    (tree / "closed/index.js").write_text("x")
    (tree / "out").symlink_to("../../../secret")
    (tree / "closed").chmod(0)
    found = layers.adopt(tree, TargetType.NPM, ["a 1.0 sha512-abc"], trees.settle_tree(tree), NOON)
    trees.remove_tree(tree.parent)
    return found


def rewrite(tree: Path) -> None:
    """Change a file and its times."""
    path = tree / "closed/index.js"
    path.chmod(0o644)
    path.write_text("y")
    path.chmod(0o444)
    os.utime(path, (0, 0))


def plant(tree: Path) -> None:
    """Add a file."""
    (tree / "closed/evil.js").write_text("")


def relink(tree: Path) -> None:
    """Put a link in the place of a file."""
    (tree / "closed/index.js").unlink()
    (tree / "closed/index.js").symlink_to("/etc/passwd")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
