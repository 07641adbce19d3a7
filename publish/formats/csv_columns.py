"""The columns of the CSV dataset; docs/schemas/dataset.md is made from these declarations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from typing import Any, Final

from msgspec import Struct

from evidence.derive.secret_scrubbing import are_free_of_secrets
from evidence.model import Absent, Record, Run, Server
from publish.text.display import make_visible
from publish.text.numbers import format_number
from publish.views.evidence.project_facts import (
    ProjectFact,
    advisories_fact,
    find_licence,
    find_worst_severity,
    format_moment,
    package_fact,
    repository_fact,
)
from publish.views.server_summary import find_ecosystem

CELL_LIMIT = 1_000

# A spreadsheet runs a cell that starts with one of these, also in their full-width form and after spaces.
_FORMULA = frozenset("=+-@＝＋－＠")


class CsvRow(Struct, frozen=True):
    """The input of one row: a server under one rubric. `card` is the receipt as JSON values."""

    run: Run
    server: Server
    records: Mapping[str, Record]
    card: Mapping[str, Any]


class CsvColumn(Struct, frozen=True):
    """One column. `volatile` ones differ between equal runs, and the comparable form leaves them out.

    Those `of_card` are about one receipt; all others are the same in every row of a server.
    """

    name: str
    meaning: str
    value: Callable[[CsvRow], str]
    volatile: bool = False
    of_card: bool = False


def make_safe_cells(texts: Collection[str]) -> dict[str, str]:
    """The safe form of each text, all of which are scanned for secrets together."""
    clean = are_free_of_secrets(texts)
    return {text: make_safe_cell(text, clean=clean and len(text) <= CELL_LIMIT) for text in texts}


def make_safe_cell(text: str, *, clean: bool = False) -> str:
    """Text without hidden characters that no spreadsheet interprets as a formula; `clean` text has no secrets."""
    shown = make_visible(text, limit=CELL_LIMIT, clean=clean)
    return f"'{shown}" if shown.lstrip()[:1] in _FORMULA and shown.strip() else shown


def render_column_reference() -> str:
    """The Markdown table of all columns."""
    rows = (f"| `{column.name}` | {column.meaning}{_NOT_COMPARABLE[column.volatile]} |" for column in CSV_COLUMNS)
    return "\n".join(("| column | meaning |", "|---|---|", *rows)) + "\n"


def _score(row: CsvRow) -> str:
    score = row.card.get("score")
    return format_number(Decimal(str(score))) if isinstance(score, (str, int, float)) else ""


def _not_measured(member: str) -> Callable[[CsvRow], str]:
    def value(row: CsvRow) -> str:
        score = row.card.get("score")
        return str(score.get(member, "")) if isinstance(score, Mapping) else ""

    return value


def _of_card(member: str) -> Callable[[CsvRow], str]:
    return lambda row: "" if row.card.get(member) is None else str(row.card[member])


def _coverage(row: CsvRow) -> str:
    return format_number(Decimal(row.card["coverage"]), 6)


def _bound(member: str) -> Callable[[CsvRow], str]:
    """Receipts of earlier versions have no bounds."""
    return lambda row: format_number(Decimal(row.card[member])) if member in row.card else ""


def _evidence(row: CsvRow) -> str:
    return str(row.card.get("facts", {}).get("evidence", ""))


def _weights(row: CsvRow) -> str:
    pairs = ((part.get("name"), part.get("effective_weight")) for part in row.card.get("dimensions", ()))
    return ";".join(f"{name}={format_number(Decimal(weight), 6)}" for name, weight in pairs)


def _statuses(row: CsvRow) -> str:
    return ";".join(f"{part.get('name')}={part.get('status')}" for part in row.card.get("dimensions", ()))


def _digest(kind: str) -> Callable[[CsvRow], str]:
    return lambda row: row.records[kind].digest if kind in row.records else ""


def _absent(kind: str) -> Callable[[CsvRow], str]:
    def reason(row: CsvRow) -> str:
        record = row.records.get(kind)
        if record is None:
            return "not_collected"
        return record.content.reason.value if isinstance(record.content, Absent) else ""

    return reason


def _absent_detail(row: CsvRow) -> str:
    record = row.records.get("listing")
    return record.content.detail if record and isinstance(record.content, Absent) else ""


def _about(fact: ProjectFact) -> Callable[[CsvRow], str]:
    return lambda row: fact(row.records)


def _of_receipt(name: str, meaning: str, value: Callable[[CsvRow], str]) -> CsvColumn:
    return CsvColumn(name, meaning, value, of_card=True)


PROJECT_COLUMNS: Final[tuple[tuple[str, str, ProjectFact], ...]] = (
    ("package_version", "Version of the npm or Python package that was examined", package_fact(lambda it: it.version)),
    ("package_published", "When that version was published", package_fact(lambda it: format_moment(it.published))),
    ("repository_archived", "`yes` or `no`", repository_fact(lambda it: it.archived)),
    (
        "repository_created",
        "When the repository was made",
        repository_fact(lambda it: format_moment(it.created_at)),
    ),
    (
        "repository_last_commit",
        "The last commit by a person",
        repository_fact(lambda it: format_moment(it.last_commit_at)),
    ),
    ("repository_commits_year", "Commits in the last year", repository_fact(lambda it: it.commits_year)),
    ("repository_stars", "Stars", repository_fact(lambda it: it.stars)),
    ("licence", "Licence that the host recognised, else that of the package", find_licence),
    ("advisories", "Published advisories about what it is built from", advisories_fact(lambda it: it.groups_total)),
    ("advisories_worst", "Severity of the worst of them", advisories_fact(find_worst_severity)),
)
"""Public facts of the project; empty where not known or not collected."""

_NOT_COMPARABLE: Final = {False: "", True: ". Not in the comparable form"}

CSV_COLUMNS: Final = (
    CsvColumn("run", "Id of the run", lambda row: row.run.id, volatile=True),
    CsvColumn("as_of", "Time the run stands for, ISO 8601", lambda row: row.run.as_of.isoformat(), volatile=True),
    CsvColumn("server", "Id of the server, derived from `ref`", lambda row: row.server.id),
    CsvColumn("ref", "Canonical reference: a URL, `npm:NAME`, `pypi:NAME`, …", lambda row: row.server.ref),
    CsvColumn("name", "Name in the registry", lambda row: row.server.name),
    CsvColumn("ecosystem", "`remote`, or where its package is from", lambda row: find_ecosystem(row.server)),
    CsvColumn("seen_in", "Registries that list it, joined by `;`", lambda row: ";".join(sorted(row.server.seen_in))),
    _of_receipt("rubric", "Methodology", _of_card("rubric")),
    _of_receipt("rubric_version", "Our version of the methodology", _of_card("version")),
    _of_receipt("source_version", "Version of the publication it follows", _of_card("source_version")),
    _of_receipt("score", "Score; empty when nothing could be measured, which is not zero", _score),
    _of_receipt("grade", "Grade or level", _of_card("grade")),
    _of_receipt("not_measured", "Why there is no score", _not_measured("not_measured")),
    _of_receipt("not_measured_detail", "The same in words", _not_measured("detail")),
    _of_receipt("coverage", "Share of the methodology's base weight that was measured, 0 to 1", _coverage),
    _of_receipt("floor", "The score if everything unmeasured counted nothing; rankings go by it", _bound("floor")),
    _of_receipt("ceiling", "The score if everything unmeasured counted in full", _bound("ceiling")),
    _of_receipt("evidence", "`thin` when the methodology saw too little for its score to be compared", _evidence),
    _of_receipt("effective_weights", "Weight each dimension really had, `name=weight` joined by `;`", _weights),
    _of_receipt("dimension_status", "`measured`, `partial` or `not_testable` for each dimension", _statuses),
    _of_receipt("lines", "Lines on the receipt of the whole server", lambda row: str(len(row.card.get("lines", ())))),
    CsvColumn("registration_digest", "SHA-256 of the registration evidence", _digest("registration")),
    CsvColumn("registration_absent", "Why there is none", _absent("registration")),
    CsvColumn("listing_digest", "SHA-256 of the listing evidence", _digest("listing")),
    CsvColumn("listing_absent", "Why there is none", _absent("listing")),
    CsvColumn("listing_absent_detail", "The same in words", _absent_detail),
    *(CsvColumn(name, meaning, _about(fact)) for name, meaning, fact in PROJECT_COLUMNS),
)
