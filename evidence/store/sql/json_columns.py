"""Converts pure values to the JSON text of columns and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import orjson

from evidence.canonical import Json
from evidence.launch_options import LaunchOptions
from evidence.model import Target, TargetType
from evidence.package_inputs import PackageInput

_TYPES: Final = {one.value: one for one in TargetType}


def to_json(value: Json) -> str:
    """Compact ASCII JSON, so that every database can store NUL and lone surrogates."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, default=_plain)


def from_json(text: str | bytes) -> Any:
    return json.loads(text)


def from_json_fast(text: str) -> Any:
    """Parse JSON without numbers; orjson is faster but reads some numbers differently."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:  # orjson refuses lone surrogates
        return json.loads(text)


def object_from_json(text: str | bytes) -> dict[str, Json]:
    value: dict[str, Json] = json.loads(text)
    return value


def targets_to_json(targets: Iterable[Target]) -> str:
    return to_json([_target_to_json(target) for target in targets])


def targets_from_json(text: str) -> tuple[Target, ...]:
    return tuple(_target_from_json(item) for item in from_json_fast(text))


def _plain(value: Any) -> Any:
    """A mapping or sequence of any class as the dict or list that `json` can serialise."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _target_to_json(target: Target) -> dict[str, Json]:
    members: dict[str, Json] = {"type": target.type.value, "identifier": target.identifier}
    optional: dict[str, Json] = {
        "version": target.version,
        "arguments": list(target.arguments),
        "environment": [list(pair) for pair in target.environment],
        "headers": [list(pair) for pair in target.headers],
        "inputs": [given.as_json() for given in target.inputs],
        "launch": target.launch.as_json(),
    }
    return members | {name: value for name, value in optional.items() if value not in (None, [], {})}


def _target_from_json(item: Mapping[str, Any]) -> Target:
    return Target(
        type=_TYPES[item["type"]],
        identifier=item["identifier"],
        version=item.get("version"),
        arguments=tuple(item.get("arguments", ())),
        environment=tuple((name, value) for name, value in item.get("environment", ())),
        headers=tuple((name, value) for name, value in item.get("headers", ())),
        inputs=tuple(PackageInput.from_json(row) for row in item.get("inputs", ())),
        launch=LaunchOptions.from_json(item.get("launch", {})),
    )
