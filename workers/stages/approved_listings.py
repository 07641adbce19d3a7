"""Approvals of listings by operators, for the deriver of drift."""

from __future__ import annotations

from evidence.derive.drift import ApprovalCheck
from evidence.store import Store


def read_approvals(store: Store) -> ApprovalCheck:
    """A check against the approvals that are stored now."""
    known = frozenset((approval.server, approval.listing) for approval in store.read_approvals())
    return lambda server, listing: (server, listing) in known
