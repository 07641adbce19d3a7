"""Kind `trials`: which tools were called, why those and no others, and what came of it.

Body, schema 1 (UTF-8 JSON, ours from end to end; every server's words in it are masked, cut and free of digits that
change from night to night):

    {"policy": "off" | "annotated" | "read" | "sandboxed_all",
     "trials": [{TOOL, "kind": KIND, "parameter": STRING, "arguments": OBJECT, "outcome": OUTCOME,
                 "code": INT | null, "reason": REASON | "", "detail": STRING,
                 "content": [CONTENT_TYPE, ...], "empty": BOOL,
                 "structured": STRUCTURED | null, "complaint": STRING, "text": STRING, "locked": BOOL}, ...],
     "skipped": [{TOOL, "reason": WHY_NOT, "detail": STRING}, ...], "unlisted": INT}

    TOOL: "tool": NAME, "index": INT, "class": AUTHORITY, "basis": BASIS, "why": STRING

`index` is the tool's place in the listing. `parameter` is the one that the arguments are wrong about. `code` is that of
a JSON-RPC error; `reason` and `detail` say why there was no answer. `complaint` is a path in the tool's own output
schema. `locked`: the text of an error speaks of credentials or quota. `unlisted` counts tools beyond those that are
looked at. What a tool answered is not kept here, only the kinds of its content; `handouts` has the texts. Latencies are
in the record's observation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from evidence.canonical import Json, parse_json
from evidence.kinds.traits import WORDS, Traits
from evidence.members import array, count, mapping, text, texts

KIND: Final = "trials"
SCHEMA: Final = 1
TRAITS: Final = Traits(licence=f"{WORDS} What a tool answered is not kept.", conversation=True)


class Kind(StrEnum):
    """What a call tries."""

    CALL = "call"  # arguments that fit the input schema
    INVALID_TYPE = "invalid_type"
    MISSING_REQUIRED = "missing_required"


class Outcome(StrEnum):
    """What a call came to."""

    RESULT = "result"
    TOOL_ERROR = "tool_error"  # a result with isError
    PROTOCOL_ERROR = "protocol_error"  # a JSON-RPC error
    MALFORMED = "malformed"  # a result that is none of a tool's
    INPUT_REQUIRED = "input_required"  # the server asks back before it answers
    FAILURE = "failure"  # no answer: access, limits, time, the wire


class Structured(StrEnum):
    """Structured content against the output schema."""

    NOT_DECLARED = "not_declared"
    VALID = "valid"
    INVALID = "invalid"
    MISSING = "missing"
    UNJUDGED = "unjudged"  # the schema is invalid, leads out of itself, or takes too long to apply


class WhyNot(StrEnum):
    """Why a tool was not called."""

    NOT_READ = "not_read"  # it is not classed as only reading
    NOT_ANNOTATED = "not_annotated"  # it seems to read and does not say so by readOnlyHint
    NO_ARGUMENTS = "no_arguments"  # nothing harmless fits its input schema
    BOUND = "bound"  # as many others were called, or the time was up
    STOPPED = "stopped"  # the server asked for a pause, or stopped answering
    OPTED_OUT = "opted_out"
    POLICY_OFF = "policy_off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One call. Members that the body lacks are empty; an unknown outcome is a failure."""

    tool: str
    index: int
    authority: str
    basis: str
    why: str
    kind: str
    parameter: str
    arguments: Mapping[str, Json]
    outcome: Outcome
    code: int | None
    reason: str
    detail: str
    content: tuple[str, ...]
    empty: bool
    structured: Structured | None
    complaint: str
    text: str
    locked: bool

    @property
    def unclear(self) -> str:
        """Why the call tells nothing about the tool; empty when it does.

        Access, limits, time and a broken wire are nobody's error handling, and neither is a wish for credentials.
        """
        if self.outcome is Outcome.FAILURE:
            return f"{self.reason}: {self.detail}" if self.detail else self.reason
        if self.outcome is Outcome.INPUT_REQUIRED:
            return "input required"
        return "credentials" if self.locked and self.outcome is not Outcome.RESULT else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTried:
    """One tool that was not called, and why."""

    tool: str
    index: int
    authority: str
    basis: str
    why: str
    reason: str
    detail: str


@dataclass(frozen=True)
class Trials:
    """Typed, tolerant view of a trials body."""

    policy: str
    trials: tuple[Tried, ...]
    skipped: tuple[NotTried, ...]
    unlisted: int

    @staticmethod
    def parse(body: bytes) -> Trials:
        """View a body of the current schema; raise NotJson when it is not one (our own fault, never a server's)."""
        members = mapping(parse_json(body))
        return Trials(
            policy=text(members.get("policy")),
            trials=tuple(_tried(mapping(row)) for row in array(members.get("trials"))),
            skipped=tuple(_not_tried(mapping(row)) for row in array(members.get("skipped"))),
            unlisted=count(members.get("unlisted")),
        )

    @property
    def answered(self) -> tuple[Tried, ...]:
        """The calls that tell something about the tool."""
        return tuple(trial for trial in self.trials if not trial.unclear)


def _tried(row: Mapping[str, Json]) -> Tried:
    code = row.get("code")
    return Tried(
        tool=text(row.get("tool")),
        index=count(row.get("index")),
        authority=text(row.get("class")),
        basis=text(row.get("basis")),
        why=text(row.get("why")),
        kind=text(row.get("kind")),
        parameter=text(row.get("parameter")),
        arguments=mapping(row.get("arguments")),
        outcome=_outcome(text(row.get("outcome"))),
        code=code if isinstance(code, int) and not isinstance(code, bool) else None,
        reason=text(row.get("reason")),
        detail=text(row.get("detail")),
        content=texts(row.get("content")),
        empty=row.get("empty") is True,
        structured=_structured(text(row.get("structured"))),
        complaint=text(row.get("complaint")),
        text=text(row.get("text")),
        locked=row.get("locked") is True,
    )


def _not_tried(row: Mapping[str, Json]) -> NotTried:
    return NotTried(
        tool=text(row.get("tool")),
        index=count(row.get("index")),
        authority=text(row.get("class")),
        basis=text(row.get("basis")),
        why=text(row.get("why")),
        reason=text(row.get("reason")),
        detail=text(row.get("detail")),
    )


def _outcome(value: str) -> Outcome:
    return Outcome(value) if value in set(Outcome) else Outcome.FAILURE


def _structured(value: str) -> Structured | None:
    return Structured(value) if value in set(Structured) else None
