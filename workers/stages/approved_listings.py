"""Listings that operators have approved, for derivers of changes."""

from __future__ import annotations

from evidence.derive.drift import ApprovalCheck
from evidence.model import ServerId
from evidence.store import Store


def read_approvals(store: Store) -> ApprovalCheck:
    """Answers from the approvals that are stored now; those of later wait for the next call."""
    known = frozenset((approval.server, approval.listing) for approval in store.read_approvals())

    def approved(server: ServerId, listing: str) -> bool:
        return (server, listing) in known

    return approved
