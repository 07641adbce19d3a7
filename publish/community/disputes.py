"""Files disputes of single lines, and decides them.

outcome = file_dispute(store, limits, now, DisputeText(server="...", rubric="lint", cites="LLM-001", ...), filer)
match outcome:
    case FiledDispute(dispute=dispute, again=again): ...
    case DisputeRefused(why=why, message=message): ...
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.canonical import Json
from evidence.model import ServerId
from evidence.store import Store
from evidence.store.community.dispute_values import Dispute, DisputeDecision, DisputeLimit, DisputeLimits, DisputeState
from evidence.store.decisions.audit_trail import AuditEntry
from publish.community.disputable_lines import find_disputable_line
from publish.community.limits import DAY, MAX_ANSWER, MAX_CONTACT, MAX_REASON, MIN_REASON, CommunityLimits


class DisputeRefusal(StrEnum):
    """Why a dispute was refused."""

    UNKNOWN_LINE = "unknown_line"
    UNFIT_REASON = "unfit_reason"
    UNFIT_CONTACT = "unfit_contact"
    TOO_MANY = "too_many"


class DisputeText(Struct, frozen=True, kw_only=True):
    """The text of a dispute: which line, and why it is wrong. `contact` is for the operator only."""

    server: ServerId
    rubric: str
    cites: str
    at: str
    reason: str
    contact: str = ""


class DisputeFiler(Struct, frozen=True, kw_only=True):
    """The filer as an irreversible digest; `owns`: control of the server is proven."""

    client: str
    owns: bool = False


class FiledDispute(Struct, frozen=True, kw_only=True):
    """The dispute; `again` if this client disputed the line before, in which case the earlier text stays."""

    dispute: Dispute
    again: bool


class DisputeRefused(Struct, frozen=True, kw_only=True):
    """The dispute was refused; the message says what was expected and what to do."""

    why: DisputeRefusal
    message: str


class DisputeDecider(Struct, frozen=True):
    """The deciding operator: login or token name, and the id of the token, if any."""

    who: str
    token: str | None = None


class Verdict(StrEnum):
    """What an operator decides about a dispute.

    `accept`: the line is wrong, a false alarm to be corrected in its rule. `reject`: the line is right, as the answer
    explains. `reopen`: the decision and its answer are withdrawn. `show` and `hide`: whether the reason is public
    before the decision. `drop`: the entry is no dispute, and is not published.
    """

    ACCEPT = "accept"
    REJECT = "reject"
    REOPEN = "reopen"
    SHOW = "show"
    HIDE = "hide"
    DROP = "drop"


class IncompleteVerdict(ValueError):
    """The verdict is incomplete; the message says what is missing."""


_FULL: Final[Mapping[DisputeLimit, str]] = {
    DisputeLimit.CLIENT: "you have reached the maximum of disputes in 24 hours: try again later",
    DisputeLimit.SERVER: "the maximum of open disputes of this server is reached: wait until some are decided",
    DisputeLimit.LINE: "this line is disputed already, and an operator will review the dispute",
}


def file_dispute(
    store: Store, limits: CommunityLimits, now: datetime, words: DisputeText, who: DisputeFiler
) -> FiledDispute | DisputeRefused:
    """Dispute one public line. A client has at most one open dispute of a line; the first one stays."""
    reason, contact = words.reason.strip(), words.contact.strip()
    if not MIN_REASON <= len(reason) <= MAX_REASON:
        expected = f"expected a reason of {MIN_REASON} to {MAX_REASON} characters, found {len(reason)}"
        return DisputeRefused(
            why=DisputeRefusal.UNFIT_REASON, message=f"{expected}: say what is wrong about the line, and why"
        )
    if len(contact) > MAX_CONTACT:
        expected = f"expected a contact of at most {MAX_CONTACT} characters, found {len(contact)}"
        return DisputeRefused(why=DisputeRefusal.UNFIT_CONTACT, message=expected)
    line = find_disputable_line(store, words.server, rubric=words.rubric, cites=words.cites, at=words.at)
    if line is None:
        message = "no line of the newest receipts cites this at this place: dispute a line that the server's page shows"
        return DisputeRefused(why=DisputeRefusal.UNKNOWN_LINE, message=message)
    new = Dispute(
        id=f"dsp_{secrets.token_hex(8)}",
        line=line,
        reason=reason,
        contact=contact or None,
        client=who.client,
        by_maintainer=who.owns,
        filed_at=now,
    )
    bounds = DisputeLimits(limits.disputes_of_client, now - DAY, limits.disputes_of_server, limits.disputes_of_line)
    found = store.disputes.put_dispute(new, bounds)
    if isinstance(found, DisputeLimit):
        return DisputeRefused(why=DisputeRefusal.TOO_MANY, message=_FULL[found])
    return FiledDispute(dispute=found, again=found.id != new.id)


def decide_dispute(
    store: Store,
    known: Dispute,
    verdict: Verdict,
    by: DisputeDecider,
    *,
    at: datetime,
    answer: str = "",
    note: str = "",
) -> Dispute:
    """Apply a verdict and record it in the audit trail; return the changed dispute. `answer` is public, `note` is not.

    Raise IncompleteVerdict if something is missing, IllegalTransition if the dispute's state forbids the verdict.
    """
    if max(len(answer), len(note)) > MAX_ANSWER:
        raise IncompleteVerdict(f"expected an answer and a note of at most {MAX_ANSWER} characters each")
    public_answer = answer.strip()
    match verdict:
        case Verdict.ACCEPT:
            changed = replace(known, state=DisputeState.ACCEPTED, is_shown=True, answer=public_answer)
        case Verdict.REJECT if not public_answer:
            raise IncompleteVerdict(
                "expected an answer that states why the line is right: the author of the dispute reads it"
            )
        case Verdict.REJECT:
            changed = replace(known, state=DisputeState.REJECTED, is_shown=True, answer=public_answer)
        case Verdict.DROP:
            changed = replace(known, state=DisputeState.DROPPED, is_shown=False, answer="")
        case Verdict.REOPEN if known.state is DisputeState.OPEN:
            raise IncompleteVerdict("it is open already")
        case Verdict.REOPEN:
            changed = replace(known, state=DisputeState.OPEN, answer="")
        case Verdict.SHOW | Verdict.HIDE:
            changed = replace(known, is_shown=verdict is Verdict.SHOW)
    decision = DisputeDecision(
        at=at,
        who=by.who,
        before=known.state,
        after=changed.state,
        note=note,
        answer=changed.answer,
        shown=changed.is_shown,
    )
    act = AuditEntry(
        at=at,
        who=by.who,
        token=by.token,
        what=f"dispute.{verdict.value}",
        subject=known.id,
        before=_outline(known),
        after=_outline(changed),
        note=note,
    )
    return store.disputes.decide_dispute(known.id, decision, act)


def _outline(known: Dispute) -> dict[str, Json]:
    return {"state": known.state.value, "shown": known.is_shown, "answer": known.answer or None}
