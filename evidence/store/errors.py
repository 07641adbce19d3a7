"""What can go wrong in the store, by name."""

from __future__ import annotations


class StoreError(Exception):
    """Base of everything the store raises on purpose."""


class StoreUnavailable(StoreError):
    """The database did not answer or is locked: our infrastructure, so retrying may help."""


class NotMigrated(StoreError):
    """The database lacks our tables or columns: run the migrations."""


class CorruptBlob(StoreError):
    """A stored body cannot be read back to the bytes that its digest names."""


class UnknownRun(StoreError):
    """No run has this id."""


class UnknownServer(StoreError):
    """No server has this id, or it is not part of the run."""


class UnknownRetest(StoreError):
    """No request for a re-test has this id."""


class UnknownFinding(StoreError):
    """No finding has this id."""


class IllegalTransition(StoreError):
    """A finding cannot go from the state that it is in to the one asked for; the message says where it can go."""


class IllegalRunChange(StoreError):
    """A run cannot go from the state that it is in to the one asked for; the message says what can be done."""


class BadCursor(StoreError):
    """What should say where a page begins does not, or belongs to a list in another order."""


class UnknownRubric(StoreError):
    """No server is listed with a score of this version of this rubric."""
