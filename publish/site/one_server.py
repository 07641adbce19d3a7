"""One server as its pages show it: its newest published night, or another one that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.responses import Response

from evidence.kinds import listing
from evidence.model import Absent, ServerId
from evidence.store import ListedScore, RunRow
from evidence.store.board_rows import Listed
from evidence.store.thinning import Thinned
from publish.advice import advice
from publish.board import listed_score
from publish.dataset import Published, published
from publish.overview import row_of_cards
from publish.report import Naming, ordered
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
    """What is public of one server in one run; `thinned` if the records of that night were given up.

    `read` is asked for evidence and receipts, by pages that show them.
    """

    listed: Listed
    run: RunRow
    read: Callable[[], Published]
    thinned: Thinned | None = None

    @cached_property
    def public(self) -> Published:
        """Its public records and receipts."""
        return self.read()

    @cached_property
    def cards(self) -> Sequence[Scorecard]:
        """All of its receipts in the order of display."""
        return ordered([receipt.decode_stored(card.body) for card in self.public.cards], naming().main)

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

    @cached_property
    def versions(self) -> Mapping[str, int]:
        """The newest version of each methodology that there is a receipt of."""
        return {card.rubric: card.version for card in sorted(self.public.cards, key=lambda card: card.version)}

    @cached_property
    def scores(self) -> Sequence[ListedScore]:
        """The end of each of its receipts; of the newest run lists have them, so that no receipt is read."""
        if self.newest:
            return self.listed.scores
        return [listed_score(receipt.decode_head(card.body)) for card in self.public.cards]

    @cached_property
    def main(self) -> Scorecard | None:
        """The receipt of the newest version of the methodology that comes first."""
        cards = [card for card in self.public.cards if card.rubric == main_rubric(self.scores)]
        newest = max(cards, key=lambda card: card.version, default=None)
        return None if newest is None else receipt.decode_stored(newest.body)

    @cached_property
    def current(self) -> Sequence[Scorecard]:
        """The receipts of those versions, the main one first; no other is decoded."""
        shown = (card for card in self.public.cards if card.version == self.versions[card.rubric])
        return ordered([receipt.decode_stored(card.body) for card in shown], naming().main)

    def told(self) -> dict[str, Any]:
        """Why there is no listing, for pages that show evidence."""
        return {
            "reason": self.absent.reason if self.absent else None,
            "detail": self.absent.detail if self.absent else "",
            "advice": advice(self.absent.reason) if self.absent else None,
        }

    @property
    def state(self) -> str:
        """How much of the server was seen; empty when nothing is kept of that night."""
        if self.newest:
            return self.listed.state
        return "" if self.thinned else row_of_cards(self.listed.server, self.absent, self.current).state.value

    def values(self) -> dict[str, Any]:
        """What every page about a server shows at its top."""
        return {
            "here": "servers",
            "index": self.newest and self.listed.gate,
            "server": self.listed.server,
            "listed": self.listed,
            "run": self.run.run,
            "is_newest": self.newest,
            "state": self.state,
            "thinned": self.thinned,
            "titles": naming().rubrics,
            "asked": "" if self.newest else f"?run={self.run.run.id}",
        }


def page(site: Site, template: str, seen: Look, *, tab: str, **values: Any) -> Response:
    """A page about what was seen of one server, with its top and its tabs; `tab` is the one that it is."""
    return over_time(site, template, seen, tab=tab, **{**seen.told(), **values})


def over_time(site: Site, template: str, seen: Look, *, tab: str, **values: Any) -> Response:
    """A page about all nights of one server, for which no evidence is read."""
    return site.page(template, **{**seen.values(), "tab": tab, **_links(seen.id), **values})


def look(site: Site, server: ServerId, run: str | None = None, *, main_only: bool = False) -> Look:
    """What may be shown of a server in a run, by default in the one that lists show; 404 when that is nothing.

    With `main_only` the receipts of other methodologies than the first one are not read in the run that lists show.
    """
    with site.store.at_once():
        return _look(site, server, run, main_only=main_only)


def main_rubric(scores: Sequence[ListedScore]) -> str | None:
    """The methodology that is shown first: the default one, if the server is scored with it."""
    return min((one.rubric for one in scores), key=lambda rubric: (rubric != naming().main, rubric), default=None)


def glance(site: Site, server: ServerId) -> Look:
    """What lists show of a server; 404 when that is nothing. Its evidence is not read, unless its night keeps less."""
    listed = listed_server(site, server)
    row = site.store.run(listed.run)
    if row is None or site.store.compacting.thinned(listed.run) is not None:
        return _look(site, server, None)
    return Look(listed, row, lambda: _look(site, server, None).public)


def _look(site: Site, server: ServerId, run: str | None, *, main_only: bool = False) -> Look:
    listed = listed_server(site, server)
    if run not in {None, listed.run} and run not in runs_of(site, server):
        raise HTTPException(404, NOT_IN_RUN)
    row = site.store.run(run or listed.run)
    rubric = main_rubric(listed.scores) if main_only and run in {None, listed.run} else None
    shown = next(published(site.store, row.run.id, servers=[server], rubric=rubric), None) if row else None
    if row is None or shown is None or not (shown.dossier.records or shown.cards):
        raise HTTPException(404, NOT_IN_RUN if run else UNKNOWN)
    gone = None if shown.dossier.records else site.store.compacting.thinned(row.run.id)
    return Look(listed, row, lambda: shown, gone)


def listed_server(site: Site, server: ServerId) -> Listed:
    """A server as lists show it; 404 for one that is unknown or not published, and one that opted out is told so."""
    listed = site.store.board.find(server)
    if listed is None:
        known = site.store.server(server)
        raise HTTPException(404, OPTED_OUT if known is not None and site.is_hidden(known) else UNKNOWN)
    if site.is_hidden(listed.server):
        raise HTTPException(404, OPTED_OUT)
    return listed


def runs_of(site: Site, server: ServerId) -> Sequence[str]:
    """The runs that may be told of a server: published nights and finished re-tests, the oldest first."""
    return list(dict.fromkeys(point.run for point in site.store.board.history(server)))


def before(site: Site, seen: Look) -> str | None:
    """The last run before the one shown that said something of the server; None when there is none."""
    return max((run for run in runs_of(site, seen.id) if run < seen.run.run.id), default=None)


def _links(server: ServerId) -> Mapping[str, Any]:
    """Where receipts of the server lead to."""
    return {
        "receipt_page": lambda card: f"/servers/{server}/receipts/{card.rubric}@{card.version}",
        "disputes_page": f"/servers/{server}/disputes",
    }
