"""The answers of the MCP server; each tool's output schema and descriptions come from here."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict


class Verdict(TypedDict):
    """Result of one version of a rubric for a server. No score is not a zero: `not_measured` has the reason."""

    rubric: Annotated[str, Field(description="The methodology, such as adaptive or lint.")]
    version: Annotated[int, Field(description="Its version; scores of different versions do not compare.")]
    score: Annotated[float | None, Field(description="0 to 100; null when nothing could be measured.")]
    grade: Annotated[
        str | None, Field(description="Grade, level or tier; null for rubrics without, and when withheld.")
    ]
    floor: Annotated[
        float | None, Field(description="The score with everything that was not seen at 0: ranks by this.")
    ]
    ceiling: Annotated[float | None, Field(description="The score with everything that was not seen at full.")]
    coverage: Annotated[float, Field(description="Share of the weight that was measured, 0 to 1.")]
    thin: Annotated[bool, Field(description="True when the score rests on too little evidence to be compared.")]
    capped: Annotated[bool, Field(description="True when something caps the grade; the lines that cite cap. say what.")]
    not_measured: Annotated[str | None, Field(description="Why there is no score; null when there is one.")]


class MatchedTerm(TypedDict):
    """A word of the query, and the words of one text of the server that match it."""

    word: Annotated[str, Field(description="Word of the query.")]
    where: Annotated[str, Field(description="name, purpose, tools or readme.")]
    found: Annotated[list[str], Field(description="Words of that text that match: itself, its stem or a longer word.")]


class DimensionResult(TypedDict):
    """One dimension of the default methodology in words."""

    name: Annotated[str, Field(description="Name of the dimension, such as security.")]
    result: Annotated[str, Field(description="Guaranteed and possible result, such as 7 to 9 of 10.")]


class Reasons(TypedDict):
    """Why a search found a server and ranked it so."""

    text: Annotated[str, Field(description="All reasons in a few sentences.")]
    matches: Annotated[list[MatchedTerm], Field(description="Words that matched; empty without words to search for.")]
    unmatched: Annotated[
        list[str],
        Field(description="Words of the query that are not among the words that the search keeps of it."),
    ]
    score: Annotated[str, Field(description="Value, grade and range under the rubric asked for, in words.")]
    dimensions: Annotated[
        list[DimensionResult], Field(description="Security, maintenance and those that qualities ask for.")
    ]
    security: Annotated[
        str | None, Field(description="Status, what was found, searched and not examined; null without a receipt.")
    ]
    caps: Annotated[list[str], Field(description="Why the grade is capped, and what lifts each cap.")]


class AskedQuality(TypedDict):
    """A word of the query that asks for a quality; it is not searched for in texts."""

    word: Annotated[str, Field(description="Word of the query, such as safe.")]
    answered_by: Annotated[str, Field(description="A dimension such as security, grade, or `not measured`.")]


class FoundServer(TypedDict):
    """One published server. Its name is chosen by its publisher and not verified."""

    id: Annotated[str, Field(description="Stable id; every other tool takes it.")]
    name: Annotated[str, Field(description="Name as registered by its publisher.")]
    ref: Annotated[str, Field(description="Canonical reference: npm:NAME, pypi:NAME, a URL and so on.")]
    purpose: Annotated[str, Field(description="One line of its own description, not verified; may be empty.")]
    state: Annotated[str, Field(description="measured, partial, or not_testable.")]
    reason: Annotated[str | None, Field(description="Why it could not be tested; null when it could.")]
    ecosystem: Annotated[str, Field(description="remote, npm, pypi, oci and so on.")]
    registries: Annotated[list[str], Field(description="Registries that list it.")]
    tools: Annotated[int | None, Field(description="Number of tools it offers; null when they could not be counted.")]
    badges: Annotated[list[str], Field(description="Badges it has earned.")]
    categories: Annotated[list[str], Field(description="One or two, the best first.")]
    access: Annotated[
        str | None, Field(description="open or credentials, as it was tested; null when it is not known.")
    ]
    as_of: Annotated[str, Field(description="When its evidence was collected, ISO 8601.")]
    page: Annotated[str, Field(description="Address of its page.")]
    verdict: Annotated[
        Verdict | None, Field(description="What the rubric asked for says; null without a receipt of it.")
    ]


class RankedServer(FoundServer):
    """A published server that a search found, with the reasons."""

    reasons: Annotated[Reasons, Field(description="Why it was found and ranked so.")]


class SearchResult(TypedDict):
    """One page of servers."""

    servers: Annotated[list[RankedServer], Field(description="In the order asked for.")]
    order: Annotated[str, Field(description="What the order of the servers follows.")]
    qualities: Annotated[list[AskedQuality], Field(description="Words of the query that measurements answer.")]
    next_cursor: Annotated[
        str | None, Field(description="Give it back as `cursor` for the next page; null on the last.")
    ]
    total: Annotated[int | None, Field(description="Servers on all pages; null when they are too many to count.")]
    run: Annotated[str | None, Field(description="Run that is shown; null when nothing was published yet.")]


class LostPoints(TypedDict):
    """One line of a receipt that costs or brings points."""

    finding: Annotated[str, Field(description="Published id; give it to explain_finding.")]
    rule: Annotated[str | None, Field(description="Rule behind it; null where no single rule stands behind the line.")]
    where: Annotated[str, Field(description="Place in the evidence, such as tools/search/query; may be empty.")]
    points: Annotated[float, Field(description="Points gained or, below 0, lost, on the scale of its part.")]
    why: Annotated[str, Field(description="What was found; may quote the server.")]


class Part(TypedDict):
    """One dimension of a score, on a scale of 0 to 10 for adaptive."""

    name: Annotated[str, Field(description="Name of the dimension.")]
    result: Annotated[float | None, Field(description="Its result; null when it could not be measured.")]
    base_weight: Annotated[float, Field(description="Published weight.")]
    effective_weight: Annotated[float, Field(description="Share of the score after redistribution, 0 to 1.")]
    not_measured: Annotated[str | None, Field(description="Why it could not be measured; null when it could.")]


class Receipt(TypedDict):
    """One receipt of one server."""

    server: Annotated[FoundServer, Field(description="The server, with the verdict of this receipt.")]
    run: Annotated[str, Field(description="Run the receipt is of.")]
    parts: Annotated[list[Part], Field(description="Dimensions; empty for rubrics without.")]
    lines: Annotated[list[LostPoints], Field(description="What costs most first, then what brings points.")]
    lines_left_out: Annotated[int, Field(description="Lines beyond `limit`.")]
    caps: Annotated[list[str], Field(description="Why the grade is capped, and what lifts each cap.")]
    caveats: Annotated[list[str], Field(description="What to know before the score is used.")]
    methodology: Annotated[str, Field(description="Address of the methodology.")]


class Price(TypedDict):
    """What one rubric charges for a finding of a rule."""

    rubric: Annotated[str, Field(description="Rubric and version.")]
    finding: Annotated[str, Field(description="Published id in this rubric.")]
    points: Annotated[float, Field(description="Points of one finding, or its weight; 0 where a share decides.")]


class RuleSnippet(TypedDict):
    """The text that a fix edits."""

    language: Annotated[str, Field(description="Language of both texts.")]
    where: Annotated[str, Field(description="What the text is.")]
    before: Annotated[str | None, Field(description="Null where the fix adds a text.")]
    after: Annotated[str, Field(description="The same text after the fix.")]


class ExplainedRule(TypedDict):
    """One rule: what it looks for, why it matters and what to do."""

    rule: Annotated[str, Field(description="Id of the rule.")]
    title: Annotated[str, Field(description="What is wrong, in a few words.")]
    why: Annotated[str, Field(description="Why it matters.")]
    remedy: Annotated[str, Field(description="What to do about a finding.")]
    snippet: Annotated[RuleSnippet | None, Field(description="What to edit; null where no text shows it.")]
    severity: Annotated[str, Field(description="Severity by default; rubrics may judge otherwise.")]
    reads: Annotated[str, Field(description="Kind of evidence that it reads.")]
    specification: Annotated[str | None, Field(description="Address of the requirement; null without one.")]
    good: Annotated[list[str], Field(description="Examples that pass.")]
    bad: Annotated[list[str], Field(description="Examples that do not.")]
    prices: Annotated[list[Price], Field(description="What it costs under each rubric that cites it.")]
    page: Annotated[str, Field(description="Address of its page.")]


class Explanation(TypedDict):
    """The meaning of a finding, and its places on one server."""

    rules: Annotated[list[ExplainedRule], Field(description="Rules behind the id: one for a rule, else one or more.")]
    server: Annotated[str | None, Field(description="Id of the server asked about; null when none was named.")]
    places: Annotated[list[LostPoints], Field(description="Where that server has the finding; empty when it has not.")]
    places_left_out: Annotated[int, Field(description="Places beyond the first 50.")]


class PartDifference(TypedDict):
    """One dimension of two servers."""

    name: Annotated[str, Field(description="Name of the dimension.")]
    first: Annotated[float | None, Field(description="Result of the first server; null when not measured.")]
    second: Annotated[float | None, Field(description="Result of the second server; null when not measured.")]


class Comparison(TypedDict):
    """Two servers under one version of one rubric."""

    comparable: Annotated[bool, Field(description="False when the scores must not be set against each other.")]
    why_not: Annotated[str | None, Field(description="Why they do not compare; null when they do.")]
    first: Annotated[FoundServer, Field(description="The first server.")]
    second: Annotated[FoundServer, Field(description="The second server.")]
    difference: Annotated[
        float | None, Field(description="Score of the second less that of the first; null if unknown.")
    ]
    parts: Annotated[list[PartDifference], Field(description="Dimensions side by side; empty for rubrics without.")]
    only_first: Annotated[list[str], Field(description="Published ids that cost points on the first server only.")]
    only_second: Annotated[list[str], Field(description="Published ids that cost points on the second server only.")]
    page: Annotated[str, Field(description="Address of the same comparison as a page.")]
