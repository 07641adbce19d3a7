"""Package indexes and their proxies, from the configuration of the user's own npm, pip and uv only."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from crawler.http.address_guard import AddressGuard, classify_address
from crawler.http.engine import HttpEngine
from crawler.http.failures import WireFailure
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.toolchain.package_indexes import (
    NpmIndex,
    PythonIndex,
    parse_endpoint,
    read_npm_index,
    read_python_index,
)

if TYPE_CHECKING:
    from crawler.http.adapters import GuardedTransport

Given = TypeVar("Given", NpmIndex, PythonIndex)

# Never dialled, not even for an index that the user configured.
_NEVER: Final = frozenset({"metadata", "link-local", "multicast", "unspecified", "malformed"})


class ConfiguredIndexes:
    """Reads the configuration of the user's tools once; its methods raise SandboxError when none is configured.

    `environ` is the environment in which the tools run. Without npm in it, Node with its npm is fetched into
    `cache_dir`.
    """

    def __init__(self, environ: Mapping[str, str], cache_dir: Path) -> None:
        self._environ = environ
        self._cache_dir = cache_dir
        self._client = asyncio.Lock()
        self._npm: NpmIndex | SandboxError | None = None
        self._python: PythonIndex | SandboxError | None = None

    async def npm(self) -> NpmIndex:
        """The index of `npm config`. A failed download of Node is not the answer of a tool: it is tried again."""
        from crawler.sandbox.toolchain import node  # noqa: PLC0415  with httpx, as below

        async with self._client:
            if self._npm is None:
                npm = await node.provide_npm(self._cache_dir, self._environ)
                self._npm = await _ask(asyncio.to_thread(read_npm_index, self._environ, npm))
            return _given(self._npm)

    async def python(self) -> PythonIndex:
        """The indexes of uv's or pip's configuration."""
        async with self._client:
            if self._python is None:
                self._python = await _ask(asyncio.to_thread(read_python_index, self._environ))
            return _given(self._python)


async def _ask(answer: Awaitable[Given]) -> Given | SandboxError:
    try:
        return await answer
    except SandboxError as error:
        return error


def _given(answer: Given | SandboxError) -> Given:
    if isinstance(answer, SandboxError):
        raise SandboxError(str(answer))
    return answer


@dataclass(frozen=True, slots=True)
class IndexGuard(AddressGuard):
    """Opens what `AddressGuard` opens, and the `doors` of the user's indexes: addresses with their port.

    A company's index is often on a private network, and serves files at the same address and port. No other private
    address is opened.
    """

    endpoints: frozenset[tuple[str, int]] = frozenset()

    def vet(self, addresses: Sequence[str], port: int) -> tuple[str, ...]:
        """The addresses when each may be dialled; else raise BlockedAddress."""
        others = [address for address in addresses if (address, port) not in self.endpoints]
        if others:
            AddressGuard.vet(self, others, port)
        return tuple(addresses)


async def index_transport(
    engine: HttpEngine, index: NpmIndex | PythonIndex, *, most_bytes: int, seconds: float = 60.0
) -> GuardedTransport:
    """A transport to an index and its files; one body of at most `most_bytes`, one answer in `seconds`.

    It also downloads archives from `Archive.address`. Close it, or the client that holds it.
    """
    from crawler.http.adapters import GuardedTransport  # noqa: PLC0415  with httpx: a scan of a remote reads no index

    found: set[tuple[str, int]] = set()
    for endpoint in {endpoint for url in index.urls if (endpoint := parse_endpoint(url))}:
        try:
            addresses = await engine.resolve(endpoint.host)
        except WireFailure:
            continue  # the request itself reports the failure
        found.update((address, endpoint.port) for address in addresses if classify_address(address) not in _NEVER)
    guard = IndexGuard(allow_private=engine.guard.allow_private, endpoints=frozenset(found))
    limits = replace(engine.limits, total=seconds, wire_bytes=most_bytes, body_bytes=most_bytes)
    return GuardedTransport(engine, guard=guard, limits=limits)
