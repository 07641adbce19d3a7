"""`hallmark list`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import islice
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from evidence.model import Dossier, Reason, ServerId
from evidence.store import Store
from publish.figures import percent
from publish.overview import Mark, Overview, ServerRow
from scoring import receipt
from scoring.scorecard import Scorecard
from workers.cli.console import Exit, emit, fail, note, out, plain, show, table
from workers.cli.receipts import newest_only, score_text
from workers.cli.session import find_run, reading
from workers.cli.show import named

app = typer.Typer(add_completion=False)

BATCH = 200
NARROW = 72
"""Columns below which there is no room for a table."""

WIDE_ENOUGH = 110
"""Columns from which references, which are long, stand below the names in it."""


class Order(StrEnum):
    """By what the list is sorted."""

    SCORE = "score"
    NAME = "name"
    COVERAGE = "coverage"
    ABSENT = "absent"


@app.command(name="list")
def servers(
    *,
    run: Annotated[str, typer.Option(help="Id of a run, the beginning of one, or `latest`.")] = "latest",
    rubric: Annotated[str | None, typer.Option(help="Only this rubric, and sort by it.")] = None,
    sort: Annotated[Order, typer.Option(help="Order of the list.")] = Order.SCORE,
    limit: Annotated[int | None, typer.Option(min=1, help="How many; without it, all.")] = None,
    absent: Annotated[str | None, typer.Option(metavar="REASON", help="Only servers absent for this reason.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, for programs.")] = False,
) -> None:
    """List the servers of a run with their scores. A server that could not be measured has a reason and no score.

    Examples:

    hallmark list --limit 20

    hallmark list --absent oauth_required

    hallmark list --rubric lint --json
    """
    reason = _reason(absent)
    with reading() as store:
        run_id = find_run(store, run).run.id
        rows = read_rows(store, run_id, named(rubric).id if rubric else None)
        chosen = [row for row in rows if reason is None or row[0].reason is reason]
        chosen = sorted(chosen, key=lambda row: _key(row[0], sort))[:limit]
        if as_json:
            for row, cards in chosen:
                emit(as_row(row, cards))
            return
        show(server_table(chosen))
        note(f"{len(chosen)} of {len(rows)} servers of run {run_id}")


def read_rows(store: Store, run_id: str, rubric: str | None = None) -> list[tuple[ServerRow, Sequence[Scorecard]]]:
    """One row per planned server with the receipts of the newest rubrics, stripped to what a table shows."""
    overview = Overview()
    rows: list[tuple[ServerRow, Sequence[Scorecard]]] = []
    for dossier, cards in _read(store, run_id, rubric):
        rows.append((overview.add(dossier, cards), [replace(card, lines=(), dimensions=()) for card in cards]))
    return rows


def server_table(rows: Sequence[tuple[ServerRow, Sequence[Scorecard]]]) -> RenderableType:
    """What people see: a table, or where there is no room for one a block per server."""
    if out().width < NARROW:
        return Group(*(_block(row, cards) for row, cards in rows))
    rubrics = list(dict.fromkeys(card.rubric for _, cards in rows for card in cards))
    grid = table(
        "Server", *((rubric, "right") for rubric in rubrics), ("Coverage", "right"), ("Tools", "right"), "Seen"
    )
    for row, cards in rows:
        by_rubric = {card.rubric: card for card in cards}
        grid.add_row(
            _who(row, short=out().width < WIDE_ENOUGH),
            *(score_text(by_rubric[rubric], "\n") if rubric in by_rubric else Text("") for rubric in rubrics),
            percent(cards[0].coverage) if cards else "",
            "" if row.tools is None else str(row.tools),
            _seen(row),
        )
    return grid


def _who(row: ServerRow, *, short: bool = False) -> Text:
    name = plain(row.name or row.ref)
    return name if short or row.name in {"", row.ref} else Text("\n").join([name, plain(row.ref, "dim")])


def _seen(row: ServerRow) -> Text:
    words = row.reason.value.replace("_", " ") if row.reason else row.state.value
    return plain(words, "yellow" if row.reason else "")


def _block(row: ServerRow, cards: Sequence[Scorecard]) -> Text:
    facts = [_seen(row), *(Text.assemble(f"{card.rubric} ", score_text(card)) for card in cards)]
    return Text("\n").join([_who(row), Text(", ").join(facts), Text("")])


def as_row(row: ServerRow, cards: Sequence[Scorecard]) -> dict[str, Any]:
    """The row that programs read."""
    return {
        "server": row.id,
        "ref": row.ref,
        "name": row.name,
        "state": row.state.value.replace(" ", "_"),
        "absent": None if row.reason is None else {"reason": row.reason.value, "detail": row.detail},
        "tools": row.tools,
        "scores": {f"{mark.rubric}@{mark.version}": _as_mark(mark) for mark in row.marks},
    }


def _as_mark(mark: Mark) -> dict[str, Any]:
    return {
        "score": None if mark.score is None else str(mark.score),
        "grade": mark.grade,
        "coverage": str(mark.coverage),
        "floor": None if mark.score is None else str(mark.score if mark.floor is None else mark.floor),
        "thin": mark.thin,
    }


def _read(store: Store, run_id: str, rubric: str | None) -> Iterator[tuple[Dossier, Sequence[Scorecard]]]:
    for batch in _batches(store.planned(run_id)):
        cards: dict[ServerId, list[Scorecard]] = {}
        for card in store.scorecards(run_id, servers=batch, rubric=rubric):
            cards.setdefault(card.server, []).append(receipt.decode(card.body))
        for dossier in store.dossiers(run_id, batch):
            yield dossier, newest_only(cards.get(dossier.server.id, []))


def _batches(ids: Iterable[ServerId]) -> Iterator[list[ServerId]]:
    rest = iter(ids)
    while batch := list(islice(rest, BATCH)):
        yield batch


def _key(row: ServerRow, order: Order) -> tuple[Any, ...]:
    first = row.marks[0] if row.marks else None
    rank = (first is None, first.rank(row.id) if first else ())
    match order:
        case Order.SCORE:
            return rank
        case Order.NAME:
            return (row.name or row.ref).casefold(), row.ref
        case Order.COVERAGE:
            return -first.coverage if first else 1, *rank
        case Order.ABSENT:
            return row.reason is None, row.reason or "", row.ref


def _reason(text: str | None) -> Reason | None:
    if text is None:
        return None
    try:
        return Reason(text.replace(" ", "_").replace("-", "_"))
    except ValueError:
        fail(f"no reason {text!r}; there are {', '.join(Reason)}", Exit.USAGE)
