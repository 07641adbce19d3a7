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
from evidence.store.listing.values import ListedServer
from evidence.store.retention.record_retention import DroppedRecords
from publish.public_servers import PublicServer, read_public_servers
from publish.publication.listing_rows import listed_score
from publish.run_summary import make_row_from_receipts
from publish.views.absence_advice import advise_on_absence
from publish.web.context import SiteContext
from scoring import receipt
from scoring.engine import catalogue
from scoring.results.scorecard import Scorecard

OPTED_OUT: Final = "Whoever runs this server asked that it be not looked at. Nothing about it is shown."
UNKNOWN: Final = "No published server has this address. Search for it by its name, or by the reference in its registry."
NOT_IN_RUN: Final = (
    "The server was not in this run, or the run is not published. Its history names those that it was in."
)

LINES_SHOWN: Final = 60
"""Lines of a table on a server's first page; the page of the receipt has all of them."""


@dataclass(frozen=True, slots=True)
class Naming:
    """Titles of rubrics and rules, and the rubric that comes first."""

    rubrics: Mapping[str, str]
    rules: Mapping[str, str]
    main: str


@cache
def methodology_titles() -> Naming:
    """The names that the declarations give."""
    rubrics = catalogue.list_rubrics()
    return Naming(
        {rubric.id: rubric.title for rubric in rubrics},
        {rule.id: rule.title for rule in catalogue.list_rules()},
        next((rubric.id for rubric in rubrics if rubric.default), ""),
    )


def ordered(cards: Sequence[Scorecard], main: str) -> list[Scorecard]:
    """Receipts in the order of display: the newest version of each rubric, the main one first; then the rest."""
    latest = {card.rubric: card.version for card in sorted(cards, key=lambda card: card.version)}
    return sorted(cards, key=lambda it: (it.version < latest[it.rubric], it.rubric != main, it.rubric, -it.version))


@dataclass(frozen=True)
class ServerInRun:
    """What is public of one server in one run; `thinned` if the records of that night were given up.

    `read` is asked for evidence and receipts, by pages that show them.
    """

    listed: ListedServer
    run: RunRow
    read: Callable[[], PublicServer]
    thinned: DroppedRecords | None = None

    @cached_property
    def public(self) -> PublicServer:
        """Its public records and receipts."""
        return self.read()

    @cached_property
    def cards(self) -> Sequence[Scorecard]:
        """All of its receipts in the order of display."""
        return ordered(
            [receipt.decode_stored_scorecard(card.body) for card in self.public.cards], methodology_titles().main
        )

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
        return [listed_score(receipt.decode_summary(card.body)) for card in self.public.cards]

    @cached_property
    def main(self) -> Scorecard | None:
        """The receipt of the newest version of the methodology that comes first."""
        cards = [card for card in self.public.cards if card.rubric == main_rubric(self.scores)]
        newest = max(cards, key=lambda card: card.version, default=None)
        return None if newest is None else receipt.decode_stored_scorecard(newest.body)

    @cached_property
    def current(self) -> Sequence[Scorecard]:
        """The receipts of those versions, the main one first; no other is decoded."""
        shown = (card for card in self.public.cards if card.version == self.versions[card.rubric])
        return ordered([receipt.decode_stored_scorecard(card.body) for card in shown], methodology_titles().main)

    def told(self) -> dict[str, Any]:
        """Why there is no listing, for pages that show evidence."""
        return {
            "reason": self.absent.reason if self.absent else None,
            "detail": self.absent.detail if self.absent else "",
            "advice": advise_on_absence(self.absent.reason) if self.absent else None,
        }

    @property
    def state(self) -> str:
        """How much of the server was seen; empty when nothing is kept of that night."""
        if self.newest:
            return self.listed.state
        return "" if self.thinned else make_row_from_receipts(self.listed.server, self.absent, self.current).state.value

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
            "titles": methodology_titles().rubrics,
            "asked": "" if self.newest else f"?run={self.run.run.id}",
        }


