"""How a client connects to a server: the command line, and the JSON that most clients read.

All parts are declared by the publisher and untrusted; a command is quoted for a shell, JSON is encoded.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from evidence.model import Server, Target, TargetType
from evidence.package_inputs import InputPlace

_MAX: Final = 200
"""Characters of a name or address; a longer one is not shown as a command."""

_MAX_INPUTS: Final = 10
_OTHER: Final = re.compile(r"[^a-z0-9]+")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Connection(Struct, frozen=True):
    """The command (a URL for a remote) and the JSON of one target."""

    command: str
    config: str


def describe_connection(server: Server) -> Connection | None:
    """For the first target with a common command; None if there is none. Values to fill in begin with YOUR_."""
    return next((made for target in server.targets if (made := _connect(server, target)) is not None), None)


def _connect(server: Server, target: Target) -> Connection | None:
    if len(target.identifier) > _MAX or not target.identifier.isprintable():
        return None
    if target.type.is_remote:
        kind = "http" if target.type is TargetType.STREAMABLE_HTTP else "sse"
        headers = dict(target.headers[:_MAX_INPUTS])
        entry = {"type": kind, "url": target.identifier, **({"headers": headers} if headers else {})}
        return _make(server, target.identifier, entry)
    environment = {**dict(target.environment), **_placeholders(target, InputPlace.ENVIRONMENT)}
    environment = dict(list(environment.items())[:_MAX_INPUTS])
    if (words := _list_words(target, environment)) is None:
        return None
    command, *arguments = words
    config: dict[str, Any] = {"command": command, "args": arguments, **({"env": environment} if environment else {})}
    prefix = "".join(f"{name}={shlex.quote(value)} " for name, value in environment.items() if _NAME.fullmatch(name))
    return _make(server, prefix + shlex.join(words), config)


def _list_words(target: Target, environment: Mapping[str, str]) -> list[str] | None:
    """The command line; None for a kind of package that has no common command."""
    version = target.version
    match target.type:
        case TargetType.NPM:
            found = _list_npx_words(f"{target.identifier}@{version}" if version else target.identifier, target)
        case TargetType.PYPI:
            found = _list_uvx_words(f"{target.identifier}@{version}" if version else target.identifier, target)
        case TargetType.OCI:
            tag = "@" if version and version.startswith("sha256:") else ":"
            passed = [word for name in environment for word in ("-e", name)]
            image = f"{target.identifier}{tag}{version}" if version else target.identifier
            found = ["docker", "run", "-i", "--rm", *passed, image]
        case _:
            return None
    options = [word for pair in _placeholders(target, InputPlace.OPTION).items() for word in pair]
    return [*found, *target.arguments, *options, *_placeholders(target, InputPlace.WORD).values()]


def _list_npx_words(package: str, target: Target) -> list[str]:
    command = target.launch.command
    return ["npx", "-y", "--package", package, command] if command else ["npx", "-y", package]


def _list_uvx_words(package: str, target: Target) -> list[str]:
    launch = target.launch
    python = ["--python", launch.python] if launch.python else []
    options = [*python, *(word for each in launch.requirements for word in ("--with", each))]
    if launch.command in {"", target.identifier}:
        return ["uvx", *options, package]
    command = ["python", *launch.command.split()] if launch.command.startswith("-m ") else [launch.command]
    return ["uvx", *options, "--from", package, *command]


def _placeholders(target: Target, place: InputPlace) -> dict[str, str]:
    """A placeholder for each required input of a kind, by its name."""
    wanted = [one.name for one in target.inputs if one.place is place and one.required][:_MAX_INPUTS]
    return {name: f"YOUR_{_OTHER.sub('_', name.casefold()).strip('_').upper()}" for name in wanted}


def _make(server: Server, command: str, entry: dict[str, Any]) -> Connection | None:
    if len(command) > 2 * _MAX or not command.isprintable():
        return None
    name = _OTHER.sub("-", (server.name or server.ref).rpartition("/")[2].casefold()[:_MAX]).strip("-") or "server"
    return Connection(command, json.dumps({"mcpServers": {name: entry}}, indent=2))
