"""Public views of disputes. Their texts are untrusted: escape them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from evidence.model import ServerId
from evidence.store import Store
from evidence.store.community.dispute_values import Dispute, DisputeState
from publish.community.disputable_lines import find_disputable_line
from publish.disclosure import private_rule_ids

_PUBLIC: Final = (DisputeState.OPEN, DisputeState.ACCEPTED, DisputeState.REJECTED)
MAX_DISPUTES: Final = 200


class DisputeView(Struct, frozen=True, kw_only=True):
    """One public dispute. `reason` is None until an operator approved it; `state` is open, accepted or rejected.

    A line of a receipt is disputed when rubric, cited id and place are the same.
    """

    id: str
    server: ServerId
    run: str
    rubric: str
    version: int
    cites: str
    at: str
    rule: str | None
    state: str
    by_maintainer: bool
    filed_at: datetime
    decided_at: datetime | None
    reason: str | None
    answer: str | None


def list_public_disputes(store: Store, server: ServerId) -> tuple[DisputeView, ...]:
    """The public disputes of a server, newest first, at most 200."""
    return tuple(_shown(store, store.disputes.list_disputes(server=server, states=_PUBLIC, limit=MAX_DISPUTES)))


def view_dispute(store: Store, dispute: str) -> DisputeView | None:
    """One dispute; None if it is unknown or not public."""
    known = store.disputes.find_dispute(dispute)
    return next(_shown(store, [known] if known is not None and known.state in _PUBLIC else []), None)


def _shown(store: Store, disputes: Sequence[Dispute]) -> Iterator[DisputeView]:
    for one in disputes:
        if _may_be_named(store, one):
            yield _view(one)


def _may_be_named(store: Store, dispute: Dispute) -> bool:
    """Whether the line is public: a disclosed line of a private rule may have been made private again."""
    line = dispute.line
    if line.rule not in private_rule_ids():
        return True
    found = find_disputable_line(store, line.server, rubric=line.rubric, cites=line.cites, at=line.at)
    return found is not None and found.rule == line.rule


def _view(one: Dispute) -> DisputeView:
    line = one.line
    return DisputeView(
        id=one.id,
        server=line.server,
        run=line.run,
        rubric=line.rubric,
        version=line.version,
        cites=line.cites,
        at=line.at,
        rule=line.rule,
        state=one.state.value,
        by_maintainer=one.by_maintainer,
        filed_at=one.filed_at,
        decided_at=one.decided_at,
        reason=one.reason if one.is_shown else None,
        answer=one.answer,
    )
