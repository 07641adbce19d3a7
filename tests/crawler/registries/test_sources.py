"""Sources as people write them, and the starter registry that ships with the project."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from crawler.identity import canonical_ref
from crawler.registries.docker import DockerCatalogue
from crawler.registries.documents import DocumentRegistry
from crawler.registries.registry import Registry
from crawler.registries.registry_api import GenericRegistry
from crawler.registries.sources import Source, UnknownSource, build_registries, build_registry, build_starter_registry
from evidence.model import ServerRef, Status

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def made(source: str | Source) -> Registry:
    return build_registry(source, httpx.AsyncClient(), clock=lambda: NOW)


def starter() -> list[ServerRef]:
    async def collect() -> list[ServerRef]:
        return [ref async for page in build_starter_registry().walk() for ref in page.refs]

    return asyncio.run(collect())


@pytest.mark.parametrize(
    ("source", "kind", "name"),
    [
        ("starter", DocumentRegistry, "starter"),
        ("official", GenericRegistry, "official"),
        ("docker", DockerCatalogue, "docker"),
        ("docker:https://mirror.example/catalog.json", DockerCatalogue, "docker"),
        ("https://Registry.Example:443/base/", GenericRegistry, "https://registry.example/base"),
        (Source("https://registry.example", name="mine"), GenericRegistry, "mine"),
    ],
)
def test_a_source_is_built_from_what_a_person_writes(source: str | Source, kind: type, name: str) -> None:
    registry = made(source)
    assert isinstance(registry, kind)
    assert registry.name == name


def test_a_path_is_a_folder_of_documents(tmp_path: Path) -> None:
    assert made(str(tmp_path)).name == f"file:{tmp_path.name}"
    assert isinstance(made(f"docker:{tmp_path}"), DockerCatalogue)


@pytest.mark.parametrize(
    "source",
    [
        "nowhere",
        "/nowhere/at/all",
        "https://user:secret@registry.example",
        "https://registry.example/?token=secret",
        "https://registry.example/#secret",
        "docker:nowhere",
        "docker:https://catalogue.example/c.json?sig=secret",
    ],
)
def test_what_is_not_a_source_says_what_is_expected(source: str) -> None:
    with pytest.raises(UnknownSource, match="expected") as failure:
        made(source)
    assert "secret" not in str(failure.value)


def test_headers_of_a_source_are_never_shown() -> None:
    assert "s3cr3t" not in repr(Source("https://registry.example", headers={"X-API-Key": "s3cr3t"}))


def test_two_sources_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder / "servers").mkdir(parents=True)
    paths = [str(tmp_path / folder / "servers") for folder in ("a", "b")]
    with pytest.raises(UnknownSource, match="two sources are named file:servers"):
        build_registries(paths, httpx.AsyncClient(), clock=lambda: NOW)


def test_the_starter_has_packages_and_remotes_that_need_no_credentials() -> None:
    refs = starter()
    assert all(ref.status is Status.ACTIVE for ref in refs), [ref.error for ref in refs if ref.error]
    kinds = [canonical_ref(ref).partition(":")[0] for ref in refs]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"npm": 10, "pypi": 9, "https": 5}
    assert len({canonical_ref(ref) for ref in refs}) == len(refs)
    for ref in refs:
        entry = json.loads(ref.entry)
        assert entry["$schema"].endswith("/2025-12-11/server.schema.json")
        inputs = [item for package in entry.get("packages", []) for item in package.get("environmentVariables", [])]
        assert not [item for item in inputs if item.get("isSecret") or item.get("isRequired")]
        assert all(target.type.is_remote or target.version for target in ref.targets)


def test_the_starter_names_no_package_registry() -> None:
    assert not [ref.name for ref in starter() if b"registryBaseUrl" in ref.entry]
