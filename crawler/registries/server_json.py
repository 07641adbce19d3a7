"""Converts the bytes of a registry entry to a ServerRef, validated by its schema or recorded as invalid.

The evidence of an entry is its server object exactly as received. Metadata that a registry adds (`_meta`: dates,
popularity, flags) only fill `status` and `updated_at`, so an unchanged server has unchanged evidence
(docs/decisions/0001).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from crawler.addresses import UnusableAddress, normalise_folder, normalise_repository_url
from crawler.json_spans import split_members
from crawler.registries.json_shapes import Mismatch, describe_value, find_mismatch
from crawler.registries.server_schemas import choose_schema
from crawler.registries.targets import MAX_VERSION, find_reachable_targets
from evidence.canonical import Json, NotJson, parse_json, sha256
from evidence.model import ServerRef, Status

MAX_ENTRY: Final = 1024 * 1024
MAX_DEPTH: Final = 64

_OFFICIAL: Final = "io.modelcontextprotocol.registry/official"
_STATUSES: Final = {status.value: status for status in (Status.ACTIVE, Status.DEPRECATED, Status.DELETED)}
# Members that do not affect how a server is reached: an error there is recorded, and the server is still scored.
_ABOUT: Final = frozenset({"description", "title", "websiteUrl", "website_url", "icons", "repository", "_meta"})
_READABLE_NAME: Final = re.compile(r"[\x21-\x7e]{1,200}")


class NotLatest(Exception):
    """The registry states that a newer version of this entry exists."""


def read_entry(registry: str, data: bytes) -> ServerRef:
    """The reference of one entry, bare (`{name, ...}`) or wrapped (`{server, _meta}`).

    Never raises for the content of an entry, except NotLatest for an old version in a list of newest ones.
    """
    entry = data
    try:
        entry, wrapper = _unwrap(data)
        if len(entry) > MAX_ENTRY:
            return make_invalid_reference(
                registry, entry, f"entry: expected at most {MAX_ENTRY} bytes, found {len(entry)}"
            )
        server = parse_json(entry, max_depth=MAX_DEPTH)
    except NotJson as error:
        return make_invalid_reference(registry, entry, f"entry: {error}")
    if not isinstance(server, Mapping):
        return make_invalid_reference(registry, entry, str(Mismatch("", "an object", describe_value(server))))
    official = _official(wrapper) or _official(server)
    if official.get("isLatest", official.get("is_latest")) is False:
        raise NotLatest
    return _read_server(registry, entry, server, official)


def make_invalid_reference(registry: str, data: bytes, error: str, name: Json = None) -> ServerRef:
    """The reference of an unusable entry. Of an oversized entry only size and digest are kept."""
    readable = isinstance(name, str) and _READABLE_NAME.fullmatch(name)
    kept = data if len(data) <= MAX_ENTRY else json.dumps({"bytes": len(data), "sha256": sha256(data)}).encode()
    return ServerRef(
        registry=registry,
        name=str(name) if readable else f"unnamed-{sha256(data)[:12]}",
        version="",
        status=Status.INVALID,
        entry=kept,
        error=error,
    )


def _read_server(registry: str, entry: bytes, server: Mapping[str, Json], official: Mapping[str, Json]) -> ServerRef:
    name = server.get("name")
    version, shape = choose_schema(server)
    flaw = find_mismatch(server, shape)
    if flaw and (mismatch := find_mismatch(_essentials(server), shape)):
        return make_invalid_reference(registry, entry, f"{mismatch} (schema {version})", name)
    declared = official.get("status", server.get("status", "active"))
    status = _STATUSES.get(declared) if isinstance(declared, str) else None
    if status is None:
        mismatch = Mismatch("_meta.status", "one of " + ", ".join(_STATUSES), describe_value(declared))
        return make_invalid_reference(registry, entry, str(mismatch), name)
    reached = find_reachable_targets(server)
    if reached.unusable and not reached.targets and not _has_template(server):
        return make_invalid_reference(registry, entry, reached.unusable[0], name)
    return ServerRef(
        registry=registry,
        name=str(name),
        version=_version(server),
        status=status,
        entry=entry,
        targets=reached.targets,
        repository=_repository(server),
        updated_at=_updated_at(official),
        error=f"{flaw} (schema {version})" if flaw else None,
    )


def _essentials(server: Mapping[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in server.items() if key not in _ABOUT} | {"description": "-"}


def _unwrap(data: bytes) -> tuple[bytes, Mapping[str, Json]]:
    """The bytes of the server object, and the metadata that the registry wraps around it."""
    if not data.startswith(b"{"):
        return data, {}
    parts = dict(split_members(data))
    if "server" not in parts:
        return data, {}
    meta = parse_json(parts.get("_meta", b"{}"))
    return parts["server"], {"_meta": meta}


def _official(holder: Mapping[str, Json]) -> Mapping[str, Json]:
    """The registry's own metadata of an entry; the first API versions put it inside the server object."""
    meta = holder.get("_meta")
    official = meta.get(_OFFICIAL) if isinstance(meta, Mapping) else None
    return official if isinstance(official, Mapping) else {}


def _has_template(server: Mapping[str, Json]) -> bool:
    """Whether a remote has a template URL: a self-hosted server is a valid entry without an address to open."""
    remotes = server.get("remotes")
    return isinstance(remotes, list) and any(
        isinstance(item, Mapping) and isinstance(url := item.get("url"), str) and "{" in url for item in remotes
    )


def _version(server: Mapping[str, Json]) -> str:
    detail = server.get("version_detail")
    version = detail.get("version") if isinstance(detail, Mapping) else server.get("version")
    return version if isinstance(version, str) and len(version) <= MAX_VERSION else ""


def _repository(server: Mapping[str, Json]) -> str | None:
    declared = server.get("repository")
    if not isinstance(declared, Mapping) or not isinstance(url := declared.get("url"), str):
        return None
    try:
        address = normalise_repository_url(url)
        folder = declared.get("subfolder")
        inside = normalise_folder(folder) if isinstance(folder, str) else ""
    except UnusableAddress:
        return None
    return f"{address.partition('#')[0]}#{inside}" if inside else address


def _updated_at(official: Mapping[str, Json]) -> datetime | None:
    text = official.get("updatedAt", official.get("updated_at"))
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
