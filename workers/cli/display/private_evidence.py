"""Private evidence of one server on a terminal, for the operator: findings, secrets, listing changes and alerts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from evidence.canonical import NotJson
from evidence.kinds import alerts, drift, handouts, secrets
from evidence.kinds.alerts import Alerts
from evidence.kinds.drift import Drift
from evidence.kinds.secrets import Secrets
from evidence.kinds.traits import kinds_where
from evidence.model import Absent, Dossier, Reason
from evidence.store import FindingRow, FindingState
from scoring.scopes import handout_texts
from workers.cli.display.console import clean_text, format_absence, make_table, print_data

MOST_SHOWN: Final = 4_000  # bytes of a body whose kind has no view
PRIVATE: Final = "private, for you only"

_CONSEQUENCES: Final = {
    FindingState.PRIVATE_TRIAGE: "withheld on pages and in datasets",
    FindingState.PRIVATE_DISCLOSED: "its vendor was notified; withheld on pages and in datasets",
    FindingState.PUBLIC_DISCLOSED: "public",
    FindingState.DISMISSED: "dismissed and withheld; it still counts",
}


def show_findings(rows: Sequence[FindingRow]) -> None:
    """Print the findings of one server with their states; nothing when there are none."""
    if not rows:
        return
    _title("Findings")
    grid = make_table("Finding", "State", "Rule", "Where", "Consequence")
    for row in rows:
        where = clean_text(row.finding.at or "whole server")
        grid.add_row(
            row.finding.id,
            row.state.value,
            clean_text(row.finding.rule),
            where,
            clean_text(_CONSEQUENCES[row.state], "dim"),
        )
    print_data(grid)
    print_data("")


def show_private(dossier: Dossier) -> None:
    """Print the kinds of evidence that are never published."""
    others = sorted(kinds_where(lambda traits: traits.private) - _VIEWS.keys())
    views = {**_VIEWS, **{kind: (kind, _document) for kind in others}}
    for kind, (title, view) in views.items():
        content = dossier.read(kind)
        if isinstance(content, Absent):
            if content.reason is not Reason.NOT_COLLECTED:
                _title(title)
                print_data(format_absence(content))
                print_data("")
            continue
        _title(title)
        try:
            for part in view(content.body):
                print_data(part)
        except NotJson as error:
            print_data(clean_text(str(error), "italic"))
        print_data("")


def _title(title: str) -> None:
    print_data(Text.assemble((title, "bold underline"), (f"  {PRIVATE}", "dim")))


def _secrets(body: bytes) -> Iterator[RenderableType]:
    seen = Secrets.parse(body)
    whole = "" if seen.complete else ", not all of it"
    yield clean_text(f"{len(seen.findings)} places in {seen.files:,} files of {seen.name} at {seen.ref}{whole}")
    if seen.findings:
        grid = make_table("Where", "What", "Counts", "Context")
        for one in seen.findings:
            grid.add_row(
                clean_text(f"{one.path}:{one.line}"),
                clean_text(one.pattern, "bold" if one.counts else ""),
                clean_text("yes" if one.counts else f"no: {one.why}"),
                clean_text(one.context, "dim"),
            )
        yield grid


def _drift(body: bytes) -> Iterator[RenderableType]:
    seen = Drift.parse(body)
    if not seen.changes:
        yield clean_text("nothing changed since the approved listing", "dim")
        return
    yield clean_text("alarm: check the changes" if seen.alarm else "no alarm", "red" if seen.alarm else "dim")
    grid = make_table("Where", "What", "Newly says", "Gained")
    for change in seen.changes:
        gained = ", ".join(one.value for one in change.escalations)
        grid.add_row(
            clean_text(change.at), change.what.value, clean_text(", ".join(change.signals), "red"), clean_text(gained)
        )
    yield grid


def _alerts(body: bytes) -> Iterator[RenderableType]:
    seen = Alerts.parse(body)
    yield clean_text(f"{len(seen.alerts)} alerts" + ("" if seen.complete else ", and more"))
    if seen.alerts:
        grid = make_table("Alert", "Severity", "Package", "State", "Fixed in")
        for one in seen.alerts:
            grid.add_row(
                *(clean_text(cell or "") for cell in (one.id, one.severity, one.package, one.state, one.fixed))
            )
        yield grid


def _handouts(body: bytes) -> Iterator[RenderableType]:
    texts = [one for kind in handout_texts.SCOPES for one in handout_texts.build_handout_scopes(kind, body)]
    yield clean_text(f"{len(texts)} texts were handed out", "" if texts else "dim")
    if texts:
        grid = make_table("Where", ("Characters", "right"), "Whole", "Orders")
        for one in texts:
            orders = "; ".join(dict.fromkeys(hit.title for hit in one.hits))
            whole = "yes" if one.handed.whole else "no"
            grid.add_row(clean_text(one.at), f"{len(one.handed.text):,}", whole, clean_text(orders, "red"))
        yield grid


def _document(body: bytes) -> Iterator[RenderableType]:
    yield clean_text(body[:MOST_SHOWN].decode("utf-8", "replace"))


_VIEWS: Final[Mapping[str, tuple[str, Callable[[bytes], Iterator[RenderableType]]]]] = {
    secrets.KIND: ("Secrets in the source", _secrets),
    drift.KIND: ("Changes since the approved listing", _drift),
    handouts.KIND: ("What it hands out", _handouts),
    alerts.KIND: ("Alerts of the repository's host", _alerts),
}
"""Views of private kinds, in the order of the page; other kinds are shown as stored."""
