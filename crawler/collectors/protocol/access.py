"""Who gets in: the kind `access`, from what a visit has already asked and a few questions more.

    content, observation = await look_at_access(visit, target, asked, courtesy=courtesy, gapless=own,
                                                client_version=version, credential=credential, thorough=full)

`asked` is what the visit asked at the door, in order: the openings `discover`, `initialize` and `sse-open` (steps of
kind `exchanges`) and the first page of every list, each with its reply. An opening that succeeded says so in `opened`
and names the `version`. Replies that came for a `credential` tell nothing about the door, so with one configured they
are passed over, and the openings are asked once more without it.

Asked here: RFC 9728 and RFC 8414 or OpenID metadata by GET, at most `AccessLimits.metadata` documents and 256 KiB each,
on connections of `visit` and so behind its guard, of an open server only when `thorough`; and on a locked server the
refused question once more with a bearer token that cannot be valid. Nothing is registered, no flow is started, nothing
is POSTed to an advertised endpoint.

Observed whenever an HTTP answer says something about access; Absent with the reason of the listing when only timeouts,
429, 5xx or failures of the wire were seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crawler.collectors.protocol.access_body import Look, access_body
from crawler.collectors.protocol.access_door import Asked, Door, judge_door
from crawler.collectors.protocol.access_knocking import Knocker
from crawler.collectors.protocol.access_metadata import AccessLimits, Attempt, Issuer, MetadataReader
from crawler.courtesy import Courtesy
from crawler.credentials import Credential
from crawler.wire.address import Url, parse_url
from crawler.wire.challenge import Challenge
from crawler.wire.failures import InvalidTarget
from crawler.wire.http import Visit
from crawler.wire.receiving import BOGUS_BEARER
from evidence.canonical import Json, parse_json
from evidence.kinds.access import AccessClass
from evidence.model import Absent, Observed, Target, TargetType

__all__ = ["BOGUS_BEARER", "AccessLimits", "Asked", "look_at_access"]


async def look_at_access(
    visit: Visit,
    target: Target,
    asked: Sequence[Asked],
    *,
    courtesy: Courtesy,
    gapless: bool,
    client_version: str,
    credential: Credential | None = None,
    limits: AccessLimits | None = None,
    thorough: bool = True,
) -> tuple[Observed | Absent, Mapping[str, Json]]:
    """The content of the record and its volatile observation. A remote target; raises nothing."""
    try:
        server = parse_url(target.identifier)
    except InvalidTarget as error:
        return error.absent(), {}
    knocker = Knocker(visit, target, courtesy, gapless=gapless, client_version=client_version)
    if credential is not None:
        opened = [one.reply.exchange.transport for one in asked if one.opened] or [target.type.value]
        asked = await knocker.bare(over_sse=opened[0] == TargetType.SSE.value)
    door = judge_door(asked)
    if isinstance(door, Absent):
        return door, _observation(knocker, 0, credential)
    reader = MetadataReader(visit, courtesy, limits or AccessLimits(), home=server.origin.host)
    resource, issuers = await _metadata(reader, door, server) if thorough or door.gate else ((), ())
    gated = door.gate if door.access.is_gated else None
    bogus = await knocker.with_bearer(BOGUS_BEARER, gated) if gated else None
    look = Look(target, door, tuple(asked), resource, issuers, bogus, metadata_cut=reader.cut)
    return Observed(access_body(look)), _observation(knocker, reader.requests, credential)


async def _metadata(reader: MetadataReader, door: Door, server: Url) -> tuple[tuple[Attempt, ...], tuple[Issuer, ...]]:
    """The documents of a locked server, and of an open one what it says at the well-known addresses."""
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


def _observation(knocker: Knocker, metadata: int, credential: Credential | None) -> dict[str, Json]:
    again = knocker.transcript.summary()
    observation: dict[str, Json] = {"requests": metadata + len(again), "metadata_requests": metadata, "asked": again}
    return observation | ({"credentials": "configured"} if credential else {})
