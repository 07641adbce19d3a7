"""How a client connects to a server: the command line, and the JSON that most clients read.

All parts are declared by the publisher and untrusted; a command is quoted for a shell, JSON is encoded.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import Any, Final

from evidence.model import Server, Target, TargetType
from evidence.package_inputs import InputPlace

_MAX: Final = 200
"""Characters of a name or address; a longer one is not shown as a command."""

_MAX_INPUTS: Final = 10
_OTHER: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Connection:
    """The command (a URL for a remote) and the JSON of one target."""

    command: str
    config: str


def describe_connection(server: Server) -> Connection | None:
    """For the first target that clients can use as it is; None if there is none."""
    return next((made for target in server.targets if (made := _connect(server, target)) is not None), None)


def _connect(server: Server, target: Target) -> Connection | None:
    if len(target.identifier) > _MAX or not target.identifier.isprintable():
        return None
    if target.type.is_remote:
        kind = "http" if target.type is TargetType.STREAMABLE_HTTP else "sse"
        return _make(server, target.identifier, {"type": kind, "url": target.identifier})
    if (words := _list_words(target)) is None:
        return None
    command, *arguments = words
    inputs = [one.name for one in target.inputs if one.place is InputPlace.ENVIRONMENT and one.required]
    environment = {**dict(target.environment[:_MAX_INPUTS]), **{name: f"YOUR_{name}" for name in inputs[:_MAX_INPUTS]}}
    entry: dict[str, Any] = {"command": command, "args": arguments}
    return _make(server, shlex.join(words), {**entry, "env": environment} if environment else entry)


def _list_words(target: Target) -> list[str] | None:
    version = target.version
    match target.type:
        case TargetType.NPM:
            found = ["npx", "-y", f"{target.identifier}@{version}" if version else target.identifier]
        case TargetType.PYPI:
            found = ["uvx", f"{target.identifier}@{version}" if version else target.identifier]
        case TargetType.OCI:
            tag = "@" if version and version.startswith("sha256:") else ":"
            found = [
                "docker",
                "run",
                "-i",
                "--rm",
                f"{target.identifier}{tag}{version}" if version else target.identifier,
            ]
        case _:
            return None
    return [*found, *target.arguments]


def _make(server: Server, command: str, entry: dict[str, Any]) -> Connection | None:
    if len(command) > 2 * _MAX or not command.isprintable():
        return None
    name = _OTHER.sub("-", (server.name or server.ref).rpartition("/")[2].casefold()[:_MAX]).strip("-") or "server"
    return Connection(command, json.dumps({"mcpServers": {name: entry}}, indent=2))
