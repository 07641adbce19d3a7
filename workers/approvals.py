"""Which listings operators have approved, for whoever derives what changed since."""

from __future__ import annotations

from evidence.derive.drift import Approval
from evidence.model import ServerId
from evidence.store import Store


def approvals(store: Store) -> Approval:
    """Answers from the approvals that are stored now; those of later wait for the next call."""
    known = frozenset((approval.server, approval.listing) for approval in store.approvals())

    def approved(server: ServerId, listing: str) -> bool:
        return (server, listing) in known

    return approved
