"""The answer of each virtual server to one request, and its delay."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any, Final

from bench.simulation import content
from bench.simulation.population import Kind, Population, Remote
from tests.servers.scripted import reply, streamable
from tests.servers.scripted_answers import Script

SLUGGISH_SECONDS: Final = 28.0  # just under the time that the first byte of an answer gets
_ASLEEP_AFTER: Final = 60.0
_RESOURCE: Final = ".well-known/oauth-protected-resource"
_AUTHORIZATION: Final = ".well-known/oauth-authorization-server"
_PAGE: Final = b"<!doctype html><html><head><title>Product</title></head><body>" + b"<p>Buy it.</p>" * 400 + b"</body>"


@dataclass(frozen=True)
class Simulated(Script):
    """A scripted server whose lists have the sizes of real ones, and none of the scripted faults.

    `changes` is how often it has changed its first tool.
    """

    changes: int = 0

    @property
    def page_size(self) -> int:
        """One in twenty pages its lists by ten items."""
        return 10 if self.number % 20 == 1 else 10_000

    def items(self, name: str) -> list[dict[str, Any]]:
        """The whole list behind one of the four list methods."""
        listed = _items(self.seed, self.number, name)
        if not self.changes or name != "tools":
            return listed
        first, *others = listed
        return [{**first, "description": f"{first['description']} Revision {self.changes}."}, *others]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: path without query, headers in lower case, and which scheme it came by."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    scheme: str

    @property
    def origin(self) -> str:
        """As the client wrote it."""
        return f"{self.scheme}://{self.headers.get('host', '')}"


class World:
    """All virtual servers; `seed` and number of a server determine its answers, the time its delay."""

    def __init__(self, population: Population) -> None:
        self._population = population
        self._last: dict[int, float] = {}
        self._day = 0

    def begin_day(self) -> None:
        """Let the servers of the population's share change."""
        self._day += 1

    def remote(self, path: str) -> Remote | None:
        """The server that a path belongs to; None for an address shared by all servers of a host."""
        number = next((part for part in path.strip("/").split("/") if part.isdigit()), "")
        return self._population.remotes[int(number)] if number and int(number) < self._population.size else None

    def seconds(self, remote: Remote | None, now: float) -> float | None:
        """How long the answer takes; None when there will be none."""
        if remote is None:
            return self._population.pace * 0.1
        if remote.kind is Kind.HANGING:
            return None
        if remote.kind is Kind.SLUGGISH:
            return self._population.pace * SLUGGISH_SECONDS
        last, self._last[remote.number] = self._last.get(remote.number), now
        asleep = last is None or now - last > _ASLEEP_AFTER * self._population.pace
        return remote.latency + (remote.cold if asleep else 0.0)

    def answer(self, asked: Asked) -> bytes:
        """The whole HTTP answer."""
        remote = self.remote(asked.path)
        if ".well-known/" in asked.path:
            return _metadata(asked, remote)
        match remote.kind if remote else None:
            case Kind.GATED:
                return _challenge(asked)
            case Kind.HTML:
                return reply(200, _PAGE, content_type="text/html; charset=utf-8")
            case None | Kind.MISSING:
                return reply(404, b"Not Found", content_type="text/plain")
        if asked.method != "POST":
            return reply(200 if asked.method == "DELETE" else 405, b"")
        assert remote is not None
        changes = self._population.count_changes(remote.number, self._day)
        return streamable(Simulated(self._population.seed, remote.number, changes), asked.headers, asked.body)


def _challenge(asked: Asked) -> bytes:
    where = f"{asked.origin}/{_RESOURCE}{asked.path}"
    body = b'{"error":"invalid_token","error_description":"Missing or invalid access token"}'
    return reply(401, body, headers={"www-authenticate": f'Bearer error="invalid_token", resource_metadata="{where}"'})


def _metadata(asked: Asked, remote: Remote | None) -> bytes:
    """RFC 9728 below the path of a gated server, RFC 8414 at the root of every host."""
    if remote is not None and remote.kind is Kind.GATED and _RESOURCE in asked.path:
        resource = f"{asked.origin}/{remote.number}/mcp"
        return _json({"resource": resource, "authorization_servers": [asked.origin], "scopes_supported": ["read"]})
    if remote is None and asked.path == f"/{_AUTHORIZATION}":
        return _json(
            {
                "issuer": asked.origin,
                "authorization_endpoint": f"{asked.origin}/authorize",
                "token_endpoint": f"{asked.origin}/token",
                "registration_endpoint": f"{asked.origin}/register",
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "code_challenge_methods_supported": ["S256"],
            }
        )
    return reply(404, b"Not Found", content_type="text/plain")


def _json(document: dict[str, Any]) -> bytes:
    return reply(200, json.dumps(document).encode())


@functools.lru_cache(maxsize=4096)
def _items(seed: int, number: int, name: str) -> list[dict[str, Any]]:
    return content.items(seed, number, name)