def server_response(site: SiteContext, template: str, seen: ServerInRun, *, tab: str, **values: Any) -> Response:
    """A page about what was seen of one server, with its top and its tabs; `tab` is the one that it is."""
    return history_response(site, template, seen, tab=tab, **{**seen.told(), **values})


def history_response(site: SiteContext, template: str, seen: ServerInRun, *, tab: str, **values: Any) -> Response:
    """A page about all nights of one server, for which no evidence is read."""
    return site.page(template, **{**seen.values(), "tab": tab, **_links(seen.id), **values})


def find_server_in_run(
    site: SiteContext, server: ServerId, run: str | None = None, *, main_only: bool = False
) -> ServerInRun:
    """What may be shown of a server in a run, by default in the one that lists show; 404 when that is nothing.

    With `main_only` the receipts of other methodologies than the first one are not read in the run that lists show.
    """
    with site.store.read_transaction():
        return _look(site, server, run, main_only=main_only)


def main_rubric(scores: Sequence[ListedScore]) -> str | None:
    """The methodology that is shown first: the default one, if the server is scored with it."""
    return min(
        (one.rubric for one in scores), key=lambda rubric: (rubric != methodology_titles().main, rubric), default=None
    )


def find_listed_server_in_run(site: SiteContext, server: ServerId) -> ServerInRun:
    """What lists show of a server; 404 when that is nothing. Its evidence is not read, unless its night keeps less."""
    listed = find_listed_server(site, server)
    row = site.store.find_run(listed.run)
    if row is None or site.store.compaction.find_dropped_records(listed.run) is not None:
        return _look(site, server, None)
    return ServerInRun(listed, row, lambda: _look(site, server, None).public)


def _look(site: SiteContext, server: ServerId, run: str | None, *, main_only: bool = False) -> ServerInRun:
    listed = find_listed_server(site, server)
    if run not in {None, listed.run} and run not in list_runs(site, server):
        raise HTTPException(404, NOT_IN_RUN)
    row = site.store.find_run(run or listed.run)
    rubric = main_rubric(listed.scores) if main_only and run in {None, listed.run} else None
    shown = next(read_public_servers(site.store, row.run.id, servers=[server], rubric=rubric), None) if row else None
    if row is None or shown is None or not (shown.dossier.records or shown.cards):
        raise HTTPException(404, NOT_IN_RUN if run else UNKNOWN)
    gone = None if shown.dossier.records else site.store.compaction.find_dropped_records(row.run.id)
    return ServerInRun(listed, row, lambda: shown, gone)


def find_listed_server(site: SiteContext, server: ServerId) -> ListedServer:
    """A server as lists show it; 404 for one that is unknown or not published, and one that opted out is told so."""
    listed = site.store.listing.find_server(server)
    if listed is None:
        known = site.store.find_server(server)
        raise HTTPException(404, OPTED_OUT if known is not None and site.is_hidden(known) else UNKNOWN)
    if site.is_hidden(listed.server):
        raise HTTPException(404, OPTED_OUT)
    return listed


def list_runs(site: SiteContext, server: ServerId) -> Sequence[str]:
    """The runs that may be told of a server: published nights and finished re-tests, the oldest first."""
    return list(dict.fromkeys(point.run for point in site.store.listing.read_history(server)))


def find_earlier_run(site: SiteContext, seen: ServerInRun) -> str | None:
    """The last run before the one shown that said something of the server; None when there is none."""
    return max((run for run in list_runs(site, seen.id) if run < seen.run.run.id), default=None)


def _links(server: ServerId) -> Mapping[str, Any]:
    """Where receipts of the server lead to."""
    return {
        "receipt_page": lambda card: f"/servers/{server}/receipts/{card.rubric}@{card.version}",
        "disputes_page": f"/servers/{server}/disputes",
    }
