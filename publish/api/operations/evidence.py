"""Evidence: the public records of a server, including absent ones with their reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, NotRequired, TypeAlias

from fastapi import APIRouter, Path
from pydantic import Field, JsonValue, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from evidence.canonical import Json, NotJson, parse_json
from evidence.kinds import package, repository
from evidence.model import Observed, Record
from publish.api.contract.models import STRICT, Digest, RunKey, ServerKey, Time
from publish.api.contract.public_access import OF_SERVER, RunQuery, ServerPath, find_public_server
from publish.api.contract.responses import bytes_response, encode_json
from publish.datasets.rows.evidence_bodies import publish_bodies
from publish.formats.run_files import describe_record, mask_secrets
from publish.web.context import SiteContext
from publish.web.problems import describe_problems, make_problem, show_found

KindPath: TypeAlias = Annotated[
    str, Path(pattern=r"^[a-z][a-z_]{0,40}$", description="A kind of evidence.", examples=["listing"])
]

LARGEST: Final = 1024 * 1024
"""Maximum bytes of a body in a response: scanning for secrets takes 0.4 s a megabyte."""

_LICENSING: Final = (package.KIND, repository.KIND)
"""Kinds from which the licence for quoting other evidence is read."""


@with_config(STRICT)
class AbsentPart(TypedDict):
    """Why nothing was recorded."""

    reason: Annotated[str, Field(description="From a closed list.", examples=["oauth_required"])]
    detail: Annotated[str, Field(examples=["answered 401"])]


@with_config(STRICT)
class EvidenceRecord(TypedDict):
    """One piece of evidence without its body: who collected it, when, and what identifies it."""

    schema: Annotated[int, Field(description="Version of the shape of the body.", examples=[1])]
    collector: Annotated[str, Field(examples=["protocol"])]
    collector_version: Annotated[int, Field(examples=[1])]
    digest: Annotated[Digest, Field(description="SHA-256 of the body as it was received, or of the absence.")]
    canonical: Annotated[
        str | None, Field(description="SHA-256 of the RFC 8785 form; null when there is none.", examples=["ab" * 32])
    ]
    absent: Annotated[AbsentPart | None, Field(description="Null when something was observed.")]
    observed_at: Time
    observation: Annotated[
        dict[str, JsonValue], Field(description="Facts that differ in every test: durations, statuses.")
    ]


@with_config(STRICT)
class EvidenceList(TypedDict):
    """All public evidence of a server in one run, by kind."""

    server: ServerKey
    run: RunKey
    records: dict[str, EvidenceRecord]


@with_config(STRICT)
class Evidence(TypedDict):
    """One piece of evidence with its body, if it has one that is shown."""

    server: ServerKey
    run: RunKey
    kind: Annotated[str, Field(examples=["listing"])]
    record: EvidenceRecord
    body: NotRequired[Annotated[JsonValue, Field(description="What was recorded; a text where that is not JSON.")]]
    body_state: NotRequired[
        Annotated[str, Field(description="`whole`, or `redacted`: secrets are masked.", examples=["whole"])]
    ]
    body_digest: NotRequired[
        Annotated[Digest, Field(description="SHA-256 of the body in the form in which it is here.")]
    ]
    not_shown: NotRequired[
        Annotated[
            str, Field(description="Why there is no `body`.", examples=["Nothing was observed; `absent` says why."])
        ]
    ]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["evidence"])

    @router.get(
        "/servers/{server}/evidence", operation_id="listEvidence", summary="The evidence about a server",
        response_model=EvidenceList, responses=describe_problems(*OF_SERVER),
    )  # fmt: skip
    def list_evidence(server: ServerPath, run: RunQuery = None) -> Response:
        """What was recorded of the server in a run, without the bodies. An absence is a record that says why."""
        seen = find_public_server(site, server, run)
        records = {kind: describe_record(record) for kind, record in sorted(seen.public.dossier.records.items())}
        return bytes_response(
            mask_secrets(encode_json({"server": server, "run": seen.run.run.id, "records": records})), keep=True
        )

    @router.get(
        "/servers/{server}/evidence/{kind}", operation_id="getEvidence", summary="One piece of evidence",
        response_model=Evidence, responses=describe_problems(*OF_SERVER, "unknown-evidence"),
    )  # fmt: skip
    def get_evidence(server: ServerPath, kind: KindPath, run: RunQuery = None) -> Response:
        """What was recorded of one kind. Its texts are untrusted: show them as text, and run nothing."""
        seen = find_public_server(site, server, run)
        run_id, records = seen.run.run.id, seen.public.dossier.records
        if kind not in records:
            raise make_problem(
                "unknown-evidence",
                f"Found no public evidence of kind {show_found(kind)} in {run_id}; "
                f"/api/v1/servers/{server}/evidence lists the kinds.",
            )
        about = {"server": server, "run": run_id, "kind": kind, "record": describe_record(records[kind])}
        # Bodies are scrubbed already, and scanning for secrets is the most expensive step.
        return bytes_response(
            mask_secrets(encode_json(about))[:-1] + b"," + encode_json(_body(records, kind))[1:], keep=True
        )

    return router


def _body(records: Mapping[str, Record], kind: str) -> dict[str, Any]:
    """The body and digest as in the dataset; without the body if it is larger than LARGEST."""
    content = records[kind].content
    if isinstance(content, Observed) and len(content.body) > LARGEST:
        return {"not_shown": f"It has {len(content.body)} bytes, and at most {LARGEST} are shown here: see /datasets."}
    published = publish_bodies({name: record for name, record in records.items() if name in {kind, *_LICENSING}})[kind]
    if published.content is None:
        return {"not_shown": published.why or "Nothing was observed; `absent` says why."}
    return {"body": _value(published.content), "body_state": published.state.value, "body_digest": published.digest}


def _value(body: bytes) -> Json:
    try:
        return parse_json(body)
    except NotJson:
        return body.decode("utf-8", "replace")
