"""Opt-outs: domains, hosts and servers that are never contacted, from a text like robots.txt or one by one.

# A domain, with every host below it. Everything after a hash is for people.
example.com
domain: example.org
host: mcp.example.net
server: io.example/weather        # by name, reference or id
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final, Self

from crawler.http.failures import InvalidTarget
from crawler.http.url import parse_url
from evidence.model import Absent, Reason, Server

MAX_ENTRIES: Final = 100_000
"""Lines of a text; a longer text is refused."""


class OptOutScope(StrEnum):
    """What an entry names: a domain with everything below it, one host, or one server."""

    DOMAIN = "domain"
    HOST = "host"
    SERVER = "server"


class InvalidOptOuts(ValueError):
    """An entry is not valid; the message states the line and the expectation."""


class OptOutList:
    """Decides whether a server may be contacted."""

    def __init__(self, entries: Iterable[tuple[OptOutScope, str]] = ()) -> None:
        self._values: dict[OptOutScope, set[str]] = defaultdict(set)
        for scope, value in entries:
            self._values[scope].add(normalise_value(scope, value))

    @classmethod
    def parse(cls, text: str) -> Self:
        """The list of a text; raise InvalidOptOuts, because an invalid line would otherwise be ignored."""
        return cls(parse_entries(text))

    def __or__(self, other: OptOutList) -> OptOutList:
        """The union of both lists."""
        return OptOutList([*self._entries(), *other._entries()])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OptOutList) and set(self._entries()) == set(other._entries())

    def __hash__(self) -> int:
        return hash(frozenset(self._entries()))

    def __len__(self) -> int:
        return sum(map(len, self._values.values()))

    @property
    def servers(self) -> frozenset[str]:
        """The names, references and ids in the list."""
        return frozenset(self._values[OptOutScope.SERVER])

    def why(self, server: Server) -> Absent | None:
        """Why a server is not contacted: an entry names it or the host of one of its addresses. None when it may be."""
        for name in (server.id, server.ref, server.name):
            if name in self._values[OptOutScope.SERVER]:
                return _opted_out(OptOutScope.SERVER, name)
        for target in server.targets:
            if target.type.is_remote and (found := self.explain_host(_host(target.identifier))):
                return found
        return None

    def explain_host(self, host: str) -> Absent | None:
        """Why a host is not contacted; None when it may be."""
        if host in self._values[OptOutScope.HOST]:
            return _opted_out(OptOutScope.HOST, host)
        domains = self._values[OptOutScope.DOMAIN]
        above = host
        while domains and above:
            if above in domains:
                return _opted_out(OptOutScope.DOMAIN, above)
            above = above.partition(".")[2]
        return None

    def _entries(self) -> Iterator[tuple[OptOutScope, str]]:
        return ((scope, value) for scope, values in self._values.items() for value in values)


def parse_entries(text: str) -> Iterator[tuple[OptOutScope, str]]:
    """The entries of a text, line by line; raise InvalidOptOuts on an invalid line."""
    lines = text.splitlines()
    if len(lines) > MAX_ENTRIES:
        raise InvalidOptOuts(f"more than {MAX_ENTRIES} lines")
    for number, line in enumerate(lines, 1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        try:
            yield parse_entry(entry)
        except InvalidOptOuts as error:
            raise InvalidOptOuts(f"line {number}: {error}") from error


def parse_entry(entry: str) -> tuple[OptOutScope, str]:
    """One entry: `host: NAME`, `domain: NAME`, `server: NAME`, or a domain alone."""
    word, colon, rest = entry.partition(":")
    if colon and word.strip().lower() in {scope.value for scope in OptOutScope}:
        scope = OptOutScope(word.strip().lower())
        return scope, normalise_value(scope, rest)
    return OptOutScope.DOMAIN, normalise_value(OptOutScope.DOMAIN, entry)


def normalise_value(scope: OptOutScope, value: str) -> str:
    """The normal form of a value; raise InvalidOptOuts when it is not valid in its scope."""
    trimmed = value.strip()
    if scope is OptOutScope.SERVER:
        if not trimmed:
            raise InvalidOptOuts("expected the name, reference or id of a server")
        return trimmed
    try:
        host = parse_url(f"https://{trimmed.rstrip('.')}/").origin.host
    except InvalidTarget as error:
        raise InvalidOptOuts(f"expected a host name such as mcp.example.com, found {trimmed[:80]!r}") from error
    if "/" in trimmed or "*" in trimmed or "@" in trimmed or (scope is OptOutScope.DOMAIN and "." not in host):
        raise InvalidOptOuts(f"expected a {scope} such as example.com, found {trimmed[:80]!r}")
    return host


def _host(url: str) -> str:
    try:
        return parse_url(url).origin.host
    except InvalidTarget:
        return ""


def _opted_out(scope: OptOutScope, value: str) -> Absent:
    return Absent(Reason.OPTED_OUT, f"the {scope} {value} opted out of being measured")
