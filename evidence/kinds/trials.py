"""Kind `trials`: the tools that were called, why the others were not, and the outcome of each call.

Body, schema 1 (UTF-8 JSON that we write; texts of the server are masked, cut and without digits that change between
runs):

    {"policy": "off" | "annotated" | "read" | "sandboxed_all",
     "trials": [{TOOL, "kind": KIND, "parameter": STRING, "arguments": OBJECT, "outcome": OUTCOME,
                 "code": INT | null, "reason": REASON | "", "detail": STRING,
                 "content": [CONTENT_TYPE, ...], "empty": BOOL,
                 "structured": STRUCTURED | null, "complaint": STRING, "form": [FORM] | [], "text": STRING,
                 "locked": BOOL, "reveals": STRING}, ...],
     "skipped": [{TOOL, "reason": WHY_NOT, "detail": STRING}, ...], "unlisted": INT}

    TOOL: "tool": NAME, "index": INT, "class": AUTHORITY, "basis": BASIS, "why": STRING

`index`: in the listing. `parameter` has the invalid argument, with fixed words in place of the random ones that were
sent; no core probe of a remote sends one: it keeps earlier answers. `code`: of a JSON-RPC error; `reason` and `detail`
say why there was no answer. `complaint`: a path in the output schema. `locked`: the text of an error mentions
credentials or quota. `reveals`: the kind of credential in it. `unlisted` counts tools beyond those that are considered.
Of a tool's result only the kinds of its content and FORM are kept: the result with neutral values ("", 0, 2 or 2.5,
true), equal parts of arrays once, and the keys of `_meta`; it is missing without a result. `handouts` has the texts.
Latencies are in the record's observation.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from evidence.canonical import Json, parse_json
from evidence.json_members import array_or_empty, object_or_empty, read_members, text_or_empty
from evidence.kinds.traits import WORDS, Traits

KIND: Final = "trials"
SCHEMA: Final = 1
TRAITS: Final = Traits(licence=f"{WORDS} What a tool answered is not kept.", conversation=True)


class TrialKind(StrEnum):
    """The purpose of a call."""

    CALL = "call"  # arguments that fit the input schema
    INVALID_TYPE = "invalid_type"
    MISSING_REQUIRED = "missing_required"


class TrialOutcome(StrEnum):
    """The outcome of a call."""

    RESULT = "result"
    TOOL_ERROR = "tool_error"  # a result with isError
    PROTOCOL_ERROR = "protocol_error"  # a JSON-RPC error
    MALFORMED = "malformed"  # a result that is not a tool result
    INPUT_REQUIRED = "input_required"  # the server requests input before it answers
    FAILURE = "failure"  # no answer: access, limits, time, transport


class Structured(StrEnum):
    """Whether structured content matches the output schema."""

    NOT_DECLARED = "not_declared"
    VALID = "valid"
    INVALID = "invalid"
    MISSING = "missing"
    UNJUDGED = "unjudged"  # the schema is invalid, refers outside of itself, or takes too long to apply


class SkipReason(StrEnum):
    """Why a tool was not called."""

    NOT_READ = "not_read"  # it is not classified as read-only
    NOT_ANNOTATED = "not_annotated"  # it seems read-only but does not declare readOnlyHint
    NO_ARGUMENTS = "no_arguments"  # no harmless arguments fit its input schema
    BOUND = "bound"  # the maximum number of other tools was called, or time ran out
    STOPPED = "stopped"  # the server asked for a pause, or stopped answering
    OPTED_OUT = "opted_out"
    POLICY_OFF = "policy_off"


class TrialCall(Struct, frozen=True, kw_only=True):
    """One call. Members that the body lacks are empty; an unknown outcome is a failure."""

    tool: str
    index: int
    authority: str
    basis: str
    why: str
    kind: str
    parameter: str
    arguments: Mapping[str, Json]
    outcome: TrialOutcome
    code: int | None
    reason: str
    detail: str
    content: tuple[str, ...]
    empty: bool
    structured: Structured | None
    complaint: str
    form: tuple[Json, ...]
    text: str
    locked: bool
    reveals: str

    @property
    def unclear(self) -> str:
        """Why the call shows nothing about the tool; empty when it does.

        Denied access, limits, timeouts, broken connections and requests for credentials are not error handling.
        """
        if self.outcome is TrialOutcome.FAILURE:
            return ": ".join(part for part in (self.reason, self.detail) if part) or "no reason recorded"
        if self.outcome is TrialOutcome.INPUT_REQUIRED:
            return "input required"
        return "credentials" if self.locked and self.outcome is not TrialOutcome.RESULT else ""


class SkippedTool(Struct, frozen=True, kw_only=True):
    """One tool that was not called, and why."""

    tool: str
    index: int
    authority: str
    basis: str
    why: str
    reason: str
    detail: str


class Trials(Struct, frozen=True, dict=True):
    """Typed, tolerant view of a trials body."""

    policy: str
    trials: tuple[TrialCall, ...]
    skipped: tuple[SkippedTool, ...]
    unlisted: int

    @staticmethod
    def parse(body: bytes) -> Trials:
        """View a body of the current schema; raise NotJson when it is not JSON."""
        members = object_or_empty(parse_json(body))
        return read_members(
            Trials,
            members,
            trials=tuple(_tried(object_or_empty(row)) for row in array_or_empty(members.get("trials"))),
            skipped=tuple(_not_tried(object_or_empty(row)) for row in array_or_empty(members.get("skipped"))),
        )

    @property
    def answered(self) -> tuple[TrialCall, ...]:
        """The calls that show something about the tool."""
        return tuple(trial for trial in self.trials if not trial.unclear)


def _tried(row: Mapping[str, Json]) -> TrialCall:
    code = row.get("code")
    return read_members(
        TrialCall,
        row,
        authority=text_or_empty(row.get("class")),
        outcome=_outcome(text_or_empty(row.get("outcome"))),
        code=code if isinstance(code, int) and not isinstance(code, bool) else None,
        structured=_structured(text_or_empty(row.get("structured"))),
        form=tuple(array_or_empty(row.get("form"))[:1]),
    )


def _not_tried(row: Mapping[str, Json]) -> SkippedTool:
    return read_members(SkippedTool, row, authority=text_or_empty(row.get("class")))


def _outcome(value: str) -> TrialOutcome:
    return TrialOutcome(value) if value in set(TrialOutcome) else TrialOutcome.FAILURE


def _structured(value: str) -> Structured | None:
    return Structured(value) if value in set(Structured) else None
