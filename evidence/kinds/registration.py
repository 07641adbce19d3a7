"""Kind `registration`: every registry entry that names the server, as received.

Body, schema 1 (UTF-8 JSON; `ENTRY` is spliced in byte for byte):

    {"refs": [{"registry": STRING, "name": STRING, "version": STRING, "status": STATUS, "error"?: STRING,
               "entry": ENTRY}, ...]}

The most trusted ref is the first (docs/decisions/0002). Rules read the first ref only: anyone may register another
party's server again, and such an entry must not change its score. The others are kept and displayed.

`error` is a schema error that leaves the server reachable, such as a description that is too long. When schema errors
make the server unreachable, the record is Absent(invalid_registration).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from evidence.canonical import Json, parse_json
from evidence.json_members import objects_in
from evidence.kinds.traits import Traits
from evidence.model import Absent, Observed, Reason, ServerRef, Status

KIND: Final = "registration"
SCHEMA: Final = 1
TRAITS: Final = Traits(licence="The entry as its registry publishes it, under the terms of that registry.")

# Anyone may register a server again: without a bound all entries together could exceed the parser's limit.
MAX_BYTES: Final = 4 * 1024 * 1024


def compose_registration(refs: Sequence[ServerRef]) -> Observed | Absent:
    """The record content for all refs of one server; Absent when no ref is valid.

    `refs` come most trusted first, in an order that does not depend on how they were found, and keep it. Deleted refs
    count only when no other is left. When they exceed MAX_BYTES together, the first that fit are kept.
    """
    valid = list(_fitting(refs))
    if not valid:
        errors = sorted(f"{ref.registry}: {ref.error or 'no registry entry'}" for ref in refs)
        return Absent(Reason.INVALID_REGISTRATION, "; ".join(errors) or "no registry entry")
    return Observed(b'{"refs":[' + b",".join(_compose_ref(ref) for ref in valid) + b"]}")


def _fitting(refs: Sequence[ServerRef]) -> Iterator[ServerRef]:
    alive = any(ref.status not in {Status.INVALID, Status.DELETED} for ref in refs)
    unwanted = {Status.INVALID, Status.DELETED} if alive else {Status.INVALID}
    left = MAX_BYTES
    for ref in refs:
        if ref.status not in unwanted and len(ref.entry) <= left:
            left -= len(ref.entry)
            yield ref


def _compose_ref(ref: ServerRef) -> bytes:
    head = {"registry": ref.registry, "name": ref.name, "version": ref.version, "status": ref.status.value}
    if ref.error:
        head["error"] = ref.error
    return json.dumps(head, separators=(",", ":")).encode()[:-1] + b',"entry":' + ref.entry + b"}"


class Registration(Struct, frozen=True, dict=True):
    """Typed, tolerant view of a registration body."""

    refs: tuple[Mapping[str, Json], ...]

    @classmethod
    def parse(cls, body: bytes) -> Registration:
        """View a body of the current schema; raise NotJson when it is not JSON."""
        value = parse_json(body)
        refs = value.get("refs") if isinstance(value, Mapping) else None
        return cls(tuple(ref for ref in refs if isinstance(ref, Mapping)) if isinstance(refs, list) else ())

    @property
    def entries(self) -> tuple[Mapping[str, Json], ...]:
        """The registry entries (server.json shape) that are objects, most trusted first."""
        return tuple(entry for ref in self.refs if (entry := _unwrap(ref.get("entry"))) is not None)

    @property
    def leading(self) -> Mapping[str, Json]:
        """The entry of the most trusted ref, the only one that rules judge; empty when it is not an object."""
        return (_unwrap(self.refs[0].get("entry")) if self.refs else None) or {}

    def text(self, *paths: str) -> str:
        """The first non-blank string at one of the dotted paths in the leading entry, trimmed; or empty."""
        found = (_at(self.leading, path) for path in paths)
        return next((value.strip() for value in found if isinstance(value, str) and value.strip()), "")

    @property
    def packages(self) -> tuple[Declaration, ...]:
        """Declared packages of the leading entry in its order, without duplicates."""
        return _distinct(
            Declaration(_first_text(package, "identifier", "name") or "package", package)
            for package in objects_in(self.leading.get("packages"))
        )

    @property
    def remotes(self) -> tuple[Declaration, ...]:
        """Declared remotes of the leading entry in its order, without duplicates."""
        return _distinct(
            Declaration(_first_text(remote, "url") or "remote", remote)
            for remote in objects_in(self.leading.get("remotes"))
        )

    @property
    def settings(self) -> tuple[Declaration, ...]:
        """The inputs that a user must provide: variables of packages and headers of remotes, without duplicates."""
        holders = [*self.packages, *self.remotes]
        members = ("environmentVariables", "environment_variables", "headers")
        return _distinct(
            Declaration(_first_text(setting, "name") or "setting", setting)
            for holder in holders
            for member in members
            for setting in objects_in(holder.raw.get(member))
        )


class Declaration(Struct, frozen=True, dict=True):
    """One object that a registry entry declares, and a label for it."""

    label: str
    raw: Mapping[str, Json]


def _unwrap(entry: Json) -> Mapping[str, Json] | None:
    """An entry as `server.json`; some registries return `{"server": ..., "_meta": ...}`."""
    if not isinstance(entry, Mapping):
        return None
    inner = entry.get("server")
    return inner if isinstance(inner, Mapping) and "name" not in entry else entry


def _at(entry: Mapping[str, Json], path: str) -> Json:
    value: Json = entry
    for member in path.split("."):
        value = value.get(member) if isinstance(value, Mapping) else None
    return value


def _first_text(holder: Mapping[str, Json], *members: str) -> str:
    return next((value for member in members if isinstance(value := holder.get(member), str) and value), "")


def _distinct(declarations: Iterable[Declaration]) -> tuple[Declaration, ...]:
    kept: dict[str, Declaration] = {}
    for declaration in declarations:
        kept.setdefault(json.dumps(declaration.raw, sort_keys=True), declaration)
    return tuple(kept.values())


def transport_type(declared: Mapping[str, Json]) -> str:
    """The transport of a package or remote in lower case, in any of the published shapes; empty when missing."""
    transport = declared.get("transport")
    nested = transport.get("type") if isinstance(transport, Mapping) else transport
    found = [value for value in (nested, declared.get("type"), declared.get("transport_type")) if value]
    return found[0].strip().lower() if found and isinstance(found[0], str) else ""
