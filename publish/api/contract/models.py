"""The shapes that many answers share. They are declared for the OpenAPI document; tests hold every answer to them.

What is answered is built as plain values and written as it is: nothing is validated while a request waits
(docs/decisions/0032).
"""

from __future__ import annotations

from typing import Annotated, Final, NotRequired, TypeAlias

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

STRICT: Final = ConfigDict(extra="forbid", strict=True)

SERVER_ID: Final = r"^srv_[0-9a-f]{20}$"
RUN_ID: Final = r"^[0-9A-Za-z][0-9A-Za-z_-]{0,79}$"
RUBRIC_ID: Final = r"^[a-z][a-z0-9_]{0,40}$"
DECIMAL: Final = r"^-?[0-9]+(\.[0-9]+)?$"
DIGEST: Final = r"^[0-9a-f]{64}$"

Exact: TypeAlias = Annotated[
    str, Field(pattern=DECIMAL, description="A decimal, exact and therefore a string.", examples=["72.5"])
]
Time: TypeAlias = Annotated[
    str,
    Field(
        description="ISO 8601, in UTC.",
        examples=["2026-03-01T03:00:00+00:00"],
        json_schema_extra={"format": "date-time"},
    ),
]
ServerKey: TypeAlias = Annotated[
    str,
    Field(
        pattern=SERVER_ID,
        description="Id of a server, derived from its reference.",
        examples=["srv_0f1e2d3c4b5a69788796"],
    ),
]
RunKey: TypeAlias = Annotated[
    str, Field(description="Id of a run; ids sort by time.", examples=["20260301T030000Z-nightly"])
]
Digest: TypeAlias = Annotated[str, Field(pattern=DIGEST, description="SHA-256 in hexadecimal.", examples=["ab" * 32])]


@with_config(STRICT)
class NotMeasured(TypedDict):
    """Replaces a number that was not measured. It is not a zero."""

    not_measured: Annotated[str, Field(description="The reason, from a closed list.", examples=["oauth_required"])]
    detail: NotRequired[Annotated[str, Field(description="The reason in words.", examples=["answered 401"])]]


Result: TypeAlias = Annotated[
    Exact | NotMeasured, Field(description="A score, or why there is none.", examples=["72.5"])
]


@with_config(STRICT)
class Line(TypedDict):
    """One reason for points gained or lost."""

    cites: Annotated[
        str,
        Field(
            description="The published id; `withheld` where a finding is not disclosed yet.",
            examples=["tool-no-description"],
        ),
    ]
    points: Exact
    why: Annotated[str, Field(description="What was found, in words.", examples=["no description"])]
    rule: Annotated[
        str | None,
        Field(
            description="The rule; null where no single rule stands behind the line.",
            examples=["tool-description-missing"],
        ),
    ]
    at: Annotated[str, Field(description="The place, such as `tools/search/query`.", examples=["tools/search"])]
    severity: Annotated[str, Field(examples=["error"])]
    evidence: Annotated[
        str, Field(description="Digest of the evidence that was judged; may be empty.", examples=["ab" * 32])
    ]
    checked: NotRequired[
        Annotated[int, Field(description="Things that the check judged, where the methodology states it.")]
    ]


@with_config(STRICT)
class Component(TypedDict):
    """One named part of a dimension, on its scale of 0 to 10."""

    name: Annotated[str, Field(examples=["descriptions"])]
    base_weight: Exact
    effective_weight: Exact
    result: Result
    lines: list[Line]
    checked: Annotated[int, Field(description="How many things were checked.")]
    floor: NotRequired[Exact]
    ceiling: NotRequired[Exact]


@with_config(STRICT)
class Dimension(TypedDict):
    """One weighted part of a score. The effective weights of what was measured add up to 1."""

    name: Annotated[str, Field(examples=["schema_quality"])]
    base_weight: Exact
    effective_weight: Exact
    result: Result
    lines: list[Line]
    status: Annotated[str, Field(description="measured, partial or not_testable.", examples=["measured"])]
    components: list[Component]


@with_config(STRICT)
class Scorecard(TypedDict):
    """A receipt: a score, every line of it, and the versions and evidence that it rests on."""

    server: ServerKey
    rubric: Annotated[str, Field(description="The methodology.", examples=["adaptive"])]
    version: Annotated[int, Field(description="Our version of the methodology.", examples=[1])]
    source_version: Annotated[str, Field(description="Version of the publication that it follows.", examples=["2.1"])]
    score: Result
    grade: Annotated[str | None, Field(description="Grade or level; null where there is none.", examples=["B"])]
    as_of: Time
    coverage: Annotated[
        Exact, Field(description="Share of the base weight that was measured, 0 to 1.", examples=["0.85"])
    ]
    floor: NotRequired[
        Annotated[Exact, Field(description="The score if all that is unmeasured counted nothing.", examples=["61"])]
    ]
    ceiling: NotRequired[
        Annotated[Exact, Field(description="The score if all that is unmeasured counted in full.", examples=["77"])]
    ]
    lines: list[Line]
    dimensions: list[Dimension]
    caveats: Annotated[list[str], Field(examples=[["a declared list could not be listed"]])]
    facts: dict[str, str]
    versions: Annotated[dict[str, str], Field(description="What it was judged with.")]
    evidence: Annotated[dict[str, str], Field(description="Digest of each kind of public evidence that was read.")]
