"""Filing a dispute of one line, and deciding about it.

asked = dispute(store, limits, now, Words(server="...", rubric="lint", cites="LLM-001", at="tools/search", ...), who)
match asked:
    case Filed(dispute=dispute, again=again): ...
    case NotFiled(why=why, message=message): ...
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from evidence.canonical import Json
from evidence.model import ServerId
from evidence.store import Store
from evidence.store.audit import Act
from evidence.store.dispute_rows import Decision, Dispute, DisputeLimits, DisputesFull, DisputeState
from publish.people.limits import (
    DAY,
    LONGEST_ANSWER,
    LONGEST_CONTACT,
    LONGEST_REASON,
    SHORTEST_REASON,
    PeopleLimits,
)
from publish.people.lines import disputable


class WhyNotFiled(StrEnum):
    """Why there is no dispute."""

    UNKNOWN_LINE = "unknown_line"
    UNFIT_REASON = "unfit_reason"
    UNFIT_CONTACT = "unfit_contact"
    TOO_MANY = "too_many"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What somebody says: which line, and why it is wrong. `contact` is for the operator only."""

    server: ServerId
    rubric: str
    cites: str
    at: str
    reason: str
    contact: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filer:
    """Who says it, as a digest that leads back to nobody; `owns`: control of the server is proven."""

    client: str
    owns: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """The dispute; `again` when the same client disputes this line already, whose words stay what they were."""

    dispute: Dispute
    again: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFiled:
    """Nothing was stored; the message says what was expected, and what to do."""

    why: WhyNotFiled
    message: str


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides: a login or the name of a token, and the id of the token if there is one."""

    who: str
    token: str | None = None


class NotDecided(ValueError):
    """The decision lacks something; the message says what."""


_FULL: Final[Mapping[DisputesFull, str]] = {
    DisputesFull.CLIENT: "you have disputed as many lines as one client may in 24 hours: try again later",
    DisputesFull.SERVER: "as many lines of this server are disputed as may be at a time: wait until some are decided",
    DisputesFull.LINE: "this line is disputed already, and nothing more is needed for somebody to look at it",
}


def dispute(store: Store, limits: PeopleLimits, now: datetime, words: Words, who: Filer) -> Filed | NotFiled:
    """Dispute one line that everybody can read. A client has one open dispute of a line: the first one counts."""
    reason, contact = words.reason.strip(), words.contact.strip()
    if not SHORTEST_REASON <= len(reason) <= LONGEST_REASON:
        expected = f"expected a reason of {SHORTEST_REASON} to {LONGEST_REASON} characters, found {len(reason)}"
        return NotFiled(why=WhyNotFiled.UNFIT_REASON, message=f"{expected}: say what is wrong about the line, and why")
    if len(contact) > LONGEST_CONTACT:
        expected = f"expected a contact of at most {LONGEST_CONTACT} characters, found {len(contact)}"
        return NotFiled(why=WhyNotFiled.UNFIT_CONTACT, message=expected)
    line = disputable(store, words.server, rubric=words.rubric, cites=words.cites, at=words.at)
    if line is None:
        message = "no line of the newest receipts cites this at this place: dispute a line that the server's page shows"
        return NotFiled(why=WhyNotFiled.UNKNOWN_LINE, message=message)
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
    found = store.disputes.file(new, bounds)
    if isinstance(found, DisputesFull):
        return NotFiled(why=WhyNotFiled.TOO_MANY, message=_FULL[found])
    return Filed(dispute=found, again=found.id != new.id)


def accept(store: Store, known: Dispute, by: Decider, *, at: datetime, answer: str, note: str = "") -> Dispute:
    """The line is wrong: a false alarm, to be mended in its rule. Everybody reads the reason and the answer."""
    return _move(store, known, by, DisputeState.ACCEPTED, at=at, answer=answer, note=note, shown=True)


def reject(store: Store, known: Dispute, by: Decider, *, at: datetime, answer: str, note: str = "") -> Dispute:
    """The line is right; raise NotDecided without an answer that says why. Everybody reads both."""
    if not answer.strip():
        raise NotDecided("expected an answer that says why the line is right: whoever disputed it reads it")
    return _move(store, known, by, DisputeState.REJECTED, at=at, answer=answer, note=note, shown=True)


def drop(store: Store, known: Dispute, by: Decider, *, at: datetime, note: str = "") -> Dispute:
    """It is no dispute but something else, such as advertising: nobody reads it, nor that it was there."""
    return _move(store, known, by, DisputeState.DROPPED, at=at, answer="", note=note, shown=False)


def reopen(store: Store, known: Dispute, by: Decider, *, at: datetime, note: str = "") -> Dispute:
    """Take a decision back; the answer goes with it, the trail keeps that there was one."""
    return _move(store, known, by, DisputeState.OPEN, at=at, answer="", note=note, shown=known.is_shown)


def show(store: Store, known: Dispute, by: Decider, *, at: datetime, shown: bool = True, note: str = "") -> Dispute:
    """Let everybody read the reason, or nobody any more, before anything is decided."""
    return _move(store, known, by, known.state, at=at, answer=None, note=note, shown=shown)


_ACTS: Final[Mapping[DisputeState, str]] = {
    DisputeState.ACCEPTED: "dispute.accept",
    DisputeState.REJECTED: "dispute.reject",
    DisputeState.DROPPED: "dispute.drop",
    DisputeState.OPEN: "dispute.reopen",
}


def _move(
    store: Store,
    known: Dispute,
    by: Decider,
    after: DisputeState,
    *,
    at: datetime,
    answer: str | None,
    note: str,
    shown: bool,
) -> Dispute:
    if len(answer or "") > LONGEST_ANSWER or len(note) > LONGEST_ANSWER:
        raise NotDecided(f"expected an answer and a note of at most {LONGEST_ANSWER} characters each")
    said = None if answer is None else answer.strip()
    decision = Decision(at=at, who=by.who, before=known.state, after=after, note=note, answer=said, shown=shown)
    act = Act(
        at=at,
        who=by.who,
        token=by.token,
        what=_ACTS[after] if after is not known.state else "dispute.show" if shown else "dispute.hide",
        subject=known.id,
        before=_outline(known.state, known.is_shown, known.answer),
        after=_outline(after, shown, known.answer if said is None else said or None),
        note=note,
    )
    return store.disputes.decide(known.id, decision, act)


def _outline(state: DisputeState, shown: bool, answer: str | None) -> dict[str, Json]:
    return {"state": state.value, "shown": shown, "answer": answer}
