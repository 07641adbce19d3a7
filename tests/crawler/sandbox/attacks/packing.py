"""Makes real packages of the attacks' sources, one for each file, and one that brings all of an ecosystem along."""

from __future__ import annotations

from pathlib import Path

from tests.crawler.sandbox.index_server import IndexServer

SOURCES = Path(__file__).parent
STAGE = {"npm": "attack-stage", "pypi": "attack_stage"}
BESIDE = "attack-beside"
PARADE = "attack-parade"  # the package that depends on every attack


def names(ecosystem: str) -> list[str]:
    """The attacks of `npm` or `pypi`, by the names of their sources."""
    found = sorted(path.stem for path in (SOURCES / ecosystem).glob("*.[jp][sy]"))
    return [name for name in found if name != STAGE[ecosystem]]


def publish(index: IndexServer) -> None:
    """Put every attack on an index, as a package of its own and as a part of the parade."""
    for name in ("attack-stage", *names("npm")):
        _npm(index, name, needs=() if name == "attack-stage" else ("attack-stage",), serves=[name])
    _npm(index, PARADE, needs=("attack-stage", *names("npm")), serves=names("npm"))
    for name in ("attack_stage", *names("pypi")):
        _wheel(index, name, needs=() if name == "attack_stage" else ("attack-stage",), serves=[name])
    _beside(index)
    _wheel(index, "attack_parade", needs=("attack-stage", *names("pypi")), serves=names("pypi"))


def _beside(index: IndexServer) -> None:
    """One package with both roles, so that attacker and victim get the same layer."""
    roles = ("beside_attacker", "beside_innocent")
    sources = {f"{name}/__init__.py": (SOURCES / "beside" / f"{name}.py").read_text("utf-8") for name in roles}
    start = f"from attack_stage import main\n\n\ndef serve():\n    main({list(roles)!r})\n"
    index.add_wheel(
        BESIDE,
        requires=("attack-stage",),
        scripts={BESIDE: "attack_beside:serve"},
        files={"attack_beside/__init__.py": start, **sources},
    )


def _npm(index: IndexServer, name: str, *, needs: tuple[str, ...], serves: list[str]) -> None:
    source = SOURCES / "npm" / f"{name}.js"
    start = f'#!/usr/bin/env node\n"use strict";\nrequire("attack-stage").main({serves!r});\n'
    files = {"index.js": source.read_text("utf-8") if source.is_file() else "", "server.js": start}
    manifest = {"main": "index.js", "dependencies": dict.fromkeys(needs, "1.0.0")}
    index.add_npm(name, manifest=manifest, files=files)


def _wheel(index: IndexServer, name: str, *, needs: tuple[str, ...], serves: list[str]) -> None:
    source = SOURCES / "pypi" / f"{name}.py"
    text = source.read_text("utf-8") if source.is_file() else ""
    start = f"from attack_stage import main\n\n\ndef serve():\n    main({serves!r})\n"
    index.add_wheel(
        name.replace("_", "-"),
        requires=tuple(one.replace("_", "-") for one in needs),
        scripts={name.replace("_", "-"): f"{name}_server:serve"},
        files={f"{name}/__init__.py": text, f"{name}_server/__init__.py": start},
    )
