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

Number: TypeAlias = Annotated[
    float, Field(description="Rounded half up to two decimals, as on the pages.", examples=[72.5])
]
Share: TypeAlias = Annotated[
    float, Field(description="A share of 1, rounded half up to three decimals.", examples=[0.854])
]
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
        examples=["srv_cefd15fffcf4dc7d70a6"],
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
    Number | NotMeasured, Field(description="A score, or why there is none.", examples=[72.5])
]
ExactResult: TypeAlias = Annotated[
    Exact | NotMeasured, Field(description="A score, or why there is none.", examples=["72.5"])
]


class _LineTexts(TypedDict):
    cites: Annotated[
        str,
        Field(
            description="The published id; `withheld` where a finding is not disclosed yet.",
            examples=["tool-no-description"],
        ),
    ]
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
class Line(_LineTexts):
    """One reason for points gained or lost."""

    points: Number


@with_config(STRICT)
class ReceiptLine(_LineTexts):
    """One reason for points gained or lost, with exact points."""

    points: Exact


class _ComponentTexts(TypedDict):
    name: Annotated[str, Field(examples=["descriptions"])]
    checked: Annotated[int, Field(description="How many things were checked.")]


@with_config(STRICT)
class Component(_ComponentTexts):
    """One named part of a dimension, on its scale of 0 to 10."""

    base_weight: Number
    effective_weight: Share
    result: Result
    lines: list[Line]
    floor: NotRequired[Number]
    ceiling: NotRequired[Number]


@with_config(STRICT)
class ReceiptComponent(_ComponentTexts):
    """One named part of a dimension, exact."""

    base_weight: Exact
    effective_weight: Exact
    result: ExactResult
    lines: list[ReceiptLine]
    floor: NotRequired[Exact]
    ceiling: NotRequired[Exact]


class _DimensionTexts(TypedDict):
    name: Annotated[str, Field(examples=["schema_quality"])]
    status: Annotated[str, Field(description="measured, partial or not_testable.", examples=["measured"])]


@with_config(STRICT)
class Dimension(_DimensionTexts):
    """One weighted part of a score. The exact effective weights of what was measured add up to 1."""

    base_weight: Number
    effective_weight: Share
    result: Result
    lines: list[Line]
    components: list[Component]


@with_config(STRICT)
class ReceiptDimension(_DimensionTexts):
    """One weighted part of a score, exact."""

    base_weight: Exact
    effective_weight: Exact
    result: ExactResult
    lines: list[ReceiptLine]
    components: list[ReceiptComponent]


class _ScorecardTexts(TypedDict):
    server: ServerKey
    rubric: Annotated[str, Field(description="The methodology.", examples=["adaptive"])]
    version: Annotated[int, Field(description="Our version of the methodology.", examples=[1])]
    source_version: Annotated[str, Field(description="Version of the publication that it follows.", examples=["2.1"])]
    grade: Annotated[str | None, Field(description="Grade or level; null where there is none.", examples=["B"])]
    as_of: Time
    caveats: Annotated[list[str], Field(examples=[["a declared list could not be listed"]])]
    facts: dict[str, str]
    versions: Annotated[dict[str, str], Field(description="Versions of the rules and code.")]
    evidence: Annotated[dict[str, str], Field(description="Digest of each kind of public evidence that was read.")]


@with_config(STRICT)
class Scorecard(_ScorecardTexts):
    """A score, every line of it, and the versions and evidence that it rests on. Its numbers are rounded."""

    score: Result
    coverage: Annotated[
        Share, Field(description="Share of the base weight that was measured, 0 to 1.", examples=[0.854])
    ]
    floor: NotRequired[
        Annotated[Number, Field(description="The score if everything that was not measured counted 0.", examples=[61])]
    ]
    ceiling: NotRequired[
        Annotated[
            Number, Field(description="The score if everything that was not measured had full points.", examples=[77])
        ]
    ]
    lines: list[Line]
    dimensions: list[Dimension]


@with_config(STRICT)
class Receipt(_ScorecardTexts):
    """A scorecard with exact decimals in strings, as it is in the dataset: its lines add up to the score."""

    score: ExactResult
    coverage: Exact
    floor: NotRequired[Exact]
    ceiling: NotRequired[Exact]
    lines: list[ReceiptLine]
    dimensions: list[ReceiptDimension]
