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

import secrets
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
from evidence.canonical import Json, parse_json
from evidence.kinds.access import AccessClass
from evidence.model import Absent, Observed, Target, TargetType


async def collect_access(
    session: HttpSession,
    target: Target,
    requests: Sequence[AccessRequest],
    *,
    limiter: HostRateLimiter,
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
    unauthenticated = UnauthenticatedRequests(session, target, limiter, gapless=gapless, client_version=client_version)
    if credential is not None:
        opened = [one.reply.exchange.transport for one in requests if one.opened] or [target.type.value]
        requests = await unauthenticated.ask_without_credentials(over_sse=opened[0] == TargetType.SSE.value)
    decision = classify_access(requests)
    if isinstance(decision, Absent):
        return decision, _observation(unauthenticated, 0, credential)
    reader = MetadataReader(session, limiter, limits or AccessLimits(), home=server.origin.host)
    resource, issuers = await _metadata(reader, decision, server) if thorough or decision.gate else ((), ())
    gated = decision.gate if decision.access.is_gated else None
    bogus = await unauthenticated.ask_with_bearer(secrets.token_urlsafe(24), gated) if gated else None
    findings = AccessFindings(target, decision, tuple(requests), resource, issuers, bogus, metadata_cut=reader.cut)
    return Observed(access_body(findings)), _observation(unauthenticated, reader.requests, credential)


async def _metadata(
    reader: MetadataReader, decision: AccessDecision, server: Url
) -> tuple[tuple[MetadataAttempt, ...], tuple[IssuerMetadata, ...]]:
    """The metadata of a locked server, or what an open server publishes at the well-known addresses."""
    if not (decision.access.is_gated or decision.access is AccessClass.OPEN):
        return (), ()
    advertised = list(_advertised(decision.gate.challenges if decision.gate else ()))
    resource = await reader.read_resource_metadata(server, advertised)
    document = resource[-1].document
    if document is not None:
        return resource, await reader.read_issuers(parse_json(document))
    return resource, await reader.root_metadata(server) if decision.access.is_gated else ()


def _advertised(challenges: Sequence[Challenge]) -> Iterator[str]:
    for challenge in challenges:
        if url := challenge.get("resource_metadata"):
            yield url


def _observation(
    unauthenticated: UnauthenticatedRequests, metadata: int, credential: Credential | None
) -> dict[str, Json]:
    summary = unauthenticated.transcript.summary()
    observation: dict[str, Json] = {
        "requests": metadata + len(summary),
        "metadata_requests": metadata,
        "asked": summary,
    }
    return observation | ({"credentials": "configured"} if credential else {})
