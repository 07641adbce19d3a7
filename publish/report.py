"""The static HTML report of one run: an overview, the table of servers in every order, and a page per server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evidence.model import Run
from evidence.store import Store, UnknownRun
from publish import receipt_rows
from publish.advice import advice
from publish.advisories_view import advisories_of
from publish.behaviour_view import behaviour_of
from publish.conformance_view import conformance_of
from publish.dataset import Published, published
from publish.disclosure import WITHHELD
from publish.display import coded, visible
from publish.figures import bars, base_share, number, percent, share, signed
from publish.observed_view import access_of, interop_of, samples_of, trials_of
from publish.overview import BINS, Overview, ServerRow, State, all_lines, histogram, is_thin
from publish.project_view import dependencies_of, package_of, repository_of, source_of
from publish.server_view import MAX_ITEMS, RAW_LIMIT, Prose, conversation, entries, record_view, tools_in
from publish.tables import FIRST, Rubric, Tables
from publish.transcript_view import transcript_of
from scoring import catalogue, receipt
from scoring.outcome import NotMeasured
from scoring.scorecard import Scorecard

MARKER: Final = ".hallmark-report"
ASSETS: Final = ("style.css", "icon.svg")
ROWS_ON_OVERVIEW = 100
LINES_ON_PAGE = 300
LINES_OF_EARLIER = 40
NAME_LIMIT = 160

_SITE = Path(__file__).resolve().parent / "site"
_RANGES = tuple(f"{start}–{start + 9 if start < 90 else 100}" for start in range(0, 100, 100 // BINS))
_MEANINGS: Final = {
    State.MEASURED: "All lists it declares were read to the end.",
    State.PARTIAL: "It answered, but a list failed or was longer than the probe reads.",
    State.NOT_TESTABLE: "It could not be opened. The reasons are below; none of them is a zero.",
}

_NO_LINKS: Final[Mapping[str, object]] = {
    "rule_page": lambda rule: "",
    "receipt_page": lambda card: "",
    "method_page": lambda rubric, version: "",
    "disputed": {},
    "disputes_page": "",
    "dispute_form": "",
}
"""Where a receipt leads to on the site; a report has no such pages."""


_ROWS: Final[Mapping[str, object]] = {
    "line_rows": receipt_rows.line_rows,
    "dimension_rows": receipt_rows.dimension_rows,
    "dots": receipt_rows.dots,
    "night_rows": receipt_rows.night_rows,
}
"""What is written without a template."""


class FolderTaken(Exception):
    """The folder holds something that is not a report; the message is for people."""


@dataclass(frozen=True, slots=True)
class Naming:
    """Titles of rubrics and rules, and the rubric that comes first."""

    rubrics: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    main: str = ""

    @classmethod
    def from_catalogue(cls) -> Naming:
        """The names that the declarations give."""
        rubrics = catalogue.rubrics()
        return cls(
            {rubric.id: rubric.title for rubric in rubrics},
            {rule.id: rule.title for rule in catalogue.rules()},
            next((rubric.id for rubric in rubrics if rubric.default), ""),
        )


def write_report(store: Store, run_id: str, folder: Path, *, naming: Naming | None = None) -> Path:
    """Write the report of a run into `folder` and return its first page.

    The same store gives the same bytes. An earlier report in the folder is replaced; a folder that holds anything else
    raises FolderTaken before anything is written.
    """
    stored = store.run(run_id)
    if stored is None:
        raise UnknownRun(f"expected the id of a stored run, found {run_id!r}; `hallmark runs` lists them")
    _prepare(folder)
    named = naming or Naming.from_catalogue()
    site = _Site(stored.run, folder, named)
    for server in published(store, run_id):
        site.add(server, ordered([receipt.decode(card.body) for card in server.cards], named.main))
    site.finish()
    for asset in ASSETS:
        shutil.copyfile(_SITE / asset, folder / asset)
    return folder / "index.html"


class _Site:
    """Writes pages as servers come in; keeps one row per server for the pages about all of them."""

    def __init__(self, run: Run, folder: Path, naming: Naming) -> None:
        self._run, self._folder, self._naming = run, folder, naming
        self._overview = Overview()
        self._rubrics: dict[tuple[str, int], Rubric] = {}
        self._jinja = environment()
        self._jinja.globals |= {"run": run, "first_table": FIRST, "versions": tuple(sorted(run.pins.items()))}

    def add(self, server: Published, cards: Sequence[Scorecard]) -> None:
        """Count a server and write its page."""
        for card in cards:
            title = self._naming.rubrics.get(card.rubric, card.rubric)
            rubric = Rubric(card.rubric, card.version, title, card.source_version)
            self._rubrics.setdefault((card.rubric, card.version), rubric)
        row = self._overview.add(server.dossier, cards)
        values = self._server(server, row, cards)
        self._write(f"servers/{row.id}.html", "server.html.j2", up="../", here="", **values)

    def finish(self) -> None:
        """Write the pages about all servers."""
        rubrics = sorted(self._rubrics.values(), key=lambda it: (it.id != self._naming.main, it.id, -it.version))
        main = next((rubric for rubric in rubrics if rubric.id == self._naming.main), rubrics[0] if rubrics else None)
        tables = Tables(self._overview, rubrics, main)
        total = len(self._overview.rows)
        self._write(
            "index.html",
            "index.html.j2",
            here="index",
            total=total,
            states=list(self._states(total)),
            reasons=[
                {"name": reason.value, "count": count, "advice": advice(reason)}
                for reason, count in self._overview.reasons
            ],
            rubrics=[self._rubric(rubric, total) for rubric in rubrics],
            table=tables.first(ROWS_ON_OVERVIEW),
        )
        for file, page, links, table in tables.pages():
            self._write(
                file, "servers.html.j2", here="servers", total=total, table=table, pages=links, number_of_page=page
            )

    def _server(self, server: Published, row: ServerRow, cards: Sequence[Scorecard]) -> dict[str, Any]:
        dossier = server.dossier
        transcript, tools = transcript_of(dossier), tools_in(dossier)
        return {
            "server": dossier.server,
            "row": row,
            "advice": advice(row.reason) if row.reason else None,
            "cards": cards,
            "titles": self._naming.rubrics,
            "newest": newest(cards),
            "line_limits": (LINES_OF_EARLIER, LINES_ON_PAGE),
            "talk": conversation(dossier),
            "conformance": conformance_of(dossier),
            "trials": trials_of(dossier),
            "access": access_of(dossier),
            "samples": samples_of(dossier),
            "interop": interop_of(dossier),
            "behaviour": behaviour_of(dossier),
            "disclosed": server.disclosed,
            "advisories": advisories_of(dossier),
            "package": package_of(dossier),
            "repository": repository_of(dossier),
            "source": source_of(dossier),
            "dependencies": dependencies_of(dossier),
            "transcript": transcript,
            "exchange_page": lambda at: f"#{anchor}" if transcript and (anchor := transcript.places.get(at)) else "",
            "tool_page": lambda index: f"#tools-{index + 1}" if index < min(tools, MAX_ITEMS) else "",
            "entries": entries(dossier),
            "records": [record_view(record) for _, record in sorted(dossier.records.items())],
        }

    def _states(self, total: int) -> Iterator[dict[str, Any]]:
        for state, count in self._overview.states.items():
            yield {
                "name": state.value,
                "count": count,
                "share": share(count, total),
                "meaning": _MEANINGS[state],
            }

    def _rubric(self, rubric: Rubric, total: int) -> dict[str, Any]:
        overview, key = self._overview, (rubric.id, rubric.version)
        scores = overview.scores(*key)
        return {
            "id": rubric.id,
            "version": rubric.version,
            "source_version": rubric.source_version,
            "key": rubric.key,
            "title": rubric.title,
            "scored": len(scores),
            "thin": (thin := overview.thin(*key)),
            "unscored": total - len(scores) - thin,
            "median": Decimal(median(scores)) if scores else None,
            "bars": bars(histogram(scores), _RANGES),
            "grades": overview.grades(*key),
            "dimensions": overview.dimensions(*key),
            "failures": [
                {
                    "cites": failure.cites,
                    "rule": failure.rule,
                    "title": self._naming.rules.get(failure.rule or "", "") or failure.example,
                    "servers": failure.servers,
                    "times": failure.times,
                    "points": failure.points,
                }
                for failure in overview.failures(*key)
            ],
        }

    def _write(self, name: str, template: str, *, up: str = "", **values: Any) -> None:
        page = self._jinja.get_template(template).render(up=up, **values)
        (self._folder / name).write_text(page, encoding="utf-8", newline="\n")


def ordered(cards: Sequence[Scorecard], main: str) -> list[Scorecard]:
    """Receipts in the order of display: the newest version of each rubric, the main one first; then the rest."""
    latest = newest(cards)
    return sorted(cards, key=lambda it: (it.version < latest[it.rubric], it.rubric != main, it.rubric, -it.version))


def newest(cards: Sequence[Scorecard]) -> Mapping[str, int]:
    """The newest version of each rubric among receipts."""
    return {card.rubric: card.version for card in sorted(cards, key=lambda card: card.version)}


def environment() -> Environment:
    """Templates that escape everything and spell out what cannot be seen in every text they are given."""
    jinja = Environment(
        loader=PackageLoader("publish", "site"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters |= {
        "number": number,
        "signed": signed,
        "percent": percent,
        "base_share": base_share,
        "capitalize_first": _capitalize_first,
        "coded": coded,
        "short": _short,
    }
    jinja.tests["not_measured"] = lambda value: isinstance(value, NotMeasured)
    jinja.tests["thin"] = is_thin
    jinja.globals["withheld"] = WITHHELD
    jinja.globals["has_lines"] = lambda card: next(all_lines(card), None) is not None
    jinja.globals |= {**_NO_LINKS, **_ROWS}
    return jinja


def _finalize(value: object) -> object:
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    if isinstance(value, Prose):
        return visible(value, limit=2 * RAW_LIMIT, multiline=True)
    return _remembered(value) if len(value) <= NAME_LIMIT else visible(value)


@lru_cache(maxsize=8_192)
def _remembered(text: str) -> str:
    """A short text as it may be shown: ids and messages come again on every line of a receipt."""
    return visible(text)


def _short(text: str) -> str:
    return visible(text, limit=NAME_LIMIT)


def _capitalize_first(text: str) -> str:
    return text[:1].upper() + text[1:]


def _prepare(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / MARKER).exists())):
        raise FolderTaken(
            f"expected an empty folder or an earlier report at {folder}, found other files; name another folder"
        )
    servers = folder / "servers"
    servers.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).write_text("Written by hallmark report, which may replace everything here.\n")
    for stale in (*folder.glob("servers*.html"), *servers.glob("srv_*.html")):
        stale.unlink()
