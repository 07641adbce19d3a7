"""Which version of each dependency belongs to an environment: resolved once by release date, and kept in locks/.

A line is one environment: its name, a colon and its packages as name==version.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.conformance import installing as conformance
from tests.matrix.versions import Environment

LOCKS = Path(__file__).parent / "locks"
_FILES = {False: LOCKS / "python.txt", True: LOCKS / "node.txt"}


def read() -> Mapping[str, tuple[str, ...]]:
    """The pins of every environment by its name."""
    lines = [line for file in _FILES.values() if file.exists() for line in file.read_text().splitlines()]
    return {name: tuple(pins.split()) for name, pins in (line.split(": ", 1) for line in lines)}


def write(environments: Sequence[Environment], say: Callable[[str], None]) -> None:
    """Resolve the environments that have no line yet, and write all lines."""
    known = dict(read())
    for environment in environments:
        if environment.name not in known:
            say(f"resolving {environment.name}")
            known[environment.name] = (_resolve_node if environment.is_node else _resolve_python)(environment)
            _store([one for one in environments if one.name in known], known)


def _store(environments: Sequence[Environment], known: Mapping[str, Sequence[str]]) -> None:
    LOCKS.mkdir(exist_ok=True)
    for is_node, file in _FILES.items():
        names = [one.name for one in environments if one.is_node is is_node]
        file.write_text("".join(f"{name}: {' '.join(known[name])}\n" for name in names))


def _resolve_python(environment: Environment) -> tuple[str, ...]:
    uv = Path(sys.executable).parent / "uv"
    command = [str(uv), "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--python-version", "3.11", "-"]
    if environment.date:
        command += ["--exclude-newer", environment.date]
    wanted = "\n".join(environment.requirements)
    done = subprocess.run(command, input=wanted, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{environment.name}: {done.stderr[-1500:]}")
    return tuple(re.findall(r"^\S+==\S+", done.stdout, re.MULTILINE))


def _resolve_node(environment: Environment) -> tuple[str, ...]:
    """The packages at the top of a tree whose direct dependencies are from the release date.

    `npm --before` cannot be used: a registry that mirrors another may date old versions by the day on which it copied
    them, and a version that is dated too late is then missing altogether.
    """
    wanted = dict(one.rsplit("@", 1) for one in environment.requirements)
    for name, version in list(wanted.items()):
        declared = _view(f"{name}@{version}", "dependencies") or {}
        for dependency, accepted in declared.items():
            wanted.setdefault(dependency, _pick(dependency, accepted, environment.date))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "package.json").write_text(json.dumps({"private": True, "dependencies": wanted}))
        npm(["install", "--package-lock-only", "--ignore-scripts"], Path(folder))
        lock = json.loads((Path(folder) / "package-lock.json").read_text())["packages"]
    tops = [(path, found) for path, found in sorted(lock.items()) if path.count("node_modules/") == 1]
    return tuple(
        f"{path.removeprefix('node_modules/')}=={found['version']}" for path, found in tops if not found.get("optional")
    )


def _pick(name: str, accepted: str, date: str) -> str:
    """The newest accepted version of that date; the oldest accepted one if all are dated later."""
    found = _view(f"{name}@{accepted}", "version")
    versions = [found] if isinstance(found, str) else list(found or ())
    stable = [one for one in versions if "-" not in one] or versions
    times = _view(name, "time")
    early = [one for one in stable if not date or times.get(one, "9999")[:10] <= date]
    return _newest(early) if early else min(stable, key=_order)


def _newest(versions: Sequence[str]) -> str:
    return max(versions, key=_order)


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


_VIEWED: dict[tuple[str, str], object] = {}


def _view(package: str, field: str):  # type: ignore[no-untyped-def]
    if (package, field) not in _VIEWED:
        answer = npm(["view", package, field, "--json"], Path(tempfile.gettempdir()))
        _VIEWED[package, field] = json.loads(answer) if answer.strip() else None
    return _VIEWED[package, field]


def npm(arguments: Sequence[str], folder: Path) -> str:
    """Run npm of the development environment in a folder; return its output."""
    script = conformance.NODE.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [str(conformance.NODE), str(script), "--no-fund", "--no-audit", *arguments]
    done = subprocess.run(
        command, check=False, cwd=folder, env=conformance.environment(), capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"npm {' '.join(arguments)}: {done.stderr[-1500:]}")
    return done.stdout
