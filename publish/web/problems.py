"""Errors as problem documents (RFC 9457): what was expected, what was found, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, NotRequired

import orjson
from msgspec import Struct
from pydantic import ConfigDict, Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

MEDIA_TYPE: Final = "application/problem+json"
PROBLEM_GUIDE: Final = "/api"
"""The page that documents every type of problem, each under its slug."""


class ProblemType(Struct, frozen=True):
    """One type of problem; `meaning` is its documentation, `example` a detail as it may be found."""

    status: int
    title: str
    meaning: str
    example: str


PROBLEM_TYPES: Final[Mapping[str, ProblemType]] = {
    "bad-request": ProblemType(
        400, "The request cannot be read", "The request is not valid HTTP or JSON.", "The body is not JSON."
    ),
    "unauthorized": ProblemType(
        401, "A token is needed", "The operation needs a token that was not sent, or that is none of ours.",
        "Expected a header `Authorization: Bearer TOKEN`, found none. Ask the operator for a token.",
    ),
    "forbidden": ProblemType(
        403, "The token does not allow this", "The token is known, and its scopes do not include the operation.",
        "Expected the scope `disputes`, found `audit`. Ask the operator for another token.",
    ),
    "unknown-path": ProblemType(
        404, "There is nothing at this path", "No operation has this path.",
        "Found no operation at this path; /api/v1/openapi.json lists those that there are.",
    ),
    "unknown-server": ProblemType(
        404, "There is no such server", "No server with this id is published: it was never seen, or may not be shown.",
        "Expected the id of a published server, found srv_00000000000000000000. /api/v1/servers lists them.",
    ),
    "unknown-run": ProblemType(
        404, "There is no such run", "No run with this id is published.",
        "Expected the id of a published run, found 20200101T000000Z-nightly. /api/v1/runs lists them.",
    ),
    "unknown-scorecard": ProblemType(
        404, "There is no such scorecard", "The server has no receipt of this version of this methodology in this run.",
        "Found no receipt of lint@9; /api/v1/servers/{id}/scorecards has those that there are.",
    ),
    "unknown-evidence": ProblemType(
        404, "There is no such evidence", "Nothing of this kind was recorded in this run, or it is not public.",
        "Found no public evidence of kind x; /api/v1/servers/{id}/evidence lists the kinds.",
    ),
    "unknown-rule": ProblemType(
        404, "There is no such rule", "No rule has this id.", "Found no rule x; /api/v1/rules lists them.",
    ),
    "unknown-rubric": ProblemType(
        404, "There is no such methodology", "No methodology has this name and version.",
        "Found no rubric x@1; /api/v1/rubrics lists them.",
    ),
    "unknown": ProblemType(
        404, "There is no such thing", "Nothing has this id, or it is not yours to see.",
        "Found no re-test with this id. An id is in the answer to the request that made it.",
    ),
    "method-not-allowed": ProblemType(
        405, "The path has no such method", "The path is known, the method is not; `Allow` lists those that are.",
        "Expected one of GET, HEAD, found DELETE.",
    ),
    "not-acceptable": ProblemType(
        406, "There is no such representation", "The API answers in JSON only.",
        "Expected an Accept header that allows application/json, found text/csv. Datasets are at /datasets.",
    ),
    "too-slow": ProblemType(
        408, "The request took too long", "The request did not arrive whole in time.",
        "The body took more than 10 seconds.",
    ),
    "conflict": ProblemType(
        409, "The state does not allow this", "The operation does not fit the state that the thing has now.",
        "The dispute is closed; only an open one can be decided.",
    ),
    "content-too-large": ProblemType(
        413, "The request is too large", "The body is longer than we read.",
        "At most 65536 bytes are read.",
    ),
    "address-too-long": ProblemType(
        414, "The address is too long", "No operation has an address of that length.", "At most 4096 bytes are read.",
    ),
    "unsupported-media-type": ProblemType(
        415, "The body has the wrong type", "Bodies are JSON.",
        "Expected Content-Type application/json, found text/plain.",
    ),
    "invalid-request": ProblemType(
        422, "The request is not as described", "A parameter or a member of the body is missing, unknown or malformed; "
        "`errors` names each place, what was expected there and what was found.",
        "Unknown parameter `limt`; did you mean `limit`? Expected one of cursor, limit, each once.",
    ),
    "too-many-requests": ProblemType(
        429, "Too many requests", "The client has used up its share; `Retry-After` says how many seconds to wait.",
        "At most 300 requests a minute. Ask again in 12 seconds.",
    ),
    "internal-error": ProblemType(
        500, "We made a mistake", "The fault is ours. It is logged, and says nothing about a server.",
        "The request could not be answered because of a mistake of ours.",
    ),
    "unavailable": ProblemType(
        503, "Out of service for a moment", "The database does not answer; `Retry-After` says when to ask again.",
        "The database does not answer. Ask again in 5 seconds.",
    ),
}  # fmt: skip
"""Every type of problem by its slug. The first one of a status stands for it where only the status is known."""


@with_config(ConfigDict(extra="forbid"))
class InvalidPart(TypedDict):
    """One place of a request that is not as described."""

    where: Annotated[str, Field(description="The parameter, or the path of a member in the body.", examples=["limit"])]
    expected: Annotated[str, Field(description="What should be there.", examples=["a value of at most 200"])]
    found: NotRequired[Annotated[str, Field(description="What is there, cut after 100 characters.", examples=["1000"])]]


@with_config(ConfigDict(title="Problem", json_schema_extra={"additionalProperties": True}))
class ProblemDocument(TypedDict):
    """An error (RFC 9457). Some types have further members, which the page of types names."""

    type: Annotated[str, Field(description="Address of the documentation of this type.", examples=["/api#unknown-run"])]
    title: Annotated[str, Field(description="The type in words.", examples=["There is no such run"])]
    status: Annotated[int, Field(description="The HTTP status.", examples=[404])]
    detail: Annotated[
        str,
        Field(
            description="What was expected, what was found, and what to do.",
            examples=["Expected the id of a published run, found x. /api/v1/runs lists them."],
        ),
    ]
    errors: NotRequired[Annotated[list[InvalidPart], Field(description="Each place that is not as described.")]]


@dataclass
class Problem(Exception):
    """Raised by a route and answered as a problem document; `kind` is a slug of PROBLEM_TYPES."""

    kind: str
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)
    members: Mapping[str, Any] = field(default_factory=dict)

    def answer(self) -> Response:
        return _answer(self.kind, self.detail, self.headers, self.members)


def make_problem(kind: str, detail: str, headers: Mapping[str, str] | None = None, **members: Any) -> Problem:
    """A problem to raise; `members` are further members of the document."""
    return Problem(kind, detail, headers or {}, members)


def problem_response(status: int, detail: str, headers: Mapping[str, str] | None = None, **members: Any) -> Response:
    """The problem document of a status, when no kind is known; statuses outside PROBLEM_TYPES have no type.

    The default detail is the meaning of the type.
    """
    kind = next((slug for slug, known in PROBLEM_TYPES.items() if known.status == status), None)
    if kind is not None:
        return _answer(kind, detail or PROBLEM_TYPES[kind].meaning, headers or {}, members)
    document = {"type": "about:blank", "title": "Error", "status": status, "detail": detail, **members}
    return Response(orjson.dumps(document), status, dict(headers or {}), MEDIA_TYPE)


def describe_problems(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI responses of the problems that an operation may return, by status."""
    found: dict[int | str, dict[str, Any]] = {}
    for kind in kinds:
        known = PROBLEM_TYPES[kind]
        schema = {"$ref": f"#/components/schemas/{ProblemDocument.__name__}"}
        content = {MEDIA_TYPE: {"schema": schema, "examples": {}}}
        entry = found.setdefault(known.status, {"description": known.title, "content": content})
        entry["content"][MEDIA_TYPE]["examples"][kind] = {"value": _document(kind, known.example, {})}
    return found


def _answer(kind: str, detail: str, headers: Mapping[str, str], members: Mapping[str, Any]) -> Response:
    body = orjson.dumps(_document(kind, detail, members))
    return Response(body, PROBLEM_TYPES[kind].status, dict(headers), MEDIA_TYPE)


def _document(kind: str, detail: str, members: Mapping[str, Any]) -> dict[str, Any]:
    known = PROBLEM_TYPES[kind]
    return {
        "type": f"{PROBLEM_GUIDE}#{kind}",
        "title": known.title,
        "status": known.status,
        "detail": detail,
        **members,
    }


def show_found(value: object) -> str:
    """A found value for a problem document: short, and without control characters."""
    text = "".join(letter if letter.isprintable() else "?" for letter in str(value)[:_SHOWN])
    return text.encode("utf-8", "replace").decode()


_SHOWN: Final = 100

__all__: Sequence[str] = (
    "PROBLEM_TYPES",
    "Problem",
    "ProblemDocument",
    "describe_problems",
    "make_problem",
    "problem_response",
    "show_found",
)
