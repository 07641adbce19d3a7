"""Recomputes one server's receipts from its published evidence, or from their own lines if evidence is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct, field

from publish.datasets.format.columns import Columns, Row, transpose_rows, zip_columns
from publish.datasets.format.tables import (
    DIMENSIONS,
    ECOSYSTEM,
    JSONL,
    LINES,
    OUTCOMES,
    RUN,
    SCORECARDS,
    SERVERS,
    TABLES,
    Table,
    table_file_name,
)
from publish.datasets.rows.rule_outcomes import list_public_questions, make_outcome_rows
from publish.datasets.rows.server_rows import make_receipt_columns, make_server_row, mask_secrets
from publish.datasets.verification.dossiers import RebuiltDossier, rebuild_dossier
from publish.datasets.verification.partial_receipts import splice_receipt
from publish.datasets.verification.partial_verdicts import VerdictSplicer
from publish.datasets.verification.problems import Problem, ProblemKind, show_value
from publish.datasets.verification.published_rows import PublishedRows
from publish.datasets.verification.receipt_matching import (
    Mismatch,
    ReceiptRows,
    find_first_difference,
    group_receipts,
    name_receipt,
    render_receipts,
)
from publish.datasets.verification.receipt_sums import find_wrong_sum
from publish.disclosure import ReviewedFindings, private_rule_ids, redact_receipt
from publish.views.server_summary import find_ecosystem
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.engine.assessment import Assessment, Question
from scoring.engine.rubric import Rubric
from scoring.engine.walk import Pages
from scoring.receipt import describe_scorecard
from scoring.results.outcome import Finding, Measured, NotMeasured, Outcome, Skipped
from scoring.results.scorecard import Scorecard

_MOST_GUESSES: Final = 1
_OF_RECEIPTS: Final = frozenset({SCORECARDS.name, DIMENSIONS.name, LINES.name})


class ReceiptVerdict(StrEnum):
    """How far a receipt could be verified."""

    RECOMPUTED = "recomputed"
    SPLICED = "recomputed, but for parts that rest on evidence which is not public"
    ADDED_UP = "added up from its lines: its evidence is not all public"
    OTHER_CODE = "added up from its lines: other code made it"
    DIFFERS = "differs"


class ServerVerdicts(Struct):
    """Results for some servers: number of receipts for each rubric and verdict, and problems."""

    servers: int = 0
    verdicts: Counter[tuple[str, ReceiptVerdict]] = field(default_factory=Counter)
    unverifiable: Counter[tuple[str, str]] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)

    def add(self, other: ServerVerdicts) -> None:
        """Add the results of other servers."""
        self.servers += other.servers
        self.verdicts += other.verdicts
        self.unverifiable += other.unverifiable
        self.problems += other.problems


class ServerVerifier(Struct, frozen=True):
    """Verifies servers of one snapshot. `ours`: the snapshot was scored by the rules and engine of this code."""

    run: str
    as_of: datetime
    ours: bool

    def judge(self, rows: PublishedRows) -> ServerVerdicts:
        """Verify one server, given its rows of every table; raise UnreadableFile."""
        rebuilt = rebuild_dossier(rows, self.as_of)
        if isinstance(rebuilt, Problem):
            return ServerVerdicts(1, problems=[rebuilt])
        judged = ServerVerdicts(1, problems=list(rebuilt.problems))
        repeated = {RUN: self.run, ECOSYSTEM: find_ecosystem(rebuilt.dossier.server)}
        if not self.ours:
            judged.problems += _wrong_moments(rows, self.as_of)
            judged.problems += _wrong_repeats(rows, repeated, TABLES)
            for receipt in group_receipts(rows):
                self._add_up(receipt, ReceiptVerdict.OTHER_CODE, judged)
            return judged
        assessment = assess_dossier(rebuilt.dossier)
        known = {rubric.name: rubric for rubric in catalogue.list_rubrics()}
        names = [name_receipt(card) for card in rows.get(SCORECARDS.name, ())]
        cards = {name: known[name].score(assessment) for name in names if name in known}
        mine = _make_columns(rows[SERVERS.name][0]["server"], repeated, cards.values(), assessment)
        equal = rows.match(mine)
        judged.problems += _wrong_moments(rows, self.as_of)
        judged.problems += _wrong_repeats(rows, repeated, [table for table in TABLES if table.name not in equal])
        judged.problems += _wrong_server(rows, rebuilt)
        judged.problems += _wrong_outcomes(rows, rebuilt, assessment, None if OUTCOMES.name in equal else mine)
        if equal >= _OF_RECEIPTS and private_rule_ids().isdisjoint(mine[LINES.name].get("rule", ())):
            judged.verdicts.update((name, ReceiptVerdict.RECOMPUTED) for name in names)
            return judged
        published = group_receipts(rows)
        recomputed = _recompute([(cards[one.name], one) for one in published if one.name in cards], mine)
        for receipt in published:
            if (ours := recomputed.get(receipt.name)) is None:
                self._add_up(receipt, ReceiptVerdict.OTHER_CODE, judged)
            else:
                self._compare(receipt, known[receipt.name], rebuilt, assessment, judged, mine=ours)
        return judged

    def _compare(
        self,
        receipt: ReceiptRows,
        rubric: Rubric,
        rebuilt: RebuiltDossier,
        assessment: Assessment,
        judged: ServerVerdicts,
        *,
        mine: ReceiptRows,
    ) -> None:
        wrong = find_first_difference(mine, receipt)
        if wrong is None:
            judged.verdicts[receipt.name, ReceiptVerdict.RECOMPUTED] += 1
            return
        lacking = [one.question for one in rubric.criteria if rebuilt.lacks(one.question)]
        if not lacking:
            judged.verdicts[receipt.name, ReceiptVerdict.DIFFERS] += 1
            judged.problems.append(_differs(receipt, *wrong))
        elif rubric.method:
            self._splice_verdict(
                receipt, VerdictSplicer(rubric, rubric.method, assessment, rebuilt, _read_reviews(receipt)), judged
            )
        elif any(part.components for part in rubric.dimensions):
            self._splice(receipt, rubric, rebuilt, mine, judged)
        elif _is_consistent(receipt, rubric, lacking, assessment):
            judged.verdicts[receipt.name, ReceiptVerdict.SPLICED] += 1
            judged.unverifiable.update((receipt.name, question.rule) for question in set(lacking))
        else:
            self._add_up(receipt, ReceiptVerdict.ADDED_UP, judged)

    def _splice(
        self, receipt: ReceiptRows, rubric: Rubric, rebuilt: RebuiltDossier, mine: ReceiptRows, judged: ServerVerdicts
    ) -> None:
        open_parts = {
            (dimension.name, part.name)
            for dimension in rubric.dimensions
            for part in dimension.components
            if any(rebuilt.lacks(one.question) for one in part.criteria)
        }
        self._note(receipt, *splice_receipt(receipt, mine, open_parts), judged)

    def _splice_verdict(self, receipt: ReceiptRows, splicer: VerdictSplicer, judged: ServerVerdicts) -> None:
        if splicer.possible:
            self._note(receipt, *splicer.splice(receipt), judged)
        else:
            self._add_up(receipt, ReceiptVerdict.ADDED_UP, judged)

    def _note(
        self,
        receipt: ReceiptRows,
        wrong: Mismatch | None,
        taken: Sequence[tuple[str, str]],
        judged: ServerVerdicts,
    ) -> None:
        if wrong is not None:
            judged.verdicts[receipt.name, ReceiptVerdict.DIFFERS] += 1
            judged.problems.append(_differs(receipt, *wrong))
            return
        judged.verdicts[receipt.name, ReceiptVerdict.SPLICED] += 1
        judged.unverifiable.update((receipt.name, ".".join(part)) for part in taken)

    def _add_up(self, receipt: ReceiptRows, verdict: ReceiptVerdict, judged: ServerVerdicts) -> None:
        wrong = find_wrong_sum(receipt)
        judged.verdicts[receipt.name, ReceiptVerdict.DIFFERS if wrong else verdict] += 1
        if wrong:
            judged.problems.append(_differs(receipt, *wrong))


def _make_columns(
    server: str, repeated: Mapping[str, str], cards: Iterable[Scorecard], assessment: Assessment
) -> Mapping[str, Columns]:
    """The tables that this code computes for a server without disclosed findings; `server` is its published id."""
    receipts = map(describe_scorecard, map(redact_receipt, cards))
    outcomes = make_outcome_rows(server, repeated[RUN], assessment)
    return mask_secrets(
        {
            **make_receipt_columns(receipts, repeated[RUN], repeated[ECOSYSTEM]),
            OUTCOMES.name: transpose_rows(list(outcomes)),
        }
    )


def _recompute(
    cards: Iterable[tuple[Scorecard, ReceiptRows]], unreviewed: Mapping[str, Columns] | None = None
) -> dict[str, ReceiptRows]:
    """Public receipts by name, each of a card of this code and of the receipt that is published for it.

    Disclosed findings are known from the published lines. Without any, the receipts are those in `unreviewed`. The
    texts of all are searched for secrets together.
    """
    pairs = {published.name: (card, published) for card, published in cards}
    reviews = [_read_reviews(published) for _, published in pairs.values()]
    if unreviewed is not None and not any(one.disclosed for one in reviews):
        found = group_receipts({name: zip_columns(unreviewed[name]) for name in _OF_RECEIPTS})
        return {receipt.name: receipt for receipt in found}
    public = [redact_receipt(card, one) for (card, _), one in zip(pairs.values(), reviews, strict=True)]
    some = next((published for _, published in pairs.values()), None)
    return {receipt.name: receipt for receipt in render_receipts(public, some)} if some else {}


def _read_reviews(published: ReceiptRows) -> ReviewedFindings:
    """The disclosed findings, from the published lines that name them."""
    disclosed = (
        (line["rule"], line["at"], line["why"]) for line in published.lines if line["rule"] in private_rule_ids()
    )
    return ReviewedFindings(disclosed=frozenset(disclosed))


def _is_consistent(published: ReceiptRows, rubric: Rubric, lacking: Sequence[Question], assessment: Assessment) -> bool:
    """Whether some outcome of the one question without public evidence gives the published receipt."""
    questions = set(lacking)
    if len(questions) > _MOST_GUESSES:
        return False
    (question,) = questions
    for guess in _guesses(question):
        guessed = Assessment(
            dossier=assessment.dossier,
            outcomes={**assessment.outcomes, question: guess},
            walks=assessment.walks,
            versions=assessment.versions,
        )
        mine = _recompute([(rubric.score(guessed), published)])[published.name]
        if find_first_difference(mine, published) is None:
            return True
    return False


def _guesses(question: Question) -> Iterator[Outcome]:
    yield Measured(1)
    yield Measured(1, (Finding(question.rule, "", "", ""),))
    yield Measured(0)
    yield Measured(0, (), (Skipped("", ""),))
    yield NotMeasured("not_collected")


def _differs(receipt: ReceiptRows, at: str, expected: Any, found: Any) -> Problem:
    return Problem(
        fault=ProblemKind.SCORE,
        file=table_file_name(SCORECARDS, JSONL),
        server=show_value(receipt.server),
        rubric=show_value(receipt.name),
        at=show_value(at),
        expected=show_value(expected),
        found=show_value(found),
    )


def _wrong_moments(rows: Mapping[str, Sequence[Row]], as_of: datetime) -> Iterator[Problem]:
    wanted = as_of.isoformat()
    for row in rows.get(SCORECARDS.name, ()):
        if row["as_of"] != wanted:
            yield _of_table(SCORECARDS, row["server"], "as_of", (wanted, row["as_of"]), ProblemKind.SCORE)


def _wrong_repeats(
    rows: Mapping[str, Sequence[Row]], values: Mapping[str, str], tables: Iterable[Table]
) -> Iterator[Problem]:
    """Rows with another run or ecosystem than their server has; the first of each table and column."""
    for table in tables:
        for name in table.repeated:
            others = (row[name] for row in rows.get(table.name, ()) if row[name] != values[name])
            if (other := next(others, None)) is not None:
                server = rows[SERVERS.name][0]["server"]
                yield _of_table(table, server, name, (values[name], other), ProblemKind.EVIDENCE)


def _wrong_server(rows: Mapping[str, Sequence[Row]], rebuilt: RebuiltDossier) -> Iterator[Problem]:
    """Differences between a server's row and its evidence, if all evidence is public."""
    if rebuilt.missing:
        return
    found = rows[SERVERS.name][0]
    (mine,) = zip_columns(
        mask_secrets({SERVERS.name: transpose_rows([make_server_row(rebuilt.dossier)])})[SERVERS.name]
    )
    for name, value in mine.items():
        if name != "server" and found[name] != value:
            yield _of_table(SERVERS, found["server"], name, (value, found[name]), ProblemKind.EVIDENCE)


