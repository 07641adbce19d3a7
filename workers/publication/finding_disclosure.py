"""Findings of our own scans: noted when receipts are made, and which change of their disclosure may follow."""

from __future__ import annotations

import os
import pwd
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from evidence.model import ServerId
from evidence.store import Disclosure, FindingRow, FindingState, Store, StoredScorecard
from publish.disclosure import may_name_private
from publish.findings.identity import find_private_findings
from scoring import receipt
from scoring.results.scorecard import Scorecard

_ROOT: Final = 0


class DisclosureNotAllowed(Exception):
    """The change asked for would break the policy; the message says what is expected first."""


def record_findings(store: Store, run_id: str, cards: Sequence[StoredScorecard]) -> int:
    """Store the findings behind the receipts of a batch, new ones in private triage; how many are new.

    To be called before the receipts are stored: what a crash interrupts is done again. Only receipts that name
    something private are decoded, and only dossiers of their servers are read.
    """
    private: dict[ServerId, list[Scorecard]] = {}
    for card in cards:
        if may_name_private(card.body):
            private.setdefault(card.server, []).append(receipt.decode_scorecard(card.body))
    if not private:
        return 0
    dossiers = store.read_dossiers(run_id, sorted(private))
    found = [one for dossier in dossiers for one in find_private_findings(dossier, private[dossier.server.id])]
    return store.put_findings(found, dossiers[0].as_of) if found else 0


def triage_finding(row: FindingRow, *, at: datetime, who: str, note: str) -> Disclosure:
    """Note who looks at a finding, or what was found out; it stays in triage."""
    if row.state is not FindingState.PRIVATE_TRIAGE:
        raise DisclosureNotAllowed(
            f"{row.finding.id} is {row.state}, private_triage expected; `reopen` takes it back there"
        )
    return _change(row, FindingState.PRIVATE_TRIAGE, at=at, who=who, note=note)


def disclose_finding(row: FindingRow, *, at: datetime, who: str, note: str, recipient: str) -> Disclosure:
    """Record that its vendor was told, whom and when; the embargo begins with the first time."""
    if row.state not in {FindingState.PRIVATE_TRIAGE, FindingState.PRIVATE_DISCLOSED}:
        raise DisclosureNotAllowed(
            f"{row.finding.id} is {row.state}, private_triage expected; `reopen` takes it back there"
        )
    if not recipient.strip():
        raise DisclosureNotAllowed("expected --to with whom the vendor was told, such as an address or a form")
    return _change(row, FindingState.PRIVATE_DISCLOSED, at=at, who=who, note=note, recipient=recipient)


def publish_finding(row: FindingRow, *, at: datetime, who: str, note: str, reason: str = "") -> Disclosure:
    """Let everybody read a finding from now on; a reason is needed where its vendor was not told before."""
    if row.state is FindingState.PRIVATE_TRIAGE and not reason.strip():
        raise DisclosureNotAllowed(
            f"the vendor of {row.finding.id} was not notified yet: `hallmark findings disclose` it first, or say with "
            "--reason why that cannot be or is not needed"
        )
    if row.state not in {FindingState.PRIVATE_TRIAGE, FindingState.PRIVATE_DISCLOSED}:
        raise DisclosureNotAllowed(f"{row.finding.id} is {row.state}, private_disclosed expected")
    told = ". ".join(part for part in (reason.strip(), note.strip()) if part)
    return _change(row, FindingState.PUBLIC_DISCLOSED, at=at, who=who, note=told)


def dismiss_finding(row: FindingRow, *, at: datetime, who: str, note: str) -> Disclosure:
    """Set a finding aside: a false alarm, or accepted. It still counts, and its note says why it was set aside."""
    if row.state not in {FindingState.PRIVATE_TRIAGE, FindingState.PRIVATE_DISCLOSED}:
        raise DisclosureNotAllowed(f"{row.finding.id} is {row.state}, private_triage or private_disclosed expected")
    if not note.strip():
        raise DisclosureNotAllowed(
            "expected --note with why it is set aside: a false alarm, and what fooled the rule, or accepted"
        )
    return _change(row, FindingState.DISMISSED, at=at, who=who, note=note)


def reopen_finding(row: FindingRow, *, at: datetime, who: str, note: str) -> Disclosure:
    """Take a finding back into triage; one that was public is no longer shown."""
    if row.state is FindingState.PRIVATE_TRIAGE:
        raise DisclosureNotAllowed(f"{row.finding.id} is in triage already")
    return _change(row, FindingState.PRIVATE_TRIAGE, at=at, who=who, note=note)


def embargo_deadline(row: FindingRow, embargo: timedelta) -> datetime | None:
    """When the embargo ends of a finding that waits for its vendor; None before notification, and once decided."""
    if row.state is not FindingState.PRIVATE_DISCLOSED or row.told_at is None:
        return None
    return row.told_at + embargo


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
