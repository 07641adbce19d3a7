"""Export of one run as a dataset: JSON Lines with everything that may be shown, or a flat CSV of the scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

from evidence.model import Dossier, Run, ServerId
from evidence.store import FindingRow, FindingState, RunRow, Store, StoredCard, UnknownRun
from publish.disclosure import NOBODY_LOOKED, Shown, disclose, names_private, public_body
from publish.findings import DECIDED, reviewed, spotted
from publish.forms import Form, Format, about, values_of, written
from publish.left_out import cite
from scoring import receipt

BATCH = 50
_TIMES = ("as_of",)

Keep: TypeAlias = Callable[[Sequence[StoredCard]], Sequence[StoredCard]]
Tell: TypeAlias = Callable[[Sequence["Published"]], bytes]


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of a batch of servers, one part for each form, and what was to be told of them besides."""

    servers: int
    parts: Sequence[bytes]
    told: bytes = b""


@dataclass(frozen=True, slots=True)
class Share:
    """Every so manieth batch of a run, from a first one on: what one of several processes prints."""

    number: int = 0
    of: int = 1


WHOLE: Final = Share()


def _all_of_them(cards: Sequence[StoredCard]) -> Sequence[StoredCard]:
    return cards


def _nothing(_servers: Sequence[Published]) -> bytes:
    return b""


def export(
    store: Store,
    run_id: str,
    out: Path | IO[bytes],
    *,
    format: Format,  # noqa: A002
    comparable: bool = False,
    keep: Keep = _all_of_them,
) -> int:
    """Write one run to `out`, sorted by server id, and return the number of servers written.

    Of each server's receipts those are written that `keep` gives back.

    The same store gives the same bytes. The comparable form leaves out the run's id, clock times and durations, so two
    runs that saw and concluded the same are equal byte for byte. Servers are read in batches: memory does not grow
    with the run. A file appears under its name only when it is complete.
    """
    form = Form(format, comparable)
    pages = printed(store, run_id, [form], keep=keep)
    with appearing(out) as sink:
        return write(pages, {form: sink})


def printed(
    store: Store,
    run_id: str,
    forms: Sequence[Form],
    *,
    keep: Keep = _all_of_them,
    share: Share = WHOLE,
    tell: Tell = _nothing,
) -> Iterator[Page]:
    """A run in several forms at once, batch by batch; raise UnknownRun when it is asked for and not stored.

    `tell` says in a few bytes what else is to be known of the servers of a batch.
    """
    stored = store.run(run_id)
    if stored is None:
        raise UnknownRun(f"expected the id of a stored run, found {run_id!r}; `hallmark runs` lists them")
    return _pages(store, stored, forms, keep, share=share, tell=tell)


def write(pages: Iterable[Page], sinks: Mapping[Form, IO[bytes]]) -> int:
    """Write pages, which are in the order of the sinks, below the openings of their forms; how many servers."""
    for form, sink in sinks.items():
        sink.write(form.opening)
    count = 0
    for page in pages:
        count += page.servers
        for part, sink in zip(page.parts, sinks.values(), strict=True):
            sink.write(part)
    return count


def _pages(
    store: Store, stored: RunRow, forms: Sequence[Form], keep: Keep, *, share: Share, tell: Tell
) -> Iterator[Page]:
    for batch in islice(_batches(store.planned(stored.run.id)), share.number, None, share.of):
        servers = list(_published(store, stored.run.id, batch, stored.published_at))
        lines = [_lines(stored.run, server, keep(server.cards), forms) for server in servers]
        parts = [b"".join(parts) for parts in zip(*lines, strict=True)] or [b""] * len(forms)
        yield Page(len(lines), parts, tell(servers))


def _lines(run: Run, server: Published, cards: Sequence[StoredCard], forms: Sequence[Form]) -> list[bytes]:
    return written(run, server.dossier, cards, forms, server.values if cards is server.cards else None)


