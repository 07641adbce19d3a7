"""One server as its pages show it: its newest published night, or another one that is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.responses import Response

from evidence.kinds import listing
from evidence.model import Absent, ServerId, Trigger
from evidence.store import Retest, RetestState, RunRow, RunState
from evidence.store.board_rows import Listed
from evidence.store.thinning import Thinned
from publish.advice import advice
from publish.dataset import Published, published
from publish.overview import row_of_cards
from publish.report import Naming, newest, ordered
from publish.site.site import Site
from scoring import receipt
from scoring.scorecard import Scorecard

OPTED_OUT: Final = "Whoever runs this server asked that it be not looked at. Nothing about it is shown."
UNKNOWN: Final = "No published server has this address. Search for it by its name, or by the reference in its registry."
NOT_IN_RUN: Final = (
    "The server was not in this run, or the run is not published. Its history names those that it was in."
)

LINES_SHOWN: Final = 60
"""Lines of a table on a server's first page; the page of the receipt has all of them."""

naming = cache(Naming.from_catalogue)
"""What rubrics and rules are called."""


@dataclass(frozen=True)
class Look:
    """What is public of one server in one run. `newest` is the run that lists show; `thinned` if records were given up.

    `retest` is a finished re-test after the newest run.
    """

    listed: Listed
    run: RunRow
    public: Published
    cards: Sequence[Scorecard]
    thinned: Thinned | None = None
    retest: Retest | None = None

    @property
    def id(self) -> ServerId:
        """The server."""
        return self.listed.server.id

    @property
    def newest(self) -> bool:
        """Whether this is the night that lists show."""
        return self.run.run.id == self.listed.run

    @cached_property
    def absent(self) -> Absent | None:
        """Why there is no listing; None when there is one, and when nothing is kept of that night."""
        content = self.public.dossier.read(listing.KIND)
        return content if isinstance(content, Absent) and self.public.dossier.records else None

    @property
    def current(self) -> tuple[Scorecard, ...]:
        """The receipts of the newest version of each methodology, the main one first."""
        latest = newest(self.cards)
        return tuple(card for card in self.cards if card.version == latest[card.rubric])

    def values(self) -> dict[str, Any]:
        """What every page about a server shows at its top."""
        state = row_of_cards(self.listed.server, self.absent, self.cards).state.value
        return {
            "here": "servers",
            "index": self.newest and self.listed.gate,
            "server": self.listed.server,
            "listed": self.listed,
            "run": self.run.run,
            "is_newest": self.newest,
            "state": self.listed.state if self.newest else "" if self.thinned else state,
            "reason": self.absent.reason if self.absent else None,
            "detail": self.absent.detail if self.absent else "",
            "advice": advice(self.absent.reason) if self.absent else None,
            "thinned": self.thinned,
            "retest": self.retest,
            "titles": naming().rubrics,
            "newest": newest(self.cards),
            "asked": "" if self.newest else f"?run={self.run.run.id}",
        }


def page(site: Site, template: str, seen: Look, *, tab: str, **values: Any) -> Response:
    """A page about one server, with its top and its tabs; `tab` is the one that it is."""
    return site.page(template, **{**seen.values(), "tab": tab, **_links(seen.id), **values})


def look(site: Site, server: ServerId, run: str | None = None) -> Look:
    """What may be shown of a server in a run, by default in the one that lists show; 404 when that is nothing."""
    listed = listed_server(site, server)
    row = site.store.run(run or listed.run)
    if row is None or not _is_told(row):
        raise HTTPException(404, NOT_IN_RUN)
    shown = next(published(site.store, row.run.id, servers=[server]), None)
    if shown is None or not (shown.dossier.records or shown.cards):
        raise HTTPException(404, NOT_IN_RUN if run else UNKNOWN)
    gone = None if shown.dossier.records else site.store.compacting.thinned(row.run.id)
    cards = ordered([receipt.decode(card.body) for card in shown.cards], naming().main)
    return Look(listed, row, shown, cards, gone, _retest(site, listed) if run is None else None)


def listed_server(site: Site, server: ServerId) -> Listed:
    """A server as lists show it; 404 for one that is unknown or not published, and one that opted out is told so."""
    listed = site.store.board.find(server)
    if listed is None:
        known = site.store.server(server)
        raise HTTPException(404, OPTED_OUT if known is not None and site.is_hidden(known) else UNKNOWN)
    if site.is_hidden(listed.server):
        raise HTTPException(404, OPTED_OUT)
    return listed


def before(site: Site, seen: Look) -> RunRow | None:
    """The last night before the one shown that said something of the server; None when there is none."""
    runs = [point.run for point in site.store.board.history(seen.id) if point.run < seen.run.run.id]
    return site.store.run(max(runs)) if runs else None


def _is_told(row: RunRow) -> bool:
    return row.state is RunState.PUBLISHED or (row.run.trigger is Trigger.RETEST and row.state is RunState.DONE)


def _retest(site: Site, listed: Listed) -> Retest | None:
    done = (one for one in site.store.retests.newest(20, listed.server.id) if one.state is RetestState.DONE)
    return next((one for one in done if one.run and one.run > listed.run), None)


def _links(server: ServerId) -> Mapping[str, Any]:
    """Where receipts of the server lead to."""
    return {
        "receipt_page": lambda card: f"/servers/{server}/receipts/{card.rubric}@{card.version}",
        "disputes_page": f"/servers/{server}/disputes",
    }
