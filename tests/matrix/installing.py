"""Installs the environments of the matrix into a cache folder, with the user's own pip, uv and npm configuration."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.matrix import locking
from tests.matrix.versions import Environment

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "hallmark-matrix"
_BIN = Path(sys.executable).parent


def install(environment: Environment) -> Path:
    """The folder of an environment: a virtual environment, or one with node_modules."""
    pins = locking.read()[environment.name]
    key = hashlib.sha256("\n".join(pins).encode()).hexdigest()[:16]
    folder = CACHE / ("node" if environment.is_node else "python") / key
    if not (folder / "done").exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        (_install_node if environment.is_node else _install_python)(folder, pins)
        (folder / "done").touch()
    return folder


def _install_python(folder: Path, pins: Sequence[str]) -> None:
    _run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)])
    listed = folder / "pins.txt"
    listed.write_text("\n".join(pins))
    target = ["--quiet", "--python", str(folder / "bin" / "python")]
    by_uv = [str(_BIN / "uv"), "pip", "install", *target, "--no-deps", "--requirement", str(listed)]
    if subprocess.run(by_uv, check=False, capture_output=True).returncode:
        # Only pip's configuration may have the address of the index.
        _run([sys.executable, "-m", "pip", *target, "install", "--no-deps", "--requirement", str(listed)])


def _install_node(folder: Path, pins: Sequence[str]) -> None:
    folder.mkdir(exist_ok=True)
    dependencies = dict(pin.rsplit("==", 1) for pin in pins)
    (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": dependencies}))
    locking.npm(["install", "--ignore-scripts", "--no-package-lock", "--legacy-peer-deps"], folder)


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}:\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
