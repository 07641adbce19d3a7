"""The tables of the dataset. Schemas, metadata and docs/schemas/dataset.md are made from these declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import pyarrow as pa
from msgspec import Struct

from publish.datasets.format.columns import Column, Type
from publish.formats.csv_columns import PROJECT_COLUMNS
from publish.text.numbers import SHARE_PLACES

PARQUET: Final = "parquet"
CSV: Final = "csv.gz"
JSONL: Final = "jsonl.gz"
FORMATS: Final = (PARQUET, CSV, JSONL)

RUN: Final = "run"
ECOSYSTEM: Final = "ecosystem"
"""Columns that repeat a value of the run or of the server, so that readers need no join."""

NOT_COMPARABLE: Final = "†"
"""The mark of columns that the comparable form leaves out."""


class Table(Struct, frozen=True):
    """One table. Its rows are sorted by server; `key` names the columns of its primary key.

    `bulky` tables have texts too long for spreadsheets, and no CSV.
    """

    name: str
    title: str
    about: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    bulky: bool = False

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats of its files, which are their suffixes."""
        return (PARQUET, JSONL) if self.bulky else FORMATS

    @property
    def repeated(self) -> tuple[str, ...]:
        """Its columns whose values are those of the run or of the server."""
        return tuple(column.name for column in self.columns if column.name in {RUN, ECOSYSTEM})

    def shown(self, *, comparable: bool) -> tuple[Column, ...]:
        """Its columns; in the comparable form without volatile ones."""
        return tuple(column for column in self.columns if not (comparable and column.volatile))

    def arrow(self, *, comparable: bool = False) -> pa.Schema:
        fields = [column.arrow for column in self.shown(comparable=comparable)]
        return pa.schema(fields, metadata={"table": self.name, "description": self.about})

    def json_schema(self, *, comparable: bool = False) -> dict[str, Any]:
        """The schema of a line of its JSON Lines."""
        columns = self.shown(comparable=comparable)
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": self.title,
            "description": self.about,
            "type": "object",
            "properties": {column.name: column.json_schema for column in columns},
            "required": [column.name for column in columns],
            "additionalProperties": False,
        }

    def table_schema(self, *, comparable: bool = False) -> dict[str, Any]:
        """The Frictionless schema of its CSV."""
        fields = [column.table_schema for column in self.shown(comparable=comparable)]
        return {"fields": fields, "missingValues": [""], "primaryKey": list(self.key)}


def _text(name: str, meaning: str, *, nullable: bool = False, volatile: bool = False) -> Column:
    return Column(name, Type.TEXT, meaning, nullable, volatile)


def _decimal(name: str, meaning: str, *, nullable: bool = False, places: int = 2) -> Column:
    return Column(name, Type.DECIMAL, meaning, nullable, places=places)


def _share(name: str, meaning: str) -> Column:
    return _decimal(name, meaning, places=SHARE_PLACES)


def _integer(name: str, meaning: str, *, nullable: bool = False) -> Column:
    return Column(name, Type.INTEGER, meaning, nullable)


_SERVER: Final = _text("server", "Id of the server")
_RUN: Final = _text(RUN, "Id of the run", volatile=True)
_ECOSYSTEM: Final = _text(ECOSYSTEM, "`remote`, or where its package is from, such as `npm`")
_CARD: Final = (
    _SERVER,
    _RUN,
    _text("rubric", "Methodology"),
    _integer("version", "Our version of it"),
)
_NOT_MEASURED: Final = (
    _text("not_measured", "Why there is no result", nullable=True),
    _text("detail", "The same in words", nullable=True),
)
_PLACE: Final = (
    _text("dimension", "Dimension of the methodology; none on the receipt of the whole server", nullable=True),
    _text("component", "Component of the dimension; none on that of the dimension itself", nullable=True),
)
_TYPES: Final = {
    "package_published": Type.TIME,
    "repository_created": Type.TIME,
    "repository_last_commit": Type.TIME,
    "repository_commits_year": Type.INTEGER,
    "repository_stars": Type.INTEGER,
    "advisories": Type.INTEGER,
}
"""Types of facts of the project that are no texts."""

