"""Errors that the store raises."""

from __future__ import annotations


class StoreError(Exception):
    """Base of the store's errors."""


class StoreUnavailable(StoreError):
    """The database does not answer or is locked. Retrying may help."""


class NotMigrated(StoreError):
    """The database lacks our tables or columns: run the migrations."""


class CorruptBlob(StoreError):
    """Stored bytes cannot be decoded, or do not match their digest."""


class UnknownRun(StoreError):
    """No run has this id."""


class UnknownServer(StoreError):
    """No server has this id, or it is not part of the run."""


class UnknownRetest(StoreError):
    """No request for a re-test has this id."""


class UnknownFinding(StoreError):
    """No finding has this id."""


class IllegalTransition(StoreError):
    """A finding or dispute cannot change from its state to the requested one; the message lists the states allowed."""


class IllegalRunChange(StoreError):
    """A run cannot change from its state to the requested one; the message says what an operator can do."""


class BadCursor(StoreError):
    """The text is not a page cursor, or it is the cursor of a list in another order."""


class UnknownRubric(StoreError):
    """No listed server has a score of this version of this rubric."""
