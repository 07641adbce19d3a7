"""The kind `access`: who may use a server, from the requests of a probe and a few further ones.

`requests` are those that the probe made first, in order: the openings `discover`, `initialize` and `sse-open` (steps of
kind `exchanges`) and the first page of every list, each with its reply. An opening that succeeded has `opened` and
names the `version`. Replies to a request with a `credential` do not show what others may do. With a credential
configured they are therefore ignored, and the openings are repeated without it.

Further requests: RFC 9728 and RFC 8414 or OpenID metadata by GET, at most `AccessLimits.metadata` documents of 256 KiB
each, on guarded connections; of an open server only when `thorough`. On a locked server the refused question is
repeated once with a bearer token that cannot be valid. No client is registered, no flow is started, and nothing is sent
by POST to an advertised endpoint.

The record is observed whenever an HTTP answer decides the class. It is absent with the reason of the listing when only
timeouts, 429, 5xx or failures of the connection were seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crawler.collectors.protocol.access.access_body import AccessFindings, access_body
from crawler.collectors.protocol.access.access_challenge import AccessDecision, AccessRequest, classify_access
from crawler.collectors.protocol.access.authorization_metadata import (
    AccessLimits,
    IssuerMetadata,
    MetadataAttempt,
    MetadataReader,
)
from crawler.collectors.protocol.access.unauthenticated_requests import UnauthenticatedRequests
from crawler.http.authentication_challenges import Challenge
from crawler.http.credentials import Credential
from crawler.http.engine import HttpSession
from crawler.http.failures import InvalidTarget
from crawler.http.rate_limiting import HostRateLimiter
from crawler.http.url import Url, parse_url
from crawler.mcp.response_reader import BOGUS_BEARER
from evidence.canonical import Json, parse_json
from evidence.kinds.access import AccessClass
from evidence.model import Absent, Observed, Target, TargetType

__all__ = ["BOGUS_BEARER", "AccessLimits", "AccessRequest", "collect_access"]


async def collect_access(
    visit: HttpSession,
    target: Target,
    asked: Sequence[AccessRequest],
    *,
    courtesy: HostRateLimiter,
    gapless: bool,
    client_version: str,
    credential: Credential | None = None,
    limits: AccessLimits | None = None,
    thorough: bool = True,
) -> tuple[Observed | Absent, Mapping[str, Json]]:
    """The content of the record and its volatile observation, of a remote target. Raises nothing."""
    try:
        server = parse_url(target.identifier)
    except InvalidTarget as error:
        return error.absent(), {}
    knocker = UnauthenticatedRequests(visit, target, courtesy, gapless=gapless, client_version=client_version)
    if credential is not None:
        opened = [one.reply.exchange.transport for one in asked if one.opened] or [target.type.value]
        asked = await knocker.bare(over_sse=opened[0] == TargetType.SSE.value)
    door = classify_access(asked)
    if isinstance(door, Absent):
        return door, _observation(knocker, 0, credential)
    reader = MetadataReader(visit, courtesy, limits or AccessLimits(), home=server.origin.host)
    resource, issuers = await _metadata(reader, door, server) if thorough or door.gate else ((), ())
    gated = door.gate if door.access.is_gated else None
    bogus = await knocker.ask_with_bearer(BOGUS_BEARER, gated) if gated else None
    look = AccessFindings(target, door, tuple(asked), resource, issuers, bogus, metadata_cut=reader.cut)
    return Observed(access_body(look)), _observation(knocker, reader.requests, credential)


async def _metadata(
    reader: MetadataReader, door: AccessDecision, server: Url
) -> tuple[tuple[MetadataAttempt, ...], tuple[IssuerMetadata, ...]]:
    """The metadata of a locked server, or what an open server publishes at the well-known addresses."""
    if not (door.access.is_gated or door.access is AccessClass.OPEN):
        return (), ()
    advertised = list(_advertised(door.gate.challenges if door.gate else ()))
    resource = await reader.resource(server, advertised)
    document = resource[-1].document
    if document is not None:
        return resource, await reader.issuers(parse_json(document))
    return resource, await reader.legacy(server) if door.access.is_gated else ()


def _advertised(challenges: Sequence[Challenge]) -> Iterator[str]:
    for challenge in challenges:
        if url := challenge.get("resource_metadata"):
            yield url


def _observation(knocker: UnauthenticatedRequests, metadata: int, credential: Credential | None) -> dict[str, Json]:
    again = knocker.transcript.summary()
    observation: dict[str, Json] = {"requests": metadata + len(again), "metadata_requests": metadata, "asked": again}
    return observation | ({"credentials": "configured"} if credential else {})
