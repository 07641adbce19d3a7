"""`tool_design@2`: our corrected reading of the 46 rules. Points, levels and mean are those of version 1.

Deviations from the published implementation, each with its reason:

- SCH-004: the dialect in $schema counts, draft-07 included, else 2020-12, the default of the protocol.
- SCH-004: an $id may occur in several tools, because each input schema is a document of its own.
- SCH-006: a tool without parameters passes with additionalProperties: false, which the specification recommends.
- NAM-001 and LLM-001 are shown and cost nothing, because SCH-001 and SCH-002 charge for the same defect.
- NAM-002: the grammar of the specification (letters, digits, _, -, ., at most 128), which is not kebab-case.
- NAM-005: whole words, also in camelCase, snake_case and after a product's name, because prefixes let address be add.
- NAM-006: any one casing is consistent, as the text says; a single word fits every casing.
- SEC-001 to SEC-010: unions, anyOf and nested parameters are looked into, because limits are needed there as well.
- SEC-001: a closed set of values needs no maxLength; context and nobody are not content or body.
- SEC-003: exclusive bounds, enum and const are bounds too.
- SEC-004, SEC-005, SEC-007, SEC-008: whole words, because profile is not a file, security not a URI, author not auth.
- SEC-004, SEC-005, SEC-006: enum and const are checks too; SEC-005 accepts URI references, templates and IRIs.
- SEC-010: only strings, because a number is not executed.
- LLM-004: whole phrases, and not the bare words to and for, because nearly every sentence has them.
- LLM-005: an apostrophe is not an example, and likely is not like.
- LLM-007: a description of white space is charged by LLM-006 only.
- LLM-008: the words of a name are judged one by one, and to, from, set and type explain nothing.
- LLM-009: stating the number or the values is mentioning them; a missing description is charged by LLM-006 only.
- LLM-010: user_id and userId are two words, only the abbreviation's own meaning explains it, and household words pass.
- LLM-011: the leading verb of the name counts, because newsletter is not new; deletes and removes say what is lost.
- LLM-013: a tool is mentioned by its whole name, because get is not mentioned in widget.
- BP-001: the title beside the name counts, because the protocol has it there since 2025-06-18.
- BP-002, BP-004: a hint is true or false, because null tells a client nothing.
- BP-003: the leading verb of the name counts, because address does not add.
- BP-008: null beside one simple type is not a union, and a list of types is looked into; enum is its own example.
- Only tools of a declared capability count, because a client does not ask for others.
- Only tools that were listed have a score: a list that could not be read is not an empty list.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from scoring.engine.assessment import Assessment
from scoring.engine.rubric import Rubric
from scoring.results.outcome import Severity
from scoring.results.scorecard import Scorecard
from scoring.rubrics.tool_design import LEVELS, LOWEST, TOOL_DESIGN_1, judge_tool_design, tool_design_criterion

E, W, S = Severity.ERROR, Severity.WARNING, Severity.SUGGESTION

CRITERIA: Final = (
    tool_design_criterion("SCH-001", "tool-name-missing", E, {"blank": True}),
    tool_design_criterion("SCH-002", "tool-description-missing", E),
    tool_design_criterion("SCH-003", "tool-input-schema-missing", E),
    tool_design_criterion("SCH-004", "tool-input-schema-uncompilable", E),
    tool_design_criterion("SCH-005", "tool-input-schema-not-object", E),
    tool_design_criterion("SCH-006", "tool-parameters-none", W, {"closed": True}),
    tool_design_criterion("SCH-007", "tool-required-missing", W, {"allow_none": True}),
    tool_design_criterion("SCH-008", "tool-required-undeclared", E, {"without_properties": True}),
    tool_design_criterion("NAM-001", "tool-name-missing", E, {"blank": True}, charged=False),
    tool_design_criterion("NAM-002", "tool-name-outside-grammar", E),
    tool_design_criterion("NAM-003", "tool-name-length-unusual", W),
    tool_design_criterion("NAM-004", "tool-name-starts-with-digit", W),
    tool_design_criterion("NAM-005", "tool-name-without-verb", W),
    tool_design_criterion("NAM-006", "param-casing-inconsistent", W),
    tool_design_criterion("SEC-001", "param-string-unbounded", E),
    tool_design_criterion("SEC-002", "param-array-unbounded", E),
    tool_design_criterion("SEC-003", "param-number-unbounded", W),
    tool_design_criterion("SEC-004", "param-path-unchecked", E),
    tool_design_criterion("SEC-005", "param-address-unchecked", E),
    tool_design_criterion("SEC-006", "param-choice-open", W),
    tool_design_criterion("SEC-007", "param-sensitive", W),
    tool_design_criterion("SEC-008", "param-sensitive-default", E),
    tool_design_criterion("SEC-009", "param-object-open", W),
    tool_design_criterion("SEC-010", "param-code-unmarked", W),
    tool_design_criterion("LLM-001", "tool-description-missing", E, charged=False),
    tool_design_criterion("LLM-002", "tool-description-short", W, {"minimum": 20}),
    tool_design_criterion("LLM-002", "tool-description-long", W, {"maximum": 500}),
    tool_design_criterion("LLM-003", "tool-description-without-verb", W),
    tool_design_criterion("LLM-004", "tool-description-without-when", W),
    tool_design_criterion("LLM-005", "tool-description-without-example", S),
    tool_design_criterion("LLM-006", "param-description-missing", E, {"objects_only": True}),
    tool_design_criterion("LLM-007", "param-description-length-unusual", W, {"skip_blank": True}),
    tool_design_criterion("LLM-008", "param-term-vague", W),
    tool_design_criterion("LLM-009", "param-constraint-undescribed", S),
    tool_design_criterion("LLM-010", "param-abbreviation-unexplained", W),
    tool_design_criterion("LLM-011", "tool-effect-undescribed", S),
    tool_design_criterion("LLM-012", "tool-description-unlike-siblings", W),
    tool_design_criterion("LLM-013", "tool-workflow-unguided", S),
    tool_design_criterion("BP-001", "tool-title-missing", S),
    tool_design_criterion("BP-002", "tool-hint-missing", S, {"hint": "readOnlyHint"}),
    tool_design_criterion("BP-003", "tool-destructive-hint-missing", S),
    tool_design_criterion("BP-004", "tool-hint-missing", S, {"hint": "idempotentHint"}),
    tool_design_criterion("BP-005", "tool-parameters-many", W),
    tool_design_criterion("BP-006", "schema-pattern-repeated", S),
    tool_design_criterion("BP-007", "tool-schema-deep", W),
    tool_design_criterion("BP-008", "param-examples-missing", S),
    tool_design_criterion("BP-009", "tool-output-schema-missing", S),
    tool_design_criterion("BP-009", "tool-output-schema-undescribed", S),
)


def _score(assessment: Assessment) -> Scorecard:
    return judge_tool_design(assessment, TOOL_DESIGN_2)


TOOL_DESIGN_2: Final = Rubric(
    id="tool_design",
    version=2,
    source_version=TOOL_DESIGN_1.source_version,
    title=TOOL_DESIGN_1.title,
    summary="Each tool: 100 points less 5 an error, 2 a warning and 1 a suggestion; the mean. Our corrected reading.",
    source=TOOL_DESIGN_1.source,
    criteria=CRITERIA,
    settled=tuple(line[2:] for line in (__doc__ or "").splitlines() if line.startswith("- ")),
    judge=_score,
    bands=(*LEVELS, (Decimal(0), LOWEST)),
)
