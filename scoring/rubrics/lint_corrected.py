"""`lint@2`: our corrected reading of the 21 rules. Points, bonus and grades are those of version 1.

Deviations from the published implementation, each with its reason:

- All pages of a list count, because clients see all of them.
- A declared list that could not be read is not judged and lowers coverage and floor, because it is not an empty list.
- server-grade-f is gone, because it is in no published text and says nothing that the grade does not say.
- tool-description-is-name compares words, because punctuation and camelCase add no information either.
- prop-no-description takes only text for a description, because a number describes nothing.
- prop-no-type accepts const, because a constant has the type of its value.
- required-not-in-properties also fires without any properties, because the call is just as impossible.
- tool-empty-schema fires on `properties: {}`, as the text says; additionalProperties: false says it on purpose.
- tool-name-convention wants snake_case or kebab-case, as the text says; the implementation accepts any letters.
- resource-no-name treats white space as no name, because it is not readable.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from scoring.engine.assessment import Assessment
from scoring.engine.rubric import Rubric
from scoring.results.outcome import Severity
from scoring.results.scorecard import Scorecard
from scoring.rubrics.lint import BANDS, BONUS_ID, FAILED, LINT_1, LintVersion, judge_lint, lint_criterion

CRITERIA: Final = (
    lint_criterion("server-empty", "server-offers-nothing", Severity.ERROR),
    lint_criterion("server-no-name", "server-name-missing", Severity.WARNING),
    lint_criterion("server-no-version", "server-version-missing", Severity.WARNING),
    lint_criterion("server-duplicate-tools", "tool-names-duplicated", Severity.ERROR),
    lint_criterion("tool-no-description", "tool-description-missing", Severity.ERROR),
    lint_criterion("tool-short-description", "tool-description-short", Severity.WARNING, {"minimum": 10}),
    lint_criterion("tool-long-description", "tool-description-long", Severity.WARNING, {"maximum": 500}),
    lint_criterion("tool-description-is-name", "tool-description-repeats-name", Severity.WARNING, {"by_words": True}),
    lint_criterion("tool-no-schema", "tool-input-schema-missing", Severity.WARNING),
    lint_criterion("tool-schema-not-object", "tool-input-schema-not-object", Severity.INFO),
    lint_criterion("prop-no-description", "param-description-missing", Severity.WARNING, {"text_only": True}),
    lint_criterion("prop-no-type", "param-type-missing", Severity.WARNING, {"constants": True}),
    lint_criterion("tool-no-required", "tool-required-missing", Severity.INFO),
    lint_criterion(
        "required-not-in-properties", "tool-required-undeclared", Severity.ERROR, {"without_properties": True}
    ),
    lint_criterion("tool-empty-schema", "tool-parameters-none", Severity.INFO, {"closed": True}),
    lint_criterion("tool-name-convention", "tool-name-unconventional", Severity.INFO, {"lower_case": True}),
    lint_criterion("resource-no-name", "resource-name-missing", Severity.WARNING, {"blank": True}),
    lint_criterion("resource-no-description", "resource-description-missing", Severity.WARNING),
    lint_criterion("resource-no-mimetype", "resource-mime-type-missing", Severity.INFO),
    lint_criterion("prompt-no-description", "prompt-description-missing", Severity.ERROR),
    lint_criterion("prompt-arg-no-description", "prompt-argument-description-missing", Severity.WARNING),
    lint_criterion(BONUS_ID, "tool-description-missing", Severity.INFO),
    lint_criterion(BONUS_ID, "tool-description-short", Severity.INFO, {"minimum": 20}),
)


def _score(assessment: Assessment) -> Scorecard:
    return judge_lint(assessment, LINT_2, LintVersion(unread_counts_as_empty=False, error_for_grade_f=False))


LINT_2: Final = Rubric(
    id="lint",
    version=2,
    source_version=LINT_1.source_version,
    title=LINT_1.title,
    summary="100 points less 15 an error, 5 a warning and 1 an info, plus 5 if well described. Our corrected reading.",
    source=LINT_1.source,
    criteria=CRITERIA,
    settled=tuple(line[2:] for line in (__doc__ or "").splitlines() if line.startswith("- ")),
    judge=_score,
    bands=(*BANDS, (Decimal(0), FAILED)),
)
