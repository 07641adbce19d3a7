"""Finds disputable lines: the public lines of a server's newest receipts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.model import ServerId
from evidence.store import RetestState, Store
from evidence.store.community.dispute_values import DisputedLine
from publish.disclosure import WITHHELD
from publish.views.public_servers import read_public_server
from publish.views.server_summary import receipt_lines
from scoring.remedy import ROUNDING

_NO_FAULT: Final = frozenset({WITHHELD, ROUNDING})


def find_disputable_line(store: Store, server: ServerId, *, rubric: str, cites: str, at: str) -> DisputedLine | None:
    """The line of the newest public receipts that cites this at this place; None when there is none.

    A withheld line cannot be found by its published id, so that guessing reveals nothing.
    """
    if cites in _NO_FAULT:
        return None
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
        for line in receipt_lines(card):
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
