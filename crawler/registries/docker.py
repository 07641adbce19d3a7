"""The Docker MCP catalogue: the published `catalog.json`, or a copy of its repository (`servers/*/server.yaml`)."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

import yaml

from crawler.addresses import (
    UnusableAddress,
    is_local_url,
    normalise_folder,
    normalise_repository_url,
    parse_oci_reference,
)
from crawler.json_spans import split_members
from crawler.registries.document_client import DocumentClient, DocumentUnavailable
from crawler.registries.json_shapes import ByType, Items, Members, Shape, Text, Values, find_mismatch
from crawler.registries.package_inputs import MAX_HINT, MAX_INPUTS, VARIABLE_NAME
from crawler.registries.registry import Page, RegistryUnavailable, split_into_pages
from crawler.registries.server_json import MAX_DEPTH, MAX_ENTRY, make_invalid_reference
from crawler.registries.targets import MAX_VERSION
from evidence.canonical import Json, NotJson, parse_json
from evidence.json_members import objects_in, text_or_empty
from evidence.model import ServerRef, Status, Target, TargetType
from evidence.package_inputs import InputPlace, PackageInput

MAX_YAML: Final = 256 * 1024
MAX_FILES: Final = 20_000

_NAME: Final = Text(shortest=1, longest=200, pattern=re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*"), meaning="a name")
_TEXT: Final = Text()
_REMOTE: Final = Members(
    known={
        "url": _TEXT,
        "transport_type": Text(choices=("streamable-http", "http", "sse", "stdio")),
        "headers": Values(_TEXT),
    },
    required=("url",),
)
_COMMON: Final[Mapping[str, Shape]] = {"name": _NAME, "title": _TEXT, "description": _TEXT}
_IMAGE: Final = Members(known={**_COMMON, "image": _TEXT, "command": Items(_TEXT)}, required=("image",))
_SHAPE: Final = ByType(
    {
        "server": _IMAGE,
        "poci": Members(known=_COMMON),
        "remote": Members(known={**_COMMON, "remote": _REMOTE}, required=("remote",)),
    }
)
_REMOTE_TYPES: Final = {"sse": TargetType.SSE}
_TEMPLATE: Final = re.compile(r"\{\{|\$\{|\$[A-Z]|<")


class DockerCatalogue:
    """The published catalogue, from a URL or a file, or a copy of the repository (a folder)."""

    incremental: Final = False

    def __init__(self, source: str | Path, *, fetcher: DocumentClient | None = None, name: str = "docker") -> None:
        self.name = name
        self._source = source
        self._fetcher = fetcher

    async def walk(self, *, cursor: str | None = None, since: datetime | None = None) -> AsyncIterator[Page]:
        """All pages after `cursor`. The catalogue is one document, so `since` has no effect."""
        del since
        for page in split_into_pages(await self._read(), cursor):
            yield page

    async def _read(self) -> list[ServerRef]:
        if isinstance(self._source, Path):
            try:
                return await asyncio.to_thread(self._read_local, self._source)
            except (OSError, NotJson) as error:
                raise RegistryUnavailable(f"Docker catalogue {self._source}: {error}") from error
        if self._fetcher is None:
            raise RegistryUnavailable("Docker catalogue: an HTTP client is needed for a URL")
        try:
            entries = await self._fetcher.get(self._source, {}, _split)
        except DocumentUnavailable as error:
            raise RegistryUnavailable(f"Docker catalogue: {error}") from error
        return list(self._refs(entries))

    def _read_local(self, path: Path) -> list[ServerRef]:
        if not path.is_dir():
            return list(self._refs(_split(path.read_bytes())))
        folder = path / "servers" if (path / "servers").is_dir() else path
        return [self._read_yaml(file) for file in _server_files(folder)]

    def _refs(self, entries: Iterable[tuple[str, bytes]]) -> Iterator[ServerRef]:
        for name, data in entries:
            yield self._read_entry(name, data)

    def _read_yaml(self, file: Path) -> ServerRef:
        """The reference of a YAML document, which is kept as JSON with the members in the order of the document."""
        name = file.parent.name
        data = b"" if file.stat().st_size > MAX_YAML else file.read_bytes()
        try:
            document = parse_yaml(data)
            entry = json.dumps(document, ensure_ascii=True, allow_nan=False).encode()
        except (NotYaml, TypeError, ValueError) as error:
            return make_invalid_reference(self.name, data, f"entry: {error}", name)
        return self._read_entry(name, entry)

    def _read_entry(self, name: str, data: bytes) -> ServerRef:
        if len(data) > MAX_ENTRY:
            return make_invalid_reference(
                self.name, data, f"entry: expected at most {MAX_ENTRY} bytes, found {len(data)}", name
            )
        try:
            document = parse_json(data, max_depth=MAX_DEPTH)
        except NotJson as error:
            return make_invalid_reference(self.name, data, f"entry: {error}", name)
        mismatch = find_mismatch(name, _NAME, "name") or find_mismatch(_typed(document), _SHAPE)
        if mismatch or not isinstance(document, Mapping):
            return make_invalid_reference(self.name, data, str(mismatch), name)
        try:
            targets = _targets(document)
        except UnusableAddress as error:
            return make_invalid_reference(self.name, data, f"entry: expected {error}", name)
        return ServerRef(
            registry=self.name,
            name=name,
            version=_version(document, targets),
            status=Status.ACTIVE,
            entry=data,
            targets=targets,
            repository=_repository(document),
        )


class NotYaml(ValueError):
    """The bytes are not one plain YAML document within the bounds."""


class _PlainLoader(yaml.CSafeLoader):
    """A loader for the types of JSON only: a date stays text."""


_PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def parse_yaml(data: bytes) -> Json:
    """The value of one YAML document; raise NotYaml. Aliases are refused, because they allow exponential growth."""
    if not data or len(data) > MAX_YAML:
        raise NotYaml(f"expected 1 to {MAX_YAML} bytes of YAML")
    try:
        _check_events(data)
        value: Json = yaml.load(data, Loader=_PlainLoader)  # noqa: S506 - a subclass of the safe loader
    except NotYaml:
        raise
    except (yaml.YAMLError, ValueError, TypeError, UnicodeError) as error:
        raise NotYaml(f"not plain YAML ({type(error).__name__})") from error
    return value


def _check_events(data: bytes) -> None:
    depth = 0
    for event in yaml.parse(data, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise NotYaml("expected no aliases")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise NotYaml(f"nested deeper than {MAX_DEPTH}")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _split(body: bytes) -> list[tuple[str, bytes]]:
    registry = dict(split_members(body)).get("registry")
    if registry is None:
        raise NotJson("a catalogue with `registry` expected")
    return split_members(registry)


def _typed(document: Json) -> Json:
    """The document with a `type`, which the first catalogues did not have."""
    if not isinstance(document, Mapping) or "type" in document:
        return document
    return {**document, "type": "remote" if "remote" in document else "server"}


def _server_files(folder: Path) -> list[Path]:
    root = folder.resolve()
    files = [file for file in sorted(root.glob("*/server.yaml")) if file.resolve().is_relative_to(root)]
    if not files or len(files) > MAX_FILES:
        raise NotJson(f"a folder with 1 to {MAX_FILES} files */server.yaml expected")
    return [file for file in files if file.is_file()]


def _targets(document: Mapping[str, Json]) -> tuple[Target, ...]:
    remote, image = _object(document.get("remote")), document.get("image")
    if url := remote.get("url"):
        return _remote(str(url), remote)
    if not isinstance(image, str):
        return ()
    reference = parse_oci_reference(image)
    run = _object(document.get("run"))
    return (
        Target(
            type=TargetType.OCI,
            identifier=reference.repository,
            version=reference.digest or reference.tag,
            arguments=_command(run.get("command", document.get("command"))),
            environment=_pairs(_config(document, "env")),
            inputs=tuple(_inputs(document)),
        ),
    )


def _remote(url: str, remote: Mapping[str, Json]) -> tuple[Target, ...]:
    if "{" in url:
        return ()
    is_local_url(url)
    kind = TargetType.SSE if remote.get("transport_type") == "sse" else TargetType.STREAMABLE_HTTP
    headers = tuple(
        sorted(
            (name, value)
            for name, value in _object(remote.get("headers")).items()
            if isinstance(value, str) and not _TEMPLATE.search(value)
        )
    )
    return (Target(type=kind, identifier=url.partition("#")[0], headers=headers),)


def _command(value: Json) -> tuple[str, ...]:
    words = [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
    return () if any(_TEMPLATE.search(word) for word in words) else tuple(words)


def _pairs(value: Json) -> tuple[tuple[str, str], ...]:
    items = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
    pairs = {str(item.get("name")): item.get("value") for item in items}
    return tuple(sorted((n, v) for n, v in pairs.items() if isinstance(v, str) and not _TEMPLATE.search(v)))


def _config(document: Mapping[str, Json], member: str) -> Json:
    """A list of configuration entries: at the top of a catalogue entry, below `config` in the repository."""
    return _object(document.get("config")).get(member, document.get(member))


def _inputs(document: Mapping[str, Json]) -> Iterator[PackageInput]:
    """Secrets, and variables whose values are templates of user configuration."""
    seen = set()
    for member, named in (("secrets", "env"), ("env", "name")):
        rows = _config(document, member)
        for row in objects_in(rows)[:MAX_INPUTS]:
            name, value = text_or_empty(row.get(named)), row.get("value")
            known = member == "env" and isinstance(value, str) and not _TEMPLATE.search(value)
            if known or name in seen or not VARIABLE_NAME.fullmatch(name):
                continue
            seen.add(name)
            hints = (text_or_empty(row.get("example")), text_or_empty(row.get("description")))
            yield PackageInput(
                place=InputPlace.ENVIRONMENT,
                name=name,
                hint="\n".join(filter(None, hints))[:MAX_HINT],
                required=row.get("required") is True,
                secret=member == "secrets",
            )


def _version(document: Mapping[str, Json], targets: tuple[Target, ...]) -> str:
    commit = _object(document.get("source")).get("commit")
    is_known = isinstance(commit, str) and len(commit) <= MAX_VERSION
    return str(commit) if is_known else next((target.version or "" for target in targets), "")


def _repository(document: Mapping[str, Json]) -> str | None:
    """The upstream project: `upstream` or a `source` URL in the catalogue, `source.project` in the repository."""
    source = document.get("source")
    project, folder = (
        (source.get("project"), source.get("directory")) if isinstance(source, Mapping) else (source, None)
    )
    for candidate in (document.get("upstream"), project):
        if isinstance(candidate, str):
            try:
                address = normalise_repository_url(candidate)
                inside = normalise_folder(folder) if isinstance(folder, str) else ""
            except UnusableAddress:
                continue
            return f"{address}#{inside}" if inside and "#" not in address else address
    return None


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