SERVERS: Final = Table(
    "servers",
    "Servers",
    "Every server of the run that may be shown, whether or not anything could be measured. Unknown facts are none.",
    (
        _SERVER,
        _RUN,
        _text("ref", "Canonical reference, which gives the id: a URL, `npm:NAME`, `pypi:NAME`, …"),
        _text("name", "Name in the registry"),
        _ECOSYSTEM,
        Column("seen_in", Type.TEXTS, "Registries that list it"),
        Column("targets", Type.TEXTS, "Ways to reach it, the one that decides first: `npm`, `sse`, …"),
        _text("repository", "Repository that its entry names", nullable=True),
        _text("state", "`measured`, `partial` or `not_testable`: how much of what it says of itself was seen"),
        _text("reason", "Why it could not be listed", nullable=True),
        _text("detail", "The same in words", nullable=True),
        _integer("tools", "Tools that it lists; none where they could not all be listed", nullable=True),
        _integer("tool_tokens", "Tokens of their definitions, estimated", nullable=True),
        *(Column(name, _TYPES.get(name, Type.TEXT), meaning, True) for name, meaning, _ in PROJECT_COLUMNS),
    ),
    ("server",),
)
SCORECARDS: Final = Table(
    "scorecards",
    "Scorecards",
    "One receipt for each server and version of a methodology: its result, or why there is none.",
    (
        *_CARD,
        _ECOSYSTEM,
        Column("as_of", Type.TIME, "Time of the receipt", volatile=True),
        _text("source_version", "Version of the publication that it follows"),
        _decimal("score", "Score; none when nothing could be measured, which is not zero", nullable=True),
        *_NOT_MEASURED,
        _text("grade", "Grade or level; none when there is none", nullable=True),
        _share("coverage", "Share of the methodology's base weight that was measured, 0 to 1"),
        _decimal("floor", "The score if everything unmeasured counted nothing; rankings go by it"),
        _decimal("ceiling", "The score if everything unmeasured counted in full"),
        Column("caveats", Type.JSON, "Remarks on the score: a JSON list of texts"),
        Column("facts", Type.JSON, "Own figures of the methodology: a JSON object"),
    ),
    ("server", "rubric", "version"),
)
DIMENSIONS: Final = Table(
    "dimension_scores",
    "Dimension scores",
    "The weighted parts of each receipt: its dimensions, and below them their components.",
    (
        *_CARD,
        _ECOSYSTEM,
        _text("dimension", "Dimension of the methodology"),
        _text("component", "Component of the dimension; none for the dimension itself", nullable=True),
        _share("base_weight", "Weight among its siblings before anything is redistributed"),
        _share("effective_weight", "Share of the whole that it really had; those of its siblings sum to 1"),
        _decimal("result", "Result on 0 to 10; none when nothing could be measured, which is not zero", nullable=True),
        *_NOT_MEASURED,
        _text("status", "`measured`, `partial` or `not_testable`"),
        _integer("checked", "Things that were checked", nullable=True),
        _decimal("floor", "Result if everything unmeasured counted nothing", nullable=True),
        _decimal("ceiling", "Result if it counted in full", nullable=True),
    ),
    ("server", "rubric", "version", "dimension", "component"),
)
LINES: Final = Table(
    "lines",
    "Lines",
    "One reason for points gained or lost in a receipt. Lines add up to the result of their place. "
    "One line with `withheld` stands for all that is not disclosed yet in its place, with their points.",
    (
        *_CARD,
        *_PLACE,
        _integer("position", "Number of the line in its place, from 0"),
        _text("cites", "Published id of what is charged for; `withheld` for what is not disclosed yet"),
        _decimal("points", "Points, signed", places=4),
        _text("why", "The reason in words"),
        _text("rule", "Rule that found it", nullable=True),
        _text("at", "Place in the evidence, such as `tools/search/query`"),
        _text("severity", "Severity of the finding"),
        _text("evidence", "SHA-256 of the evidence, as in table `evidence`; empty when it is not public"),
        _integer("checked", "Things that the check judged", nullable=True),
    ),
    ("server", "rubric", "version", "dimension", "component", "position"),
)
OUTCOMES: Final = Table(
    "rule_outcomes",
    "Rule outcomes",
    "The result of every rule. One that reads absent evidence has no row: table `evidence` says why. Rules that look "
    "for what is not disclosed yet have no row for any server; methodology.json names them.",
    (
        _SERVER,
        _RUN,
        _text("rule", "Id of the rule"),
        Column("params", Type.JSON, "Parameters it was asked with: a JSON object"),
        _text("pages", "What was asked: `all`, or `first`, `sent` or `source` where that gave another answer"),
        _text("state", "`measured` or `not_measured`"),
        *_NOT_MEASURED,
        _integer("checked", "Things that were checked", nullable=True),
        _integer("findings", "Findings, tolerated ones left out", nullable=True),
        _integer("tolerated", "Deviations that cost no points", nullable=True),
        _integer("skipped", "Things that could not be examined", nullable=True),
    ),
    ("server", "rule", "params", "pages"),
)
EVIDENCE: Final = Table(
    "evidence",
    "Evidence digests",
    "One row for each kind of evidence of a server: what was observed, or why there is nothing.",
    (
        _SERVER,
        _text("kind", "Kind of evidence"),
        _integer("schema", "Version of the shape of its body"),
        _text("collector", "Collector that recorded it"),
        _integer("collector_version", "Version of that"),
        Column("observed_at", Type.TIME, "When it was observed", volatile=True),
        Column("observation", Type.JSON, "What differs between visits", volatile=True),
        _text("state", "`observed` or `absent`"),
        _text("reason", "Why it is absent", nullable=True),
        _text("detail", "The same in words", nullable=True),
        _text("digest", "SHA-256 of the published body or of the absence, as in receipts"),
        _text("canonical", "SHA-256 of the body's RFC 8785 form", nullable=True),
        _text("body", "`whole`, `redacted` (masked before it was published), `withheld`, or `none` when absent"),
        _text("body_reason", "Why the body is redacted or withheld", nullable=True),
        _integer("bytes", "Size of the body", nullable=True),
    ),
    ("server", "kind"),
)
BODIES: Final = Table(
    "bodies",
    "Evidence",
    "The evidence itself: the body of every record that may be published, from which each score can be computed again.",
    (
        _SERVER,
        _text("kind", "Kind of evidence"),
        _text("digest", "SHA-256 of the body"),
        _text("encoding", "`utf-8`, or `base64` for a body that is not UTF-8"),
        _text("body", "The body"),
    ),
    ("server", "kind"),
    bulky=True,
)

TABLES: Final = (SERVERS, SCORECARDS, DIMENSIONS, LINES, OUTCOMES, EVIDENCE, BODIES)
TABLES_BY_NAME: Final[Mapping[str, Table]] = {table.name: table for table in TABLES}


def table_file_name(table: Table, form: str) -> str:
    return f"{table.name}.{form}"


def render_reference(tables: Iterable[Table] = TABLES) -> str:
    """The Markdown of all tables and their columns, for the guide."""
    return "\n".join(_section(table) for table in tables)


def _section(table: Table) -> str:
    files = ", ".join(f"`{table_file_name(table, form)}`" for form in table.formats)
    rows = (
        f"| `{column.name}`{NOT_COMPARABLE if column.volatile else ''} | {column.label} | {column.meaning} |"
        for column in table.columns
    )
    head = (f"### `{table.name}`", "", table.about, "", f"Files: {files}. Key: {', '.join(table.key)}.", "")
    return "\n".join((*head, "| column | type | meaning |", "|---|---|---|", *rows)) + "\n"
