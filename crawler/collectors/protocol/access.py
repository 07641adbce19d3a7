"""Who gets in: the kind `access`, from what a visit has already asked and a few questions more.

    content, observation = await look_at_access(visit, target, asked, courtesy=courtesy, gapless=own,
                                                client_version=version, credential=credential)

`asked` is what the visit asked at the door, in order: the openings `discover`, `initialize` and `sse-open` (steps of
kind `exchanges`) and the first page of every list, each with its reply. An opening that succeeded says so in `opened`
and names the `version`. Replies that came for a `credential` tell nothing about the door, so with one configured they
are passed over, and the openings are asked once more without it.

Asked here: RFC 9728 and RFC 8414 or OpenID metadata by GET, at most `AccessLimits.metadata` documents and 256 KiB each,
on connections of `visit` and so behind its guard; and on a locked server the refused question once more with a bearer
token that cannot be valid. Nothing is registered, no flow is started, nothing is POSTed to an advertised endpoint.

Observed whenever an HTTP answer says something about access; Absent with the reason of the listing when only timeouts,
429, 5xx or failures of the wire were seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from crawler.courtesy import Courtesy
from crawler.credentials import Credential
from crawler.wire.http import Visit
from crawler.wire.transcript import Reply
from evidence.canonical import Json
from evidence.model import Absent, Observed, Reason, Target

BOGUS_BEARER: Final = "hallmark-probe-bogus-token"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question at the door. `step` and `era` are those of kind `exchanges`, `method` is the JSON-RPC method.

    `opened`: an opening that succeeded, with the `version` that was negotiated.
    """

    step: str
    era: str
    reply: Reply
    opened: bool = False
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessLimits:
    """Bounds of one look: metadata requests, bytes of one document, seconds of one request and of all together."""

    metadata: int = 12
    document_bytes: int = 256 * 1024
    seconds: float = 10.0
    total: float = 60.0


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
) -> tuple[Observed | Absent, Mapping[str, Json]]:
    """The content of the record and its volatile observation. A remote target; raises nothing."""
    return Absent(Reason.NOT_COLLECTED, "access is not looked at yet"), {}
