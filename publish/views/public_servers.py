"""What is public of each server of a run: the read model that site, API, MCP server and datasets share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.kinds import listing
from evidence.model import Absent, Dossier, ServerId
from evidence.store import FindingRow, FindingState, Store, StoredScorecard
from evidence.store.listing.shown_server import ServerFlags, ShownServer
from publish.disclosure import (
    NOT_REVIEWED,
    PUBLIC_KINDS,
    PublicRecords,
    ReviewedFindings,
    disclose_dossier,
    find_suspect_places,
    has_private_line,
    may_name_private,
    redact_receipt,
    redact_receipt_body,
    remove_private_digests,
)
from publish.findings.identity import DECIDED_STATES, find_private_findings, match_reviews
from publish.formats.run_files import decode_receipts
from publish.private_answers import cite_public_digests
from scoring import receipt
from scoring.results.scorecard import Scorecard

BATCH_SIZE: Final = 50
SCORES_SHOWN: Final = 12
"""Newest runs whose scores a page of a server shows."""


class PublicServer(Struct, frozen=True, dict=True):
    """What is public of one server: its public records and receipts, and its disclosed findings.

    `suspect_places` are the paths of its texts with a finding or remark, disclosed or not; an empty path stands for
    unknown ones.
    """

    dossier: Dossier
    cards: Sequence[StoredScorecard]
    disclosed: tuple[FindingRow, ...] = ()
    suspect_places: frozenset[str] = frozenset()

    @cached_property
    def values(self) -> Sequence[dict[str, Any]]:
        """The receipts as JSON values."""
        return decode_receipts(self.cards)

    @cached_property
    def scorecards(self) -> Sequence[Scorecard]:
        """The decoded receipts, sorted by rubric and version."""
        return [receipt.decode_stored_scorecard(card.body) for card in self.cards]

    def newest_scorecards(self) -> Mapping[str, Scorecard]:
        """The receipt under the newest version of each rubric, by rubric."""
        return {card.rubric: card for card in self.scorecards}


class ServerToCount(Struct, frozen=True):
    """What rows of lists and counts need of one public server: no review of a finding changes them."""

    dossier: Dossier
    scorecards: Sequence[Scorecard]
    suspect_places: frozenset[str]


class ServerOutline(Struct, frozen=True):
    """The main public receipt of a server, the scores of its newest runs, why its listing is absent, and its flags.

    For pages that show no digests. Digests in the receipt may be missing, or those of records with private answers.
    """

    main: Scorecard
    newest_scores: tuple[Decimal | None, ...]
    absent: Absent | None
    flags: ServerFlags


def read_public_server(store: Store, run_id: str, server: ServerId) -> PublicServer | None:
    """What is public of one server in a run; None if nothing of it may be published."""
    return next(read_public_servers(store, run_id, servers=[server]), None)


def read_public_servers(
    store: Store,
    run_id: str,
    *,
    until: datetime | None = None,
    servers: Sequence[ServerId] | None = None,
) -> Iterator[PublicServer]:
    """What is public of each server of a run, or of the given servers, sorted by server id and read in batches.

    A given server that was not in the run has no records and no receipts.

    With `until`, reviews of findings after that time are ignored, so that the run's files stay equal to those in its
    manifest. A finding that was made private again is never shown, even as of a time when it was public.
    """
    for batch in split_batches(store.list_planned_servers(run_id) if servers is None else servers):
        yield from read_batch(store, run_id, batch, until)


def read_batch(store: Store, run_id: str, batch: Sequence[ServerId], until: datetime | None) -> Iterator[PublicServer]:
    decided = _decided(store, batch, until)
    cards = _read_cards(store, run_id, batch)
    for dossier in sorted(store.read_dossiers(run_id, batch), key=lambda item: item.server.id):
        shown = disclose_dossier(dossier)
        if isinstance(shown, PublicRecords):
            server = dossier.server.id
            yield _public(dossier, shown, cards.get(server, []), decided.get(server, []))


def read_servers_to_count(store: Store, run_id: str, servers: Sequence[ServerId]) -> Iterator[ServerToCount]:
    """The public servers among these, sorted by id: `read_public_servers` without the bytes of public receipts."""
    for batch in split_batches(servers):
        cards = _read_cards(store, run_id, batch)
        for dossier in sorted(store.read_dossiers(run_id, batch), key=lambda item: item.server.id):
            shown = disclose_dossier(dossier)
            if isinstance(shown, PublicRecords):
                yield _to_count(dossier, shown, cards.get(dossier.server.id, ()))


def _to_count(dossier: Dossier, shown: PublicRecords, stored: Sequence[StoredScorecard]) -> ServerToCount:
    observed = {kind: dossier.records[kind].digest for kind in shown.records}
    public = {kind: record.digest for kind, record in shown.records.items()}
    cards: list[Scorecard] = []
    suspect: set[str] = set()
    for one in stored:
        card = receipt.decode_stored_scorecard(one.body)
        if has_private_line(card):
            suspect.update(find_suspect_places(card))
            card = redact_receipt(card)
        cited = {kind: digest for kind, digest in card.evidence.items() if kind in PUBLIC_KINDS}
        cards.append(replace(card, evidence=public if cited == observed else cited))
    return ServerToCount(dossier.with_records(shown.records), cards, frozenset(suspect))


def _read_cards(store: Store, run_id: str, batch: Sequence[ServerId]) -> dict[ServerId, list[StoredScorecard]]:
    """The receipts of some servers, sorted by rubric and version."""
    cards: dict[ServerId, list[StoredScorecard]] = {}
    for card in store.read_scorecards(run_id, servers=batch):
        cards.setdefault(card.server, []).append(card)
    return cards


def _public(
    dossier: Dossier, shown: PublicRecords, cards: Sequence[StoredScorecard], rows: Sequence[FindingRow]
) -> PublicServer:
    ordered = sorted(cards, key=lambda card: (card.rubric, card.version))
    reviewed = NOT_REVIEWED
    decoded = [receipt.decode_stored_scorecard(card.body) if may_name_private(card.body) else None for card in ordered]
    receipts = [card for card in decoded if card is not None]
    if rows:
        reviewed = match_reviews(dossier, receipts, rows)
        here = {one.id for one in find_private_findings(dossier, receipts)}
        rows = [row for row in rows if row.finding.id in here and row.state is FindingState.PUBLIC_DISCLOSED]
    changed = [(dossier.records[kind], record) for kind, record in shown.records.items()]
    public = [
        replace(card, body=cite_public_digests(_public_body(card.body, reviewed, whole), changed))
        for card, whole in zip(ordered, decoded, strict=True)
    ]
    suspect = frozenset(place for card in receipts for place in find_suspect_places(card))
    return PublicServer(dossier.with_records(shown.records), public, tuple(rows), suspect)


def _public_body(body: bytes, reviewed: ReviewedFindings, decoded: Scorecard | None) -> bytes:
    """The public form of an encoded receipt, which was decoded if it may name something private."""
    return remove_private_digests(body) if decoded is None else redact_receipt_body(body, reviewed, decoded)


def _decided(store: Store, servers: Sequence[ServerId], until: datetime | None) -> Mapping[ServerId, list[FindingRow]]:
    """The findings of these servers that were reviewed before `until`."""
    found: dict[ServerId, list[FindingRow]] = {}
    for row in store.read_findings(servers=servers, states=DECIDED_STATES):
        if until is None or row.since <= until:
            found.setdefault(row.finding.server, []).append(row)
    return found


def read_server_outline(store: Store, shown: ShownServer, rubric: str | None) -> ServerOutline | None:
    """The outline of a server in the run that lists show; its records are not read.

    None without a main receipt in one of the newest runs or without the listed reason, if the run's records were
    dropped, and if a finding of the server was reviewed: matching reviews needs its records and all receipts. Whether a
    server may be shown at all was decided when the listing index of the run was written.
    """
    listed, flags = shown.listed, shown.flags
    server = listed.server.id
    if flags.dropped or flags.reviewed:
        return None
    newest = store.listing.find_newest_scorecard(listed.run, server, rubric, SCORES_SHOWN) if rubric else None
    absent = store.find_absence(listed.run, server, listing.KIND) if listed.reason is not None else None
    if newest is None or (absent is None) != (listed.reason is None):
        return None
    main = redact_receipt(receipt.decode_stored_scorecard(newest.card.body))
    return ServerOutline(main, newest.scores, absent, flags)


def split_batches(servers: Sequence[ServerId]) -> Iterator[Sequence[ServerId]]:
    ordered = sorted(servers)
    for start in range(0, len(ordered), BATCH_SIZE):
        yield ordered[start : start + BATCH_SIZE]
