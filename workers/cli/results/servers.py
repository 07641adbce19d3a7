"""`hallmark list`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evidence.kinds import listing
from evidence.model import Reason, ServerId
from evidence.store import Store, StoredScorecard
from publish.text.numbers import format_percent
from publish.views.server_summary import ServerRow, has_thin_evidence, make_row_from_receipts
from scoring import receipt
from scoring.ranking import RankKey
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.results.verdict import read_verdict
from workers.cli.display.console import (
    FULL_TABLE_WIDTH,
    ExitCode,
    clean_text,
    exit_with_error,
    make_table,
    open_stdout,
    print_data,
    print_json,
    print_note,
)
from workers.cli.display.receipts import select_newest
from workers.cli.display.verdicts import format_score
from workers.cli.options import json_lines_option, rubric_option, run_option
from workers.cli.rubric_selection import find_rubric, select_receipts
from workers.cli.session import find_run, open_read_store

BATCH = 200
MIN_COLUMN_WIDTH = 24
"""Minimum width of the column of names; a terminal without room for it gets no table."""


class Order(StrEnum):
    """Sort order of the list."""

    SCORE = "score"
    NAME = "name"
    COVERAGE = "coverage"
    ABSENT = "absent"


@click.command()
@run_option
@rubric_option
@click.option(
    "--sort", type=click.Choice(Order, case_sensitive=False), default=Order.SCORE.value, help="Order of the list."
)
@click.option("--limit", type=click.IntRange(min=1), help="How many. Default: all.")
@click.option("--absent", metavar="REASON", help="Only servers not testable for this reason.")
@json_lines_option
def servers(
    *, run: str, rubric: tuple[str, ...], sort: Order, limit: int | None, absent: str | None, as_json: bool
) -> None:
    """List the servers of a run with their scores. Too little evidence gives a range and no score.

    Examples:

    hallmark list --limit 20

    hallmark list --absent oauth_required

    hallmark list --rubric lint@1 --rubric adaptive --json

    Servers are sorted by the first rubric: by the floor (the score that the evidence guarantees), then by coverage.
    Those without a score come last.
    """
    reason = _reason(absent)
    for name in rubric:
        find_rubric(name)  # report a wrong name before the database is opened
    with open_read_store() as store:
        run_id = find_run(store, run).run.id
        rows = read_rows(store, run_id, rubric)
        kept = [row for row in rows if reason is None or row[0].reason is reason]
        kept = sorted(kept, key=lambda row: _key(row[0], sort))[:limit]
        if as_json:
            for row, cards in kept:
                print_json(make_server_row(row, cards))
            return
        print_data(make_server_table(kept))
        print_note(f"{len(kept)} of {len(rows)} servers of run {run_id}")


def read_rows(store: Store, run_id: str, rubrics: Sequence[str] = ()) -> list[tuple[ServerRow, Sequence[Scorecard]]]:
    """One row per planned server with its receipts: the newest versions, or the chosen ones in their order.

    It reads no evidence and no lines of receipts, so a large run takes seconds.
    """
    absent = store.read_absences(run_id, listing.KIND)
    rows: list[tuple[ServerRow, Sequence[Scorecard]]] = []
    for batch in _batches(store.list_planned_servers(run_id)):
        cards = _heads(store, run_id, batch, rubrics)
        for server in store.find_servers(batch):
            found = cards.get(server.id, [])
            rows.append((make_row_from_receipts(server, absent.get(server.id), found), found))
    return rows


def make_server_table(rows: Sequence[tuple[ServerRow, Sequence[Scorecard]]]) -> RenderableType:
    """A table, or one block per server where the terminal is too narrow."""
    names = _columns([card for _, cards in rows for card in cards])
    grid = make_table(
        "Server",
        *((_heading(name, names), "right") for name in names),
        ("Coverage", "right"),
        ("Tools", "right"),
        "Outcome",
    )
    grid.columns[0].min_width = MIN_COLUMN_WIDTH
    for row, cards in rows:
        found = {(card.rubric, card.version): card for card in cards}
        grid.add_row(
            _who(row, short=open_stdout().width < FULL_TABLE_WIDTH),
            *(format_score(found[name], "\n") if name in found else Text("") for name in names),
            format_percent(cards[0].coverage) if cards else "",
            "" if row.tools is None else str(row.tools),
            format_outcome(row),
        )
    return grid if _fits(grid) else Group(*(_block(row, cards) for row, cards in rows))


def _fits(grid: Table) -> bool:
    """Whether the table fits the terminal when its first column has the minimum width."""
    first = grid.columns[0]
    first.width = MIN_COLUMN_WIDTH
    needed = open_stdout().measure(grid, options=open_stdout().options.update(max_width=1_000)).minimum
    first.width = None
    return needed <= open_stdout().width


def _columns(cards: Sequence[Scorecard]) -> list[tuple[str, int]]:
    """The rubrics that scored some server; all of them when none did."""
    names = dict.fromkeys((card.rubric, card.version) for card in cards)
    scored = {(card.rubric, card.version) for card in cards if not isinstance(card.score, NotMeasured)}
    return [name for name in names if name in scored or not scored]


def _heading(name: tuple[str, int], names: Sequence[tuple[str, int]]) -> str:
    """The rubric, with its version when two versions are shown."""
    rubric, version = name
    return rubric if sum(other == rubric for other, _ in names) == 1 else f"{rubric}@{version}"


def _who(row: ServerRow, *, short: bool = False) -> Text:
    name = clean_text(row.name or row.ref)
    return name if short or row.name in {"", row.ref} else Text("\n").join([name, clean_text(row.ref, "dim")])


def format_outcome(row: ServerRow) -> Text:
    """How much of a server was seen, or why it could not be tested."""
    words = row.reason.value.replace("_", " ") if row.reason else row.state.value
    return clean_text(words, "yellow" if row.reason else "")


def _block(row: ServerRow, cards: Sequence[Scorecard]) -> Text:
    facts = [format_outcome(row), *(Text.assemble(f"{card.rubric} ", format_score(card)) for card in cards)]
    return Text("\n").join([_who(row), Text(", ").join(facts), Text("")])


def make_server_row(row: ServerRow, cards: Sequence[Scorecard]) -> dict[str, Any]:
    return {
        "server": row.id,
        "ref": row.ref,
        "name": row.name,
        "state": row.state.value.replace(" ", "_"),
        "absent": None if row.reason is None else {"reason": row.reason.value, "detail": row.detail},
        "tools": row.tools,
        "scores": {f"{card.rubric}@{card.version}": _make_score_object(card) for card in cards},
    }


def _make_score_object(card: Scorecard) -> dict[str, Any]:
    verdict = read_verdict(card)
    return {
        "caps": list(verdict.caps),
        "status": verdict.status,
        "score": None if verdict.value is None else str(verdict.value),
        "grade": verdict.grade,
        "coverage": str(verdict.coverage),
        "floor": str(verdict.floor),
        "ceiling": str(verdict.ceiling),
        "thin": has_thin_evidence(card),
    }


def _heads(
    store: Store, run_id: str, batch: Sequence[ServerId], rubrics: Sequence[str]
) -> dict[ServerId, list[Scorecard]]:
    stored: dict[ServerId, list[StoredScorecard]] = {}
    for card in store.read_scorecards(run_id, servers=batch):
        stored.setdefault(card.server, []).append(card)
    pick = {
        server: select_receipts(cards, rubrics) if rubrics else select_newest(cards) for server, cards in stored.items()
    }
    return {server: [receipt.decode_stored_scorecard(card.body) for card in cards] for server, cards in pick.items()}


def _batches(ids: Iterable[ServerId]) -> Iterator[list[ServerId]]:
    rest = iter(ids)
    while batch := list(islice(rest, BATCH)):
        yield batch


def rank_row(row: ServerRow) -> tuple[bool, bool, RankKey | tuple[()]]:
    """Sorts rows by the first rubric, best first; rows without a score come last, after them those without receipts."""
    first = row.marks[0] if row.marks else None
    return (first is None or first.score is None, first is None, first.rank(row.id) if first else ())


def _key(row: ServerRow, order: Order) -> tuple[Any, ...]:
    first = row.marks[0] if row.marks else None
    rank = rank_row(row)
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
        exit_with_error(f"no reason {text!r}; there are {', '.join(Reason)}", ExitCode.USAGE)
