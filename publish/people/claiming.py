"""Claims to control a server: where a proof may be, and the token that counts once it was found there.

A proof counts only where whoever is responsible for the server's identity decides what stands there, not where its
registration says (docs/decisions/0033). It names the server, so that whoever serves many proves each of them.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from evidence.canonical import NotJson
from evidence.kinds import package
from evidence.model import Observed, Server
from evidence.store import Store
from evidence.store.claim_rows import Claim, ClaimLimits, Way
from publish.dataset import published
from publish.people.limits import DAY, HOUR, PeopleLimits
from publish.people.lines import newest_runs
from publish.people.tokens import mint, owner_scope

WELL_KNOWN: Final = "/.well-known/hallmark.txt"
FILE: Final = WELL_KNOWN.lstrip("/")
"""The same file, in a repository."""

LABEL: Final = "_hallmark"
ITSELF: Final = "instructions or serverInfo"

_CHALLENGE_BYTES: Final = 16
_GITHUB: Final = re.compile(
    r"(?:git\+)?(?:https?|ssh|git)://(?:[\w.-]+@)?(?:www\.)?github\.com/([\w-]{1,100})/([\w.-]{1,100})"
)


class WhyNotStarted(StrEnum):
    """Why there is no claim."""

    NO_SUCH_PLACE = "no_such_place"
    TOO_MANY = "too_many"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the proof of one server may be: a URL, the name of a DNS record, `OWNER/REPO`, or the server's words."""

    way: Way
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A claim and the text of its token, which is told this once and counts while the claim is proven."""

    claim: Claim
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotStarted:
    """There is no claim; the message says what was expected, and what to do."""

    why: WhyNotStarted
    message: str


def places(store: Store, limits: PeopleLimits, server: Server) -> tuple[Place, ...]:
    """Where control of a server can be proven, the surest way first."""
    found = list(_of_address(server.ref, plain_http=limits.plain_http))
    if not server.ref.startswith(("https://", "http://")) and (repository := _repository(store, server)):
        found.append(Place(Way.REPOSITORY, repository))
    return (*found, Place(Way.SERVER, ITSELF))


def start(
    store: Store, limits: PeopleLimits, now: datetime, server: Server, *, way: Way, client: str
) -> Started | NotStarted:
    """Claim to control a server. Nothing is looked at here: workers look for the proof within minutes."""
    place = next((one for one in places(store, limits, server) if one.way is way), None)
    if place is None:
        known = ", ".join(one.way.value for one in places(store, limits, server))
        message = f"control of {server.ref} cannot be proven by {way.value}, expected one of: {known}"
        return NotStarted(why=WhyNotStarted.NO_SUCH_PLACE, message=message)
    claim = Claim(
        id=f"clm_{secrets.token_hex(8)}",
        server=server.id,
        way=way,
        place=place.place,
        challenge=f"hallmark-control={server.id}.{secrets.token_hex(_CHALLENGE_BYTES)}",
        client=client,
        asked_at=now,
        due_at=now,
    )
    minted = mint(f"whoever controls {server.id} by {way.value}", (owner_scope(server.id),), now=now)
    bounds = ClaimLimits(limits.claims_of_client, now - DAY, limits.claims_of_server, now - HOUR)
    if not store.claims.start(claim, minted.token, bounds):
        message = "too many claims by you in 24 hours, or too many that wait for their proof: try again later"
        return NotStarted(why=WhyNotStarted.TOO_MANY, message=message)
    return Started(claim=claim, token=minted.text)


def _of_address(ref: str, *, plain_http: bool) -> Iterator[Place]:
    if not ref.startswith("https://") and not (plain_http and ref.startswith("http://")):
        return
    parts = urlsplit(ref)
    yield Place(Way.WELL_KNOWN, f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}")
    if parts.hostname and _has_records(parts.hostname):
        yield Place(Way.DNS, f"{LABEL}.{parts.hostname}")


def _has_records(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return "." in host
    return False


def _repository(store: Store, server: Server) -> str | None:
    """The repository that the package itself names, or the one that is the server: not what a registration says."""
    for prefix in ("repo:", "mcpb:"):
        if server.ref.startswith(prefix):
            return _on_github(server.ref.removeprefix(prefix))
    for run in newest_runs(store, server.id):
        for shown in published(store, run, servers=[server.id]):
            content = shown.dossier.read(package.KIND)
            if isinstance(content, Observed):
                return _stated(content.body)
    return None


def _stated(body: bytes) -> str | None:
    try:
        stated = package.Package.parse(body).repository
    except NotJson:
        return None
    return None if stated is None else _on_github(stated.url)


def _on_github(url: str) -> str | None:
    found = _GITHUB.match(url)
    return None if found is None else f"{found[1]}/{found[2].removesuffix('.git')}"
