"""server.json documents of every published schema, written for the tests."""

from __future__ import annotations

from typing import Any

SCHEMA = "https://static.modelcontextprotocol.io/schemas/{}/server.schema.json"
CAMEL = ("2025-09-16", "2025-09-29", "2025-10-11", "2025-10-17", "2025-12-11")
DATED = ("2025-07-09", *CAMEL)


def document(version: str, /, **members: Any) -> dict[str, Any]:
    """A small valid document of a dated schema; `members` are added or replace."""
    return {
        "$schema": SCHEMA.format(version),
        "name": "io.github.someone/thing",
        "description": "Does one thing.",
        "version": "1.0.0",
        "repository": {"url": "https://github.com/someone/thing", "source": "github"},
        **members,
    }


def package(version: str, /, **members: Any) -> dict[str, Any]:
    """A small valid package of a dated schema."""
    kind = "registry_type" if version == "2025-07-09" else "registryType"
    return {
        kind: "npm",
        "identifier": "@someone/thing",
        "version": "1.0.0",
        "transport": {"type": "stdio"},
        **members,
    }


EARLIEST: dict[str, Any] = {
    "id": "0d9cbd0a",
    "name": "io.github.someone/thing",
    "description": "Does one thing, and its description is longer than any of the later schemas would allow. " * 2,
    "repository": {"url": "https://github.com/someone/thing", "source": "github", "id": "1"},
    "version_detail": {"version": "0.0.1-seed", "is_latest": True},
    "packages": [
        {
            "registry_name": "docker",
            "name": "someone/thing",
            "version": "1.0.0",
            "environment_variables": [
                {"name": "MODE", "value": "safe"},
                {"name": "TOKEN", "is_secret": True, "value": "x"},
            ],
            "package_arguments": [{"type": "positional", "value": "serve"}],
        }
    ],
    "remotes": [{"transport_type": "sse", "url": "https://thing.example.com/sse"}],
}
