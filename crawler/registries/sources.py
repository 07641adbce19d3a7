"""Builds registries from the names of their sources."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx

from crawler.addresses import UnusableAddress, normalise_url
from crawler.registries.docker import DockerCatalogue
from crawler.registries.document_client import Clock, DocumentClient, Sleep
from crawler.registries.documents import DocumentRegistry
from crawler.registries.registry import Registry
from crawler.registries.registry_api import GenericRegistry

OFFICIAL_URL: Final = "https://registry.modelcontextprotocol.io"
DOCKER_URL: Final = "https://desktop.docker.com/mcp/catalog/v3/catalog.json"
_NO_TOKENS: Final = "a run keeps its sources: give those that need a token a name and `headers` in HALLMARK_REGISTRIES"
STARTER: Final = Path(__file__).parent / "starter"


class UnknownSource(ValueError):
    """The text is neither a known source name, an existing path, nor a URL."""


@dataclass(frozen=True, slots=True)
class Source:
    """The location of a registry: `starter`, `official`, `docker`, `docker:PATH-OR-URL`, a path or the base URL of a
    registry.

    `headers` are sent to a URL and may contain secrets, so no representation includes them. `name` replaces the name of
    the
    registry in evidence.
    """

    location: str
    name: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def build_registry(
    source: str | Source, client: httpx.AsyncClient, *, clock: Clock, sleep: Sleep = asyncio.sleep
) -> Registry:
    """The registry of a source; raise UnknownSource with the valid forms. Opens nothing."""
    wanted = Source(source) if isinstance(source, str) else source
    location = wanted.location.strip()
    fetcher = DocumentClient(client, clock=clock, sleep=sleep, headers=wanted.headers)
    if location == "starter":
        return build_starter_registry()
    if location == "official":
        return GenericRegistry(wanted.name or "official", OFFICIAL_URL, fetcher)
    kind, separator, rest = location.partition(":")
    if kind == "docker":
        place = rest if separator else DOCKER_URL
        found = _unsigned(place, wanted) if _is_url(place) else _existing(place)
        return DockerCatalogue(found, fetcher=fetcher, name=wanted.name or "docker")
    if _is_url(location):
        base = _base_url(location)
        return GenericRegistry(wanted.name or base, base, fetcher)
    return DocumentRegistry(_existing(location), name=wanted.name)


def build_registries(
    sources: Sequence[str | Source], client: httpx.AsyncClient, *, clock: Clock, sleep: Sleep = asyncio.sleep
) -> list[Registry]:
    """One registry for each source; raise UnknownSource for equal names, because walks are stored by name."""
    registries = [build_registry(source, client, clock=clock, sleep=sleep) for source in sources]
    names = [registry.name for registry in registries]
    if double := sorted({name for name in names if names.count(name) > 1}):
        raise UnknownSource(f"two sources are named {double[0]}: give one of them another name")
    return registries


def build_starter_registry() -> DocumentRegistry:
    """The registry of the servers that ship with the project, so that a first run needs no network registry."""
    return DocumentRegistry(STARTER, name="starter")


def _is_url(location: str) -> bool:
    return location.lower().startswith(("http://", "https://"))


def _base_url(location: str) -> str:
    """The base URL, which names the registry, without parts that could contain secrets."""
    try:
        base = normalise_url(location)
    except UnusableAddress as error:
        raise UnknownSource(f"{error} expected as the base of a registry") from error
    if "?" in base or "#" in location:
        raise UnknownSource(f"expected the base of a registry without query or fragment; {_NO_TOKENS}")
    return base


def _unsigned(url: str, wanted: Source) -> str:
    """The URL of a catalogue; a query is allowed only when the settings name the catalogue, because runs store the
    text.
    """
    if "?" in url and wanted.name is None:
        raise UnknownSource(f"expected a catalogue's URL without query; {_NO_TOKENS}")
    return url


def _existing(location: str) -> Path:
    path = Path(location).expanduser()
    if not path.exists():
        expected = "starter, official, docker, a URL, or a file or folder of server.json"
        raise UnknownSource(f"registry {location!r} is not known: expected {expected}")
    return path
