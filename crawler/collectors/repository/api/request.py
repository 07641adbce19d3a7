"""A request to GitHub's API, without its token."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from evidence.canonical import Json


class Request(Struct, frozen=True, kw_only=True):
    """One request; `path` is below the API's base, and empty for GraphQL."""

    verb: str
    path: str
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    payload: Json = None
