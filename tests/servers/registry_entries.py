"""Seeded registry rows: every schema, every way to be reached, every status, old versions and invalid documents."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA = "https://static.modelcontextprotocol.io/schemas/{}/server.schema.json"
CAMEL_SCHEMAS = ("2025-09-16", "2025-09-29", "2025-10-11", "2025-10-17", "2025-12-11")
WORDS = ("weather", "ledger", "atlas", "notes", "calendar", "search", "tickets", "maps", "files", "metrics")


@dataclass(frozen=True)
class Row:
    """One server version as the registry stores it; `document` is sent exactly as it is."""

    name: str
    version: str
    document: bytes
    status: str = "active"
    updated_at: datetime = EPOCH
    latest: bool = True
    valid: bool = True


def rows_of(documents: Sequence[dict[str, Any]]) -> list[Row]:
    """Given documents as active rows; of a name with several versions the last one is the latest."""
    last = {str(document.get("name")): index for index, document in enumerate(documents)}
    return [
        Row(
            name=str(document.get("name")),
            version=str(document.get("version", "")),
            document=json.dumps(document).encode(),
            updated_at=EPOCH + timedelta(minutes=index),
            latest=last[str(document.get("name"))] == index,
        )
        for index, document in enumerate(documents)
    ]


def load_rows(path: Path) -> list[Row]:
    """Rows of a file with a list of server.json documents."""
    documents = json.loads(path.read_bytes())
    return rows_of(documents["servers"] if isinstance(documents, dict) else documents)


def generate(count: int, seed: int, *, remote_base: str | None = None) -> list[Row]:
    """`count` latest rows with distinct names and some older versions; `remote_base` is where scripted servers are."""
    chance = random.Random(seed)
    rows: list[Row] = []
    for number in range(count):
        rows += _server(number, chance, remote_base)
    return rows


def _server(number: int, chance: random.Random, remote_base: str | None) -> list[Row]:
    document = _document(number, chance, remote_base)
    name, version = document["name"], document["version"]
    status = chance.choices(("active", "deprecated", "deleted"), (18, 1, 1))[0]
    updated = EPOCH + timedelta(minutes=chance.randrange(100_000))
    spoil = chance.choice(SPOILERS) if chance.random() < 0.08 else None
    sent = document if spoil is None else spoil(json.loads(json.dumps(document)))
    indent = chance.choice((None, 2))
    row = Row(name, version, json.dumps(sent, indent=indent).encode(), status, updated, valid=spoil is None)
    if chance.random() < 0.2:
        older = document | {"version": "0.0.1"}
        return [Row(name, "0.0.1", json.dumps(older).encode(), "active", EPOCH, latest=False), row]
    return [row]


def _document(number: int, chance: random.Random, remote_base: str | None) -> dict[str, Any]:
    word = chance.choice(WORDS)
    name = f"io.example.u{number:04d}/{word}"
    document: dict[str, Any] = {
        "name": name,
        "description": f"Server {number} for {word} ✓",
        "version": f"{chance.randrange(1, 5)}.{chance.randrange(20)}.{chance.randrange(9)}",
        "repository": {"url": f"https://github.com/example-u{number}/{word}.git", "source": "github"},
    }
    if remote_base is not None:
        return document | {
            "$schema": SCHEMA.format("2025-12-11"),
            "remotes": [{"type": "streamable-http", "url": f"{remote_base}/s/{number}/mcp"}],
        }
    schema = chance.choice(("2025-07-09", *CAMEL_SCHEMAS, None))
    if schema is not None:
        document["$schema"] = SCHEMA.format(schema)
    return document | chance.choice(REACHES)(number, word, schema)


def _remote(number: int, word: str, _schema: str | None) -> dict[str, Any]:
    kind = ("streamable-http", "sse")[number % 2]
    return {"remotes": [{"type": kind, "url": f"https://{word}{number}.example.com/mcp"}]}


def _templated(number: int, word: str, _schema: str | None) -> dict[str, Any]:
    return {"remotes": [{"type": "streamable-http", "url": f"https://{{tenant}}.example.com/{word}{number}"}]}


def _package(number: int, word: str, schema: str | None) -> dict[str, Any]:
    kind, identifier, version = (
        ("npm", f"@u{number}/{word}", "1.2.3"),
        ("pypi", f"{word}_{number}", "0.4"),
        ("oci", f"ghcr.io/u{number}/{word}:1.0", "1.0"),
        ("nuget", f"Example.{word}{number}", "2.0.0"),
    )[number % 4]
    if schema == "2025-07-09":
        package = {"registry_type": kind, "identifier": identifier, "version": version, "transport": {"type": "stdio"}}
        package["environment_variables"] = [{"name": "TOKEN", "is_required": True, "is_secret": True}]
        return {"packages": [package]}
    package = {"registryType": kind, "identifier": identifier, "version": version, "transport": {"type": "stdio"}}
    package["packageArguments"] = [{"type": "named", "name": "--mode", "value": "safe"}]
    return {"packages": [package]}


def _nothing(_number: int, _word: str, _schema: str | None) -> dict[str, Any]:
    return {}


REACHES: tuple[Callable[[int, str, str | None], dict[str, Any]], ...] = (
    _remote,
    _remote,
    _package,
    _package,
    _templated,
    _nothing,
)


def _without_description(document: dict[str, Any]) -> Any:
    del document["description"]
    return document


def _with_number_as_version(document: dict[str, Any]) -> Any:
    return document | {"version": 3}


def _with_remotes_object(document: dict[str, Any]) -> Any:
    return document | {"remotes": {"url": "https://example.com"}}


def _with_bad_name(document: dict[str, Any]) -> Any:
    return document | {"name": f"{document['name']}/extra\u0000"}


def _not_an_object(document: dict[str, Any]) -> Any:
    return [document["name"]]


def _deep(document: dict[str, Any]) -> Any:
    return document | {"_meta": {"x": json.loads("[" * 200 + "]" * 200)}}


def _with_a_lone_surrogate(document: dict[str, Any]) -> Any:
    return document | {"description": "half \ud800"}


SPOILERS: tuple[Callable[[dict[str, Any]], Any], ...] = (
    _without_description,
    _with_number_as_version,
    _with_remotes_object,
    _with_bad_name,
    _not_an_object,
    _deep,
    _with_a_lone_surrogate,
)
