"""Claims to control a server: the places of proofs, and the token that becomes valid with the proof.

A proof counts only at an address that the owner of the server's identity controls, not at one that the registration
names (docs/decisions/0033). It names the server, so that an owner of several servers proves each of them.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from evidence.canonical import NotJson
from evidence.kinds import package
from evidence.model import Observed, Server
from evidence.store import Store
from evidence.store.community.claim_values import Claim, ClaimLimits, ProofMethod
from publish.community.disputable_lines import list_shown_runs
from publish.community.limits import DAY, HOUR, CommunityLimits
from publish.community.tokens import create_token, owner_scope
from publish.views.public_servers import read_public_server

WELL_KNOWN: Final = "/.well-known/hallmark.txt"
PROOF_FILE: Final = WELL_KNOWN.lstrip("/")
"""The same file, in a repository."""

DNS_LABEL: Final = "_hallmark"
SERVER_ITSELF: Final = "instructions or serverInfo"

_CHALLENGE_BYTES: Final = 16
_GITHUB: Final = re.compile(
    r"(?:git\+)?(?:https?|ssh|git)://(?:[\w.-]+@)?(?:www\.)?github\.com/([\w-]{1,100})/([\w.-]{1,100})"
)


class ClaimRefusal(StrEnum):
    """Why a claim was refused."""

    NO_SUCH_PLACE = "no_such_place"
    TOO_MANY = "too_many"


class ProofPlace(Struct, frozen=True):
    """Where the proof of one server may be: a URL, the name of a DNS record, `OWNER/REPO`, or the server's words."""

    way: ProofMethod
    place: str


class ClaimWithToken(Struct, frozen=True, kw_only=True):
    """A claim and its token, which is shown once and valid while the claim is proven."""

    claim: Claim
    token: str


class ClaimRefused(Struct, frozen=True, kw_only=True):
    """The claim was refused; the message says what was expected and what to do."""

    why: ClaimRefusal
    message: str


def list_proof_places(store: Store, limits: CommunityLimits, server: Server) -> tuple[ProofPlace, ...]:
    """The places where control of a server can be proven, the most reliable one first."""
    found = list(_of_address(server.ref, plain_http=limits.plain_http))
    if not server.ref.startswith(("https://", "http://")) and (repository := _repository(store, server)):
        found.append(ProofPlace(ProofMethod.REPOSITORY, repository))
    return (*found, ProofPlace(ProofMethod.SERVER, SERVER_ITSELF))


def start_claim(
    store: Store, limits: CommunityLimits, now: datetime, server: Server, *, way: ProofMethod, client: str
) -> ClaimWithToken | ClaimRefused:
    """Claim to control a server. Workers check for the proof within minutes."""
    place = next((one for one in list_proof_places(store, limits, server) if one.way is way), None)
    if place is None:
        known = ", ".join(one.way.value for one in list_proof_places(store, limits, server))
        message = f"control of {server.ref} cannot be proven by {way.value}, expected one of: {known}"
        return ClaimRefused(why=ClaimRefusal.NO_SUCH_PLACE, message=message)
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
    minted = create_token(f"control of {server.id} by {way.value}", (owner_scope(server.id),), now=now)
    bounds = ClaimLimits(limits.claims_of_client, now - DAY, limits.claims_of_server, now - HOUR)
    if not store.claims.put_claim(claim, minted.token, bounds):
        message = "too many claims by you in 24 hours, or too many that wait for their proof: try again later"
        return ClaimRefused(why=ClaimRefusal.TOO_MANY, message=message)
    return ClaimWithToken(claim=claim, token=minted.text)


def _of_address(ref: str, *, plain_http: bool) -> Iterator[ProofPlace]:
    if not ref.startswith("https://") and not (plain_http and ref.startswith("http://")):
        return
    parts = urlsplit(ref)
    yield ProofPlace(ProofMethod.WELL_KNOWN, f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}")
    if parts.hostname and _has_records(parts.hostname):
        yield ProofPlace(ProofMethod.DNS, f"{DNS_LABEL}.{parts.hostname}")


def _has_records(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return "." in host
    return False


def _repository(store: Store, server: Server) -> str | None:
    """The repository that the package declares, or that is the server itself; never that of the registration."""
    for prefix in ("repo:", "mcpb:"):
        if server.ref.startswith(prefix):
            return _on_github(server.ref.removeprefix(prefix))
    for run in list_shown_runs(store, server.id):
        shown = read_public_server(store, run, server.id)
        content = shown.dossier.read(package.KIND) if shown else None
        if isinstance(content, Observed):
            return _repository_of_package(content.body)
    return None


def _repository_of_package(body: bytes) -> str | None:
    try:
        stated = package.Package.parse(body).repository
    except NotJson:
        return None
    return None if stated is None else _on_github(stated.url)


def _on_github(url: str) -> str | None:
    found = _GITHUB.match(url)
    return None if found is None else f"{found[1]}/{found[2].removesuffix('.git')}"
