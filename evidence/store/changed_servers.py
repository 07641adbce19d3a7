"""Servers that changed since the published run: disclosures, disputes, claims of control, re-tests, opt-outs.

The page of every other server is a function of the run, so its entity tag stays the same until the next run.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct
from sqlalchemy import ColumnElement, ScalarSelect, bindparam, func, or_, select, union

from evidence.model import ServerId, Trigger
from evidence.store.community.claim_values import ClaimState
from evidence.store.listing.index import CHANGES, join_revision
from evidence.store.listing.published_edition import SHOWN_EDITION
from evidence.store.runs.retests import RetestState
from evidence.store.tables.community import CLAIM, DISPUTE, DISPUTE_ACT
from evidence.store.tables.core import DISCLOSURE, FINDING, FULL_PROBE, RETEST, RUN, SERVER, SNAPSHOT
from evidence.store.tables.evidence import COMPACTION
from evidence.store.tables.listing import LISTING_EDITION, LISTING_HIDDEN, LISTING_WITHHELD
from evidence.store.transactions import DatabaseAccess
from evidence.store.values import FINAL_STATES, FindingState, RunState

_SHOWN_RUN: Final = select(LISTING_EDITION.c.run_key).where(LISTING_EDITION.c.key == SHOWN_EDITION).scalar_subquery()
_COMPACTION: Final = COMPACTION.c.run_key == _SHOWN_RUN
_IS_PUBLISHED: Final = (RUN.c.state == RunState.PUBLISHED.value, RUN.c.trigger != Trigger.RETEST.value)
_PROVEN: Final = CLAIM.c.state == ClaimState.PROVEN.value

_COUNTS: Final[tuple[ScalarSelect[Any], ...]] = (
    select(func.count()).select_from(LISTING_EDITION).scalar_subquery(),
    select(func.count())
    .select_from(SNAPSHOT.join(RUN, RUN.c.key == SNAPSHOT.c.run_key))
    .where(*_IS_PUBLISHED)
    .scalar_subquery(),
    select(func.count()).select_from(DISCLOSURE).scalar_subquery(),
    select(func.count()).select_from(DISPUTE).scalar_subquery(),
    select(func.count()).select_from(DISPUTE_ACT).scalar_subquery(),
    select(func.count()).select_from(CLAIM).scalar_subquery(),
    select(func.count()).where(_PROVEN).scalar_subquery(),
    select(func.sum(CLAIM.c.key)).where(_PROVEN).scalar_subquery(),
    select(func.count()).select_from(FULL_PROBE).scalar_subquery(),
    select(func.count())
    .select_from(FULL_PROBE.join(RUN, RUN.c.key == FULL_PROBE.c.run_key))
    .where(FULL_PROBE.c.run_key > _SHOWN_RUN, RUN.c.state == RunState.DONE.value)
    .scalar_subquery(),
    select(COMPACTION.c.record_sets).where(_COMPACTION).scalar_subquery(),
    select(COMPACTION.c.at).where(_COMPACTION).scalar_subquery(),
    select(COMPACTION.c.done).where(_COMPACTION).scalar_subquery(),
)
"""Numbers of which one changes with every change that the listing index's revision does not cover. Rows are counted
because the highest key would miss a row with a lower key that is committed later."""

_REVISIONS: Final = select(*CHANGES, *_COUNTS)

_OPEN: Final = [state.value for state in RetestState if state not in {RetestState.DONE, RetestState.FAILED}]
_PUBLISHED_RUNS: Final = select(func.count(), func.sum(RUN.c.key)).where(*_IS_PUBLISHED)
_SHOWN: Final = (
    select(LISTING_EDITION.c.key, RUN.c.id, RUN.c.as_of, RUN.c.published_at)
    .join(LISTING_EDITION, LISTING_EDITION.c.run_key == RUN.c.key)
    .where(LISTING_EDITION.c.key == SHOWN_EDITION)
)
_COMPACTED: Final = select(COMPACTION.c.record_sets, COMPACTION.c.at, COMPACTION.c.done).where(_COMPACTION)


_AFTER_PUBLICATION: Final[tuple[ColumnElement[bool], ...]] = (
    RUN.c.state.not_in(FINAL_STATES),
    RUN.c.id >= bindparam("run"),
    RUN.c.as_of >= bindparam("as_of"),
)
"""Conditions on a run about one server: it is not finished, or not older than the published run."""

_RETESTED: Final = (
    select(RETEST.c.server_key)
    .join(RUN, RUN.c.key == RETEST.c.run_key, isouter=True)
    .where(or_(RETEST.c.state.in_(_OPEN), RETEST.c.finished_at >= bindparam("as_of"), *_AFTER_PUBLICATION))
)
_PROBED: Final = (
    select(RETEST.c.server_key)
    .join(FULL_PROBE, FULL_PROBE.c.retest_key == RETEST.c.key)
    .join(RUN, RUN.c.key == FULL_PROBE.c.run_key)
    .where(or_(*_AFTER_PUBLICATION))
)
_KEYS: Final = union(
    select(FINDING.c.server_key).where(FINDING.c.state != FindingState.PRIVATE_TRIAGE.value),
    select(FINDING.c.server_key).join(DISCLOSURE, DISCLOSURE.c.finding_key == FINDING.c.key),
    select(DISPUTE.c.server_key),
    select(CLAIM.c.server_key),
    select(LISTING_WITHHELD.c.server_key),
    select(LISTING_HIDDEN.c.server_key),
    _RETESTED,
    _PROBED,
).subquery()
_SERVERS: Final = select(SERVER.c.id).where(SERVER.c.key.in_(select(_KEYS.c.server_key)))


class ChangedServers(Struct, frozen=True):
    """The changed servers, and a `version` of the data from which the pages of all other servers are rendered.

    The version changes with the published edition of the listing index, with compaction of its run, and with the
    published runs in histories.
    """

    version: str
    servers: frozenset[ServerId]


class ChangedServersReader(DatabaseAccess):
    """The changed servers of one database; each method is one transaction."""

    def read_revisions(self) -> tuple[str, str]:
        """The listing index's revision, and a text; one of them changes when `read_changed_servers` may change."""
        with self._database.reading() as connection:
            found = connection.execute(_REVISIONS).one()
        return join_revision(found[: len(CHANGES)]), join_revision(found[len(CHANGES) :])

    def read_changed_servers(self) -> ChangedServers | None:
        """The servers that changed since the published run; None before the first one."""
        with self._database.reading() as connection:
            run = connection.execute(_SHOWN).one_or_none()
            if run is None:
                return None
            runs = connection.execute(_PUBLISHED_RUNS).one()
            compacted = connection.execute(_COMPACTED).one_or_none()
            servers = connection.scalars(_SERVERS, {"run": run.id, "as_of": run.as_of})
            return ChangedServers(" ".join(map(str, (*run, *runs, *(compacted or ())))), frozenset(servers))
