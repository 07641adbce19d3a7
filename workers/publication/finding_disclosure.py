"""Findings of our own scans: recorded when a run is scored, and the allowed changes of their disclosure state."""

from __future__ import annotations

import os
import pwd
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from evidence.model import Dossier, ServerId
from evidence.store import (
    NOTHING_KEPT,
    Disclosure,
    FindingRow,
    FindingState,
    KeptReceipts,
    LeaseTokens,
    Store,
    StoredScorecard,
)
from publish.disclosure import may_name_private
from publish.findings.identity import decode_private_lines, identify_findings
from scoring.results.scorecard import Line

_ROOT: Final = 0


class DisclosureNotAllowed(Exception):
    """The policy does not allow the change; the message says what is expected first."""


def record_findings(
    store: Store,
    run_id: str,
    cards: Sequence[StoredScorecard],
    tokens: LeaseTokens | None = None,
    *,
    dossiers: Sequence[Dossier] = (),
    kept: Mapping[ServerId, KeptReceipts] = NOTHING_KEPT,
    same_findings: Collection[ServerId] = (),
) -> int:
    """Store the private findings behind the receipts of a batch, new ones in private triage; return how many are new.

    Call it before the receipts are stored, so that it is repeated after a crash. Servers have `kept` receipts of
    earlier runs besides; those of `same_findings` have the findings of that run, so that no receipt of them is read. Of
    the others, only receipts that may name something private are decoded, and only `dossiers` that the caller does not
    have are read. Findings of servers whose lease for scoring (`tokens`) was lost are not stored.
    """
    earlier = {server: kept[server].run for server in same_findings}
    unknown = store.confirm_findings(run_id, earlier, tokens=tokens) if earlier else frozenset()
    confirmed = earlier.keys() - unknown
    read = _read_kept(store, {server: kept[server] for server in kept.keys() - confirmed})
    private: dict[ServerId, list[Line]] = {}
    for card in (*(card for card in cards if card.server not in confirmed), *read):
        if may_name_private(card.body):
            private.setdefault(card.server, []).extend(decode_private_lines(card.body))
    known = [dossier for dossier in dossiers if dossier.server.id in private]
    missing = private.keys() - {dossier.server.id for dossier in known}
    known += store.read_dossiers(run_id, sorted(missing)) if missing else ()
    known.sort(key=lambda dossier: dossier.server.id)
    found = [one for dossier in known for one in identify_findings(dossier, private[dossier.server.id])]
    return store.put_findings(found, known[0].as_of, run_id=run_id, tokens=tokens) if found else 0


def _read_kept(store: Store, kept: Mapping[ServerId, KeptReceipts]) -> Iterator[StoredScorecard]:
    for run in sorted({receipts.run for receipts in kept.values()}):
        servers = sorted(server for server, receipts in kept.items() if receipts.run == run)
        for card in store.read_scorecards(run, servers=servers):
            if (card.rubric, card.version) in kept[card.server].versions:
                yield card


def triage_finding(row: FindingRow, *, at: datetime, who: str, note: str) -> Disclosure:
    """Add a note about who examines a finding, or with which result; the finding stays in triage."""
    if row.state is not FindingState.PRIVATE_TRIAGE:
        raise DisclosureNotAllowed(
            f"{row.finding.id} is {row.state}, private_triage expected; `reopen` takes it back there"
        )
    return _change(row, FindingState.PRIVATE_TRIAGE, at=at, who=who, note=note)


def disclose_finding(row: FindingRow, *, at: datetime, who: str, note: str, recipient: str) -> Disclosure:
    """Record that the vendor was notified; the embargo starts with the first notification."""
    if row.state not in {FindingState.PRIVATE_TRIAGE, FindingState.PRIVATE_DISCLOSED}:
        raise DisclosureNotAllowed(
            f"{row.finding.id} is {row.state}, private_triage expected; `reopen` takes it back there"
        )
    if not recipient.strip():
        raise DisclosureNotAllowed("expected --to with the recipient, such as an address or a form")
    return _change(row, FindingState.PRIVATE_DISCLOSED, at=at, who=who, note=note, recipient=recipient)


def publish_finding(row: FindingRow, *, at: datetime, who: str, note: str, reason: str = "") -> Disclosure:
    """Publish a finding; a reason is required when its vendor was not notified before."""
    if row.state is FindingState.PRIVATE_TRIAGE and not reason.strip():
        raise DisclosureNotAllowed(
            f"the vendor of {row.finding.id} was not notified yet: `hallmark findings disclose` it first, or say with "
            "--reason why that cannot be or is not needed"
        )
    if row.state not in {FindingState.PRIVATE_TRIAGE, FindingState.PRIVATE_DISCLOSED}:
        raise DisclosureNotAllowed(f"{row.finding.id} is {row.state}, private_disclosed expected")
    reason_and_note = ". ".join(part for part in (reason.strip(), note.strip()) if part)
    return _change(row, FindingState.PUBLIC_DISCLOSED, at=at, who=who, note=reason_and_note)


def dismiss_finding(row: FindingRow, *, at: datetime, who: str, note: str) -> Disclosure:
    """Dismiss a finding as a false alarm or as accepted. It still counts in scores; its note gives the reason."""
    if row.state not in {FindingState.PRIVATE_TRIAGE, FindingState.PRIVATE_DISCLOSED}:
        raise DisclosureNotAllowed(f"{row.finding.id} is {row.state}, private_triage or private_disclosed expected")
    if not note.strip():
        raise DisclosureNotAllowed(
            "expected --note with the reason: a false alarm, and what misled the rule, or an accepted finding"
        )
    return _change(row, FindingState.DISMISSED, at=at, who=who, note=note)


def reopen_finding(row: FindingRow, *, at: datetime, who: str, note: str) -> Disclosure:
    """Move a finding back to triage; a public one is no longer shown."""
    if row.state is FindingState.PRIVATE_TRIAGE:
        raise DisclosureNotAllowed(f"{row.finding.id} is in triage already")
    return _change(row, FindingState.PRIVATE_TRIAGE, at=at, who=who, note=note)


def embargo_deadline(row: FindingRow, embargo: timedelta) -> datetime | None:
    """When the embargo of a finding ends; None before the vendor is notified and after publication or dismissal."""
    if row.state is not FindingState.PRIVATE_DISCLOSED or row.vendor_informed_at is None:
        return None
    return row.vendor_informed_at + embargo


def read_login_name() -> str:
    """The login name of this process; empty for root or an account without a name."""
    user = os.getuid()
    if user == _ROOT:
        return ""
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return ""


def _change(
    row: FindingRow, after: FindingState, *, at: datetime, who: str, note: str, recipient: str | None = None
) -> Disclosure:
    return Disclosure(at=at, who=who, before=row.state, after=after, note=note, recipient=recipient)
