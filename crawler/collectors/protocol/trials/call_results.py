"""The outcome of a tool call without the tool's words: types and form of the content, not the content."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from crawler.collectors.protocol.session.absence_reasons import describe_missing_credentials, explain_reply
from crawler.collectors.protocol.trials import schema_validation
from crawler.collectors.protocol.trials.result_forms import describe_form
from crawler.mcp.transcript import Reply
from crawler.secret_masking import mask_secrets
from evidence.canonical import Json
from evidence.compiled_on_use import compile_on_use
from evidence.derive.revealed_secrets import mask_revealed_secrets
from evidence.kinds.trials import Structured, TrialOutcome

_LONGEST_TEXT: Final = 300
_MAX_SEARCHED: Final = 4_000
_MOST_TYPES: Final = 8
_REFUSED: Final = frozenset({401, 402, 403, 407, 429})
_KNOWN_TYPES: Final = frozenset({"text", "image", "audio", "resource", "resource_link"})
_LOCKED: Final = compile_on_use(
    r"unauthori[sz]ed|unauthenticated|authenticat|authoriz|\b(?:log|sign)[ -]?in\b|api[ _-]?keys?\b|access token"
    r"|credential|permission denied|forbidden|subscription|quota|rate.?limit|too many requests|payment required",
    re.IGNORECASE,
)
# Counts, times and ids change from run to run; codes of HTTP and JSON-RPC do not.
_DIGITS: Final = compile_on_use(
    r"((?:\b(?:http|status|code)\b[ /:=]{1,2}|-32)\d{3}\b)"
    r"|(?<![0-9a-f-])[0-9a-f-]*\d[0-9a-f]*(?:[.:,-][0-9a-f]*\d[0-9a-f]*)*",
    re.IGNORECASE,
)


def summarise_result(reply: Reply, tool: Mapping[str, Json]) -> dict[str, Json]:
    """The members of a trial's row that the answer decides (evidence/kinds/trials.py)."""
    answer, status = reply.answer, reply.status or 200
    if reply.failure or answer is None or status in _REFUSED or status >= 500:
        absent = explain_reply(reply, "tools/call")
        return _row(TrialOutcome.FAILURE, reason=absent.reason.value, detail=absent.detail)
    sent = reply.exchange.request.decode("utf-8", "replace")
    if answer.is_error:
        return _row(TrialOutcome.PROTOCOL_ERROR, code=answer.code, text=answer.message, sent=sent)
    value = answer.value
    if isinstance(value, Mapping) and value.get("resultType") == "input_required":
        return _row(TrialOutcome.INPUT_REQUIRED)
    row = (
        _result(value, tool, sent)
        if isinstance(value, Mapping)
        else _row(TrialOutcome.MALFORMED, detail="the result is not an object")
    )
    return row | {"form": [describe_form(value)]}


def _result(value: Mapping[str, Json], tool: Mapping[str, Json], sent: str) -> dict[str, Json]:
    content = value.get("content")
    items = content if isinstance(content, list) else []
    shape: dict[str, Json] = {"content": sorted({_type(item) for item in items}), "empty": not items}
    if value.get("isError") is True:
        return _row(TrialOutcome.TOOL_ERROR, text=_text(items), sent=sent) | shape
    if not isinstance(content, list) and "structuredContent" not in value:
        return _row(TrialOutcome.MALFORMED, detail="the result has no content array") | shape
    structured, violation = _structured(value, tool)
    return _row(TrialOutcome.RESULT) | shape | {"structured": structured.value, "complaint": violation}


def _structured(value: Mapping[str, Json], tool: Mapping[str, Json]) -> tuple[Structured, str]:
    """Whether the structured content fits `outputSchema`, and where in the schema it does not."""
    schema = tool.get("outputSchema")
    if not isinstance(schema, Mapping):
        return Structured.NOT_DECLARED, ""
    if "structuredContent" not in value:
        return Structured.MISSING, ""
    try:
        violation = schema_validation.find_violation(schema, value["structuredContent"])
    except schema_validation.SchemaNotDecidable as why:
        return Structured.UNJUDGED, str(why)
    return (
        (Structured.VALID, "")
        if violation is None
        else (Structured.INVALID, stabilise_text(violation, keep_digits=True))
    )


def stabilise_text(text: str, *, keep_digits: bool = False) -> str:
    """A server's text for a record: secrets masked, cut, and without digits that change from run to run."""
    masked = " ".join(mask_secrets(text[:_MAX_SEARCHED]).split())
    if not keep_digits:
        masked = _DIGITS.sub(lambda found: found[1] or "#", masked)
    return masked if len(masked) <= _LONGEST_TEXT else masked[: _LONGEST_TEXT - 1] + "…"


def _row(
    outcome: TrialOutcome,
    *,
    code: int | None = None,
    reason: str = "",
    detail: str = "",
    text: str = "",
    sent: str = "",
) -> dict[str, Json]:
    return {
        "outcome": outcome.value,
        "code": code,
        "reason": reason,
        "detail": detail,
        "content": [],
        "empty": False,
        "structured": None,
        "complaint": "",
        "form": [],
        "text": stabilise_text(text),
        "locked": bool(_LOCKED.search(text[:_MAX_SEARCHED]) or describe_missing_credentials(text[:_MAX_SEARCHED])),
        "reveals": mask_revealed_secrets(text[:_MAX_SEARCHED], sent)[1],
    }


def _type(item: Json) -> str:
    found = item.get("type") if isinstance(item, Mapping) else None
    return found if isinstance(found, str) and found in _KNOWN_TYPES else "other"


def _text(items: list[Json]) -> str:
    texts = (item.get("text") for item in items[:_MOST_TYPES] if isinstance(item, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))
