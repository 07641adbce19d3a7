"""Finds disputable lines: lines of a server's newest public receipts that charge for a named fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evidence.model import ServerId
from evidence.store import RetestState, Store
from evidence.store.community.dispute_values import DisputedLine
from publish.disclosure import WITHHELD, WITHHELD_CAP
from publish.views.public_servers import read_public_server
from publish.views.server_summary import receipt_lines
from scoring.remedy import ROUNDING
from scoring.results.scorecard import Line, Scorecard
from scoring.rubrics.adaptive_verdict import SCALE_LINE

_NO_FAULT: Final = frozenset({WITHHELD, WITHHELD_CAP, ROUNDING, SCALE_LINE})


def is_disputable(line: Line) -> bool:
    """Whether a line of a public receipt costs points for a fault that is named."""
    return line.points < 0 and line.cites not in _NO_FAULT


def find_charging_lines(card: Scorecard) -> Mapping[tuple[str, str], Line]:
    """The disputable lines of a receipt by rule and place.

    Under the place "" is, unless the rule charges for the whole server, the line that sums up further findings with
    the same published id.
    """
    lines = [line for line in receipt_lines(card) if is_disputable(line)]
    sums = {line.cites: line for line in lines if line.rule is None}
    found = {(line.rule, ""): sums[line.cites] for line in lines if line.rule and line.cites in sums}
    return found | {(line.rule, line.at): line for line in lines if line.rule}


def find_disputable_line(store: Store, server: ServerId, *, rubric: str, cites: str, at: str) -> DisputedLine | None:
    """The line of the newest public receipts that cites this at this place; None when there is none.

    A withheld line cannot be found by its published id, so that guessing reveals nothing.
    """
    for run in list_shown_runs(store, server):
        for line in _lines(store, server, run, rubric):
            if (line.cites, line.at) == (cites, at):
                return line
    return None


def list_shown_runs(store: Store, server: ServerId) -> Iterator[str]:
    """The runs with a server's shown receipts: its newest re-test, a later full probe, and the published run."""
    newest = store.listing.find_newest_run() or ""
    done = [one.run for one in store.retests.list_retests(20, server) if one.state is RetestState.DONE and one.run]
    later = {run for run in (*done[:1], store.full_probes.find_newest_full_probe(server)) if run and run > newest}
    yield from sorted({*later, newest} - {""}, reverse=True)


def _lines(store: Store, server: ServerId, run: str, rubric: str) -> Iterator[DisputedLine]:
    """The lines of a rubric's receipts, the newest version first."""
    shown = read_public_server(store, run, server)
    cards = [card for card in shown.scorecards if card.rubric == rubric] if shown else []
    for card in sorted(cards, key=lambda card: -card.version):
        for line in filter(is_disputable, receipt_lines(card)):
            yield DisputedLine(
                server=server,
                run=run,
                rubric=card.rubric,
                version=card.version,
                cites=line.cites,
                at=line.at,
                why=line.why,
                rule=line.rule,
            )