@dataclass(frozen=True)
class Published:
    """What anybody may see of one server: its public records and receipts, and the findings that were disclosed."""

    dossier: Dossier
    cards: Sequence[StoredCard]
    disclosed: tuple[FindingRow, ...] = ()

    @cached_property
    def values(self) -> Sequence[dict[str, Any]]:
        """The receipts as JSON values, read once for all who print them."""
        return values_of(self.cards)


def published(
    store: Store,
    run_id: str,
    *,
    until: datetime | None = None,
    servers: Sequence[ServerId] | None = None,
    rubric: str | None = None,
) -> Iterator[Published]:
    """What may be shown of each server of a run, or of some, and of its receipts, by server id, read in batches.

    A server that is asked for and was not in the run comes without records and receipts. With `rubric` the receipts of
    other methodologies are left out, unless a finding of the server was decided: then all of them are needed.

    With `until`, decisions about findings that were made later count as not made: a run's files stay those that its
    manifest names. A finding that was made private again is never shown, also not as of a moment when it was public.
    """
    for batch in _batches(store.planned(run_id) if servers is None else servers):
        yield from _published(store, run_id, batch, until, rubric)


def _published(
    store: Store, run_id: str, batch: Sequence[ServerId], until: datetime | None, rubric: str | None = None
) -> Iterator[Published]:
    decided = _decided(store, batch, until)
    cards: dict[ServerId, list[StoredCard]] = {}
    for card in store.scorecards(run_id, servers=batch, rubric=None if decided else rubric):
        cards.setdefault(card.server, []).append(card)
    for dossier in sorted(store.dossiers(run_id, batch), key=lambda item: item.server.id):
        shown = disclose(dossier)
        if isinstance(shown, Shown):
            server = dossier.server.id
            yield _public(dossier, shown, cards.get(server, []), decided.get(server, []))


def _public(dossier: Dossier, shown: Shown, cards: Sequence[StoredCard], rows: Sequence[FindingRow]) -> Published:
    ordered = sorted(cards, key=lambda card: (card.rubric, card.version))
    told = NOBODY_LOOKED
    if rows:
        receipts = [receipt.decode(card.body) for card in ordered if names_private(card.body)]
        told = reviewed(dossier, receipts, rows)
        here = {one.id for one in spotted(dossier, receipts)}
        rows = [row for row in rows if row.finding.id in here and row.state is FindingState.PUBLIC_DISCLOSED]
    changed = [(dossier.records[kind], record) for kind, record in shown.records.items()]
    public = [replace(card, body=cite(public_body(card.body, told), changed)) for card in ordered]
    return Published(replace(dossier, records=shown.records), public, tuple(rows))


def _decided(store: Store, servers: Sequence[ServerId], until: datetime | None) -> Mapping[ServerId, list[FindingRow]]:
    """The findings of these servers about which somebody decided, by then."""
    found: dict[ServerId, list[FindingRow]] = {}
    for row in store.findings(servers=servers, states=DECIDED):
        if until is None or row.since <= until:
            found.setdefault(row.finding.server, []).append(row)
    return found


def scorecard_body(card: StoredCard, *, comparable: bool = False) -> dict[str, Any]:
    """A stored receipt as JSON values; the comparable form lacks its clock times."""
    body: dict[str, Any] = json.loads(card.body)
    return {name: value for name, value in body.items() if not (comparable and name in _TIMES)}


def _batches(servers: Sequence[ServerId]) -> Iterator[Sequence[ServerId]]:
    ordered = sorted(servers)
    for start in range(0, len(ordered), BATCH):
        yield ordered[start : start + BATCH]


def describe(dossier: Dossier, cards: Sequence[StoredCard], *, comparable: bool = False) -> dict[str, Any]:
    """One server as JSON values: who it is, its records, its receipts. No gate: callers decide who sees it."""
    return {
        **about(dossier, comparable=comparable),
        "scorecards": [scorecard_body(card, comparable=comparable) for card in cards],
    }


@contextmanager
def appearing(out: Path | IO[bytes]) -> Iterator[IO[bytes]]:
    """A file to write to, which has its name only when it is complete; what is open already stays as it is."""
    if not isinstance(out, Path):
        yield out
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f".{out.name}.partial")
    try:
        with partial.open("wb") as file:
            yield file
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
