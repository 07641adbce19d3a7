"""One server in one run, read once for its pages and for the answers of the API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property

from msgspec import Struct

from evidence.kinds import listing
from evidence.model import Absent, ServerId
from evidence.store import FindingRow, ListedScore, RunRow, Store
from evidence.store.listing.values import ListedServer
from evidence.store.retention.record_retention import DroppedRecords
from publish.views.listed_servers import listed_score
from publish.views.public_servers import PublicServer, ServerOutline, read_public_server
from publish.views.server_summary import make_row_from_receipts
from scoring import receipt
from scoring.engine import catalogue
from scoring.results.scorecard import Scorecard


class MethodologyTitles(Struct, frozen=True):
    """Titles of rubrics and rules by id; `main` is the id of the default rubric."""

    rubrics: Mapping[str, str]
    rules: Mapping[str, str]
    main: str


@cache
def methodology_titles() -> MethodologyTitles:
    rubrics = catalogue.list_rubrics()
    return MethodologyTitles(
        {rubric.id: rubric.title for rubric in rubrics},
        {rule.id: rule.title for rule in catalogue.list_rules()},
        next((rubric.id for rubric in rubrics if rubric.default), ""),
    )


def order_receipts(cards: Sequence[Scorecard], main: str) -> list[Scorecard]:
    """Receipts in display order: the newest version of each rubric, the main rubric first; then earlier versions."""
    latest = {card.rubric: card.version for card in sorted(cards, key=lambda card: card.version)}
    return sorted(cards, key=lambda it: (it.version < latest[it.rubric], it.rubric != main, it.rubric, -it.version))


def order_newest(server: PublicServer) -> list[Scorecard]:
    """The receipts under the newest version of each rubric, the main one first."""
    return order_receipts(list(server.newest_scorecards().values()), methodology_titles().main)


class ServerInRun(Struct, frozen=True, dict=True):
    """What is public of one server in one run; `dropped` is set if retention removed the run's records.

    `read` returns records and receipts; it is called at most once, and not at all by pages that show neither.
    `outline` is set if the main receipt was read alone.
    """

    listed: ListedServer
    run: RunRow
    read: Callable[[], PublicServer]
    dropped: DroppedRecords | None = None
    outline: ServerOutline | None = None

    @cached_property
    def public(self) -> PublicServer:
        return self.read()

    @cached_property
    def cards(self) -> Sequence[Scorecard]:
        """All receipts in display order."""
        return _decode([card.body for card in self.public.cards])

    @property
    def id(self) -> ServerId:
        return self.listed.server.id

    @property
    def newest(self) -> bool:
        """Whether this is the run that lists show."""
        return self.run.run.id == self.listed.run

    @cached_property
    def disclosed(self) -> Sequence[FindingRow]:
        """The disclosed findings; a server with an outline has none."""
        return () if self.outline else self.public.disclosed

    @cached_property
    def absent(self) -> Absent | None:
        """Why there is no listing; None if there is one, and if the run's records were dropped."""
        if self.outline is not None:
            return self.outline.absent
        content = self.public.dossier.read(listing.KIND)
        return content if isinstance(content, Absent) and self.public.dossier.records else None

    @cached_property
    def versions(self) -> Mapping[str, int]:
        """The newest version of each rubric that has a receipt."""
        return {card.rubric: card.version for card in sorted(self.public.cards, key=lambda card: card.version)}

    @cached_property
    def scores(self) -> Sequence[ListedScore]:
        """The result of each receipt; those of the newest run come from the listing index, without decoding."""
        if self.newest:
            return self.listed.scores
        return [listed_score(receipt.decode_stored_scorecard(card.body)) for card in self.public.cards]

    @cached_property
    def main(self) -> Scorecard | None:
        """The receipt under the newest version of the main rubric."""
        if self.outline is not None:
            return self.outline.main
        cards = [card for card in self.public.cards if card.rubric == find_main_rubric(self.scores)]
        newest = max(cards, key=lambda card: card.version, default=None)
        return None if newest is None else receipt.decode_stored_scorecard(newest.body)

    @cached_property
    def current(self) -> Sequence[Scorecard]:
        """The receipts under the newest version of each rubric, the main one first; no other receipt is decoded."""
        return _decode([card.body for card in self.public.cards if card.version == self.versions[card.rubric]])

    @property
    def state(self) -> str:
        """How much of the server was seen; empty if the run's records were dropped."""
        if self.newest:
            return self.listed.state
        return "" if self.dropped else make_row_from_receipts(self.listed.server, self.absent, self.current).state.value


def find_main_rubric(scores: Sequence[ListedScore]) -> str | None:
    """The rubric that is shown first: the default one, if the server has a score under it."""
    main = methodology_titles().main
    return min((one.rubric for one in scores), key=lambda rubric: (rubric != main, rubric), default=None)


def read_server_in_run(store: Store, listed: ListedServer, row: RunRow) -> ServerInRun | None:
    """What is public of a listed server in a run; None if the server was not in it."""
    public = read_public_server(store, row.run.id, listed.server.id)
    if public is None or not (public.dossier.records or public.cards):
        return None
    dropped = None if public.dossier.records else store.compaction.find_dropped_records(row.run.id)
    return ServerInRun(listed, row, lambda: public, dropped)


def list_public_runs(store: Store, server: ServerId) -> Sequence[str]:
    """Ids of the runs in a server's history, published ones and finished re-tests, the oldest first."""
    return list(dict.fromkeys(point.run for point in store.listing.read_history(server)))


def find_run_before(store: Store, server: ServerId, run: str) -> str | None:
    """The newest run in a server's history before another run; ids of runs sort by time."""
    return max((known for known in list_public_runs(store, server) if known < run), default=None)


def _decode(bodies: Sequence[bytes]) -> list[Scorecard]:
    return order_receipts([receipt.decode_stored_scorecard(body) for body in bodies], methodology_titles().main)
