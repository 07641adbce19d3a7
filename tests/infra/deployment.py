"""The deployments as data: every process that Compose, Kubernetes and systemd start, and what they are given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
INFRA = ROOT / "infra"
MANIFESTS = INFRA / "kubernetes" / "base"
NOT_APPLIED = {"kustomization.yaml", "secret.example.yaml", "adapter.yaml"}
OURS = re.compile(r"\b(HALLMARK_[A-Z_]+)\b")
QUICK = yaml.CSafeLoader  # several modules read all files while they are collected, in every worker


@dataclass(frozen=True)
class Started:
    """One process of ours: where it is said, its name there and its words."""

    where: str
    name: str
    words: tuple[str, ...]

    @property
    def queues(self) -> tuple[str, ...]:
        words = list(self.words)
        return tuple(words[words.index("--queues") + 1].split(",")) if "--queues" in words else ()


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load((INFRA / "compose.yaml").read_text(), QUICK)
    return loaded


def manifests() -> list[dict[str, Any]]:
    """What is applied to a cluster, without what kustomize adds."""
    files = sorted(path for path in MANIFESTS.glob("*.yaml") if path.name not in NOT_APPLIED)
    return [document for file in files for document in yaml.load_all(file.read_text(), QUICK)]


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every pod's specification by the name of what makes it."""
    for document in manifests():
        spec = document.get("spec", {})
        spec = spec["jobTemplate"]["spec"] if document["kind"] == "CronJob" else spec
        if "template" in spec:
            yield document["metadata"]["name"], spec["template"]["spec"]


def units() -> dict[str, dict[str, list[str]]]:
    """The directives of every unit; one that stands several times has several values."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted((INFRA / "systemd").iterdir()):
        directives: dict[str, list[str]] = {}
        for line in path.read_text().splitlines():
            name, sign, value = line.partition("=")
            if sign and not line.startswith("#"):
                directives.setdefault(name, []).append(value)
        found[path.name] = directives
    return found


def started() -> list[Started]:
    """Every process of ours, in every kind of deployment."""
    found = [
        Started("compose", name, tuple(service["command"]))
        for name, service in compose()["services"].items()
        if "build" in service
    ]
    found += [
        Started("kubernetes", name, tuple(container["args"]))
        for name, spec in pods()
        for container in spec["containers"]
        if container["image"] == "hallmark"
    ]
    return found + list(_systemd()) + list(_image())


def _systemd() -> Iterator[Started]:
    wanted = " ".join(units()["hallmark.target"]["Wants"]).split()
    for name in (one for one in wanted if one.startswith("hallmark-")):
        unit, _, instance = name.removesuffix(".service").partition("@")
        directives = units()[f"{unit}@.service" if instance else name]
        [line] = directives["ExecStart"]
        line = line.replace("%i", instance).replace("${CONCURRENCY}", directives.get("Environment", ["="])[0][-1])
        yield Started("systemd", name, tuple(_from_path(word) for word in line.split()))
    [line] = units()["hallmark-backup.service"]["ExecStart"]
    yield Started("systemd", "hallmark-backup", tuple(_from_path(word) for word in line.split()))


def _from_path(word: str) -> str:
    return word.removeprefix("/opt/hallmark/.venv/bin/").removeprefix("/opt/hallmark/")


def _image() -> Iterator[Started]:
    [line] = re.findall(r"^CMD (\[.*\])$", (INFRA / "Dockerfile").read_text(), re.MULTILINE)
    yield Started("image", "default", tuple(yaml.safe_load(line)))


def texts() -> dict[str, str]:
    """Every file of the deployments, and the guide."""
    files = [path for path in INFRA.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    files.append(ROOT / "docs" / "guide" / "operations.md")
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in files}