def _wrong_outcomes(
    rows: PublishedRows, rebuilt: RebuiltDossier, assessment: Assessment, mine: Mapping[str, Columns] | None
) -> Iterator[Problem]:
    """Differences in the table of rule outcomes: values where the evidence is public, missing rows elsewhere too.

    Values are not compared where they are known to be equal, without `mine`.
    """
    server = rows[SERVERS.name][0]["server"]
    if mine is not None and (made := zip_columns(mine[OUTCOMES.name])) != rows.get(OUTCOMES.name, ()):
        lacking = {question.rule for question in assessment.outcomes if rebuilt.lacks(question)}
        yield from _list_wrong_outcomes(server, made, rows.get(OUTCOMES.name, ()), lacking)
    answered = set(rows.columns(OUTCOMES.name).get("rule", ()))
    asked = (one for one, reads, _ in list_public_questions() if reads in rebuilt.missing and one.pages is Pages.ALL)
    observed = {question.rule for question in asked}
    for rule in sorted(observed - answered):
        yield _of_table(OUTCOMES, server, rule, ("a row", None), ProblemKind.SCORE)


def _list_wrong_outcomes(
    server: str, made: Sequence[Row], published: Sequence[Row], lacking: Collection[str]
) -> Iterator[Problem]:
    """Outcomes that differ from those of this code, of rules whose evidence is public."""
    mine, found = (
        {
            (row["rule"], row["params"], row["pages"]): {name: value for name, value in row.items() if name != RUN}
            for row in some
            if row["rule"] not in lacking
        }
        for some in (made, published)
    )
    for key in sorted(mine.keys() | found.keys()):
        one, other = mine.get(key), found.get(key)
        if one != other:
            words = (_answer(one), _answer(other))
            yield _of_table(OUTCOMES, server, " ".join(key), words, ProblemKind.SCORE)


def _answer(row: Row | None) -> str | None:
    if row is None:
        return None
    return f"{row['state']}: {row['checked']} checked, {row['findings']} findings, {row['not_measured']}"


def _of_table(table: Table, server: str, at: str, pair: tuple[Any, Any], fault: ProblemKind) -> Problem:
    expected, found = pair
    return Problem(
        fault=fault,
        file=table_file_name(table, JSONL),
        server=show_value(server),
        at=show_value(at),
        expected=show_value(expected),
        found=show_value(found),
    )
