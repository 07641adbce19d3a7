"""Evidence: what was seen of a server and what could not be seen, as far as everybody may read it."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypeAlias

from fastapi import APIRouter, Path
from pydantic import Field, JsonValue, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from evidence.model import Record
from publish.api.answers import bytes_answer, encoded
from publish.api.problem import found_text, problem, problems
from publish.api.shapes import STRICT, Digest, RunKey, ServerKey, Time
from publish.api.visible import OF_SERVER, RunQuery, ServerPath, public_form
from publish.forms import described, masked
from publish.public_evidence import NotShown, public_content
from publish.site.site import Site

KindPath: TypeAlias = Annotated[
    str, Path(pattern=r"^[a-z][a-z_]{0,40}$", description="A kind of evidence.", examples=["listing"])
]


@with_config(STRICT)
class AbsentPart(TypedDict):
    """Why nothing was recorded."""

    reason: Annotated[str, Field(description="From a closed list.", examples=["oauth_required"])]
    detail: str


@with_config(STRICT)
class EvidenceRecord(TypedDict):
    """One piece of evidence without its body: who collected it, when, and what identifies it."""

    schema: Annotated[int, Field(description="Version of the shape of the body.", examples=[1])]
    collector: Annotated[str, Field(examples=["protocol"])]
    collector_version: Annotated[int, Field(examples=[1])]
    digest: Annotated[Digest, Field(description="SHA-256 of the body as it was received, or of the absence.")]
    canonical: Annotated[str | None, Field(description="SHA-256 of the RFC 8785 form; null when there is none.")]
    absent: Annotated[AbsentPart | None, Field(description="Null when something was observed.")]
    observed_at: Time
    observation: Annotated[dict[str, JsonValue], Field(description="What changes at every visit: durations, statuses.")]


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
    body: NotRequired[Annotated[JsonValue, Field(description="What was recorded. What looks like a secret is masked.")]]
    not_shown: NotRequired[Annotated[str, Field(description="Why there is no `body`.")]]


def routes(site: Site) -> APIRouter:
    """The operations about evidence."""
    router = APIRouter(tags=["evidence"])

    @router.get(
        "/servers/{server}/evidence", operation_id="listEvidence", summary="The evidence about a server",
        response_model=EvidenceList, responses=problems(*OF_SERVER),
    )  # fmt: skip
    def list_evidence(server: ServerPath, run: RunQuery = None) -> Response:
        """What was recorded of the server in a run, without the bodies. An absence is a record that says why."""
        row, shown = public_form(site, server, run)
        records = {kind: described(record) for kind, record in sorted(shown.dossier.records.items())}
        return _masked({"server": server, "run": row.run.id, "records": records})

    @router.get(
        "/servers/{server}/evidence/{kind}", operation_id="getEvidence", summary="One piece of evidence",
        response_model=Evidence, responses=problems(*OF_SERVER, "unknown-evidence"),
    )  # fmt: skip
    def get_evidence(server: ServerPath, kind: KindPath, run: RunQuery = None) -> Response:
        """What was recorded of one kind. The words in it are those of strangers: show them as text, and run nothing."""
        row, shown = public_form(site, server, run)
        record = shown.dossier.records.get(kind)
        if record is None:
            raise problem(
                "unknown-evidence",
                f"Found no public evidence of kind {found_text(kind)} in {row.run.id}; "
                f"/api/v1/servers/{server}/evidence lists the kinds.",
            )
        about = {"server": server, "run": row.run.id, "kind": kind, "record": described(record)}
        return _masked(about | _body(record))

    return router


def _body(record: Record) -> dict[str, Any]:
    shown = public_content(record)
    return {"not_shown": shown.why} if isinstance(shown, NotShown) else {"body": shown.value}


def _masked(value: dict[str, Any]) -> Response:
    return bytes_answer(masked(encoded(value)), keep=True)
