"""Rule `trial-result-breaks-schema`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from evidence.canonical import Json
from evidence.json_members import object_or_empty, objects_in
from evidence.kinds.trials import TrialOutcome
from scoring.engine.rule import must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.trials import build_answered_trial, build_trial
from scoring.protocol import meta_keys, result_schemas
from scoring.results.outcome import Inapplicable, Severity, Undecided
from scoring.scopes.trials import Trial

_RESULTS: Final = frozenset({TrialOutcome.RESULT, TrialOutcome.TOOL_ERROR, TrialOutcome.MALFORMED})
_TEXT: Final[dict[str, Any]] = {"type": "text", "text": ""}
_LINK: Final = {"type": "resource_link", "uri": "", "name": ""}


@rule(
    "trial-result-breaks-schema",
    scope=Trial,
    reads="trials",
    severity=Severity.ERROR,
    title="The result of a tool does not match the published schema",
    remedy="Correct the named member, so that the result of `tools/call` matches `CallToolResult` of the negotiated "
    "revision. Use only block types of this revision and valid key names in `_meta`.",
    since="2026.2",
    version=1,
    checks=must("CALL-01", "ABCDE", "server/tools#tool-result"),
    fix=write_snippet(
        Language.JSON,
        "Result of `tools/call`",
        before='{"content": "3 notes"}',
        after="""
        {
          "content": [{"type": "text", "text": "3 notes"}]
        }
        """,
    ),
    good=[
        build_answered_trial({"content": [_TEXT, _LINK], "structuredContent": {}}),
        build_answered_trial({"content": [], "isError": True}, "tool_error"),
        build_answered_trial({"content": [_TEXT], "structuredContent": [], "resultType": "complete"}, revision="E"),
        build_answered_trial({"content": [{"type": "resource", "resource": {"uri": "", "blob": ""}}]}, revision="A"),
        build_answered_trial({"content": [_TEXT], "_meta": {"com.example/cost": None}}),
        build_answered_trial({"content": [{**_TEXT, "_meta": {"com.example/cost": None}}]}),
        build_answered_trial({"content": [{**_TEXT, "_meta": {"_cost": None}}]}, revision="B"),
    ],
    bad=[
        build_answered_trial({"content": ""}, "malformed"),
        build_answered_trial({"content": [{"type": "text"}]}),
        build_answered_trial({"content": [{"type": "text", "text": None}]}, "tool_error"),
        build_answered_trial({"content": [{"type": "markdown", "text": ""}]}),
        build_answered_trial({"content": [""]}),
        build_answered_trial({"content": [_LINK]}, revision="B"),
        build_answered_trial({"content": [_TEXT], "structuredContent": []}),
        build_answered_trial({"structuredContent": {}}),
        build_answered_trial({"content": [_TEXT]}, revision="E"),
        build_answered_trial({"content": [_TEXT], "isError": ""}),
        build_answered_trial({"content": [_TEXT], "_meta": {"_cost": None}}),
        build_answered_trial({"content": [_TEXT, {**_LINK, "_meta": {"_cost": None}}]}),
        build_answered_trial(
            {"content": [{"type": "resource", "resource": {"uri": "", "text": "", "_meta": {"$cost": None}}}]}
        ),
        build_answered_trial([], "malformed"),
    ],
    unjudged=[
        build_trial("protocol_error", code=-32602, text="Unknown tool"),
        build_trial(),
        build_answered_trial({"content": ""}, revision=""),
        build_answered_trial({"resultType": "task", "task": {}}, "malformed", revision="E"),
    ],
)
def trial_result_breaks_schema(trial: Trial) -> Iterator[str]:
    """The result of a tool has an array of content blocks, each with the members of its type.

    Clients with the official libraries validate a result as a whole: a text block without `text`, a block of an unknown
    type, or structured content of the wrong type makes them discard the answer of the tool. The form of the result is
    judged under the negotiated revision; its texts are not kept.
    """
    tried = trial.tried
    if tried.outcome not in _RESULTS or not tried.form:
        raise Inapplicable("no form of a result was recorded")
    if not trial.revision:
        raise Undecided("no published revision was negotiated")
    if complaint := _find_complaint(tried.form[0], trial.revision):
        yield complaint


def _find_complaint(form: Json, revision: str) -> str | None:
    fields = form if isinstance(form, dict) else {}
    if revision == "E" and fields.get("resultType", "complete") != "complete":
        raise Inapplicable("the result is of another type")
    blocks = fields.get("content")
    for block in blocks if isinstance(blocks, list) else ():
        if complaint := result_schemas.find_mismatch("ContentBlock", block, revision):
            kind = block.get("type") if isinstance(block, dict) else None
            return f"{complaint} in a content block{f' of type {kind}' if isinstance(kind, str) else ''}"
    if complaint := result_schemas.find_mismatch("CallToolResult", form, revision):
        return complaint
    if revision in meta_keys.REVISIONS:
        for meta, where in _list_meta(fields):
            if (malformed := next(meta_keys.list_malformed_keys(meta), None)) is not None:
                return f"{malformed} is not a valid key of _meta{where}"
    return None


def _list_meta(fields: Mapping[str, Json]) -> Iterator[tuple[Json, str]]:
    """Every `_meta` for which the schema gives a place in a result of a tool, and the words for the place."""
    yield fields.get("_meta"), ""
    for block in objects_in(fields.get("content")):
        yield block.get("_meta"), " in a content block"
        if block.get("type") == "resource":
            yield object_or_empty(block.get("resource")).get("_meta"), " in an embedded resource"
