"""Findings of our own scans and their disclosure. A change and its entry in the audit trail are one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from evidence.model import ServerId
from evidence.store.errors import IllegalTransition, UnknownFinding
from evidence.store.leases.leasing import find_lost_leases
from evidence.store.sql import bulk_insert
from evidence.store.sql.key_sets import KEYS, matches_any
from evidence.store.sql.row_keys import find_dated_run, find_server_keys
from evidence.store.tables.core import DISCLOSURE, FINDING, SERVER
from evidence.store.values import DetectedFinding, Disclosure, FindingRow, FindingState, LeaseTokens, Stage

_FINDING = ("rule", "at", "message", "severity", "content")
_DATES = ("since", "first_seen", "last_seen", "vendor_informed_at")
_ENTRY = ("at", "who", "note", "recipient")
_COLUMNS = ("id", "server_key", *_FINDING, "first_seen", "last_seen", "state", "since")
_QUERY = select(SERVER.c.id.label("server"), FINDING).join(SERVER, SERVER.c.key == FINDING.c.server_key)
_OF_SERVERS = _QUERY.where(matches_any(SERVER.c.id))
_IN_STATES = matches_any(FINDING.c.state, "states")
_OF_SERVERS_IN = _OF_SERVERS.where(_IN_STATES)
_BEFORE: Final = bindparam("before", type_=FINDING.c.last_seen.type)
_OF_KEYS: Final = matches_any(FINDING.c.server_key)
_SEEN_LATER: Final = select(FINDING.c.server_key).where(_OF_KEYS, FINDING.c.last_seen > _BEFORE)
_CONFIRM: Final = (
    update(FINDING)
    .where(_OF_KEYS, FINDING.c.last_seen == _BEFORE)
    .values(last_seen=bindparam("seen", type_=FINDING.c.last_seen.type))
)


def put_findings(
    connection: Connection,
    found: Sequence[DetectedFinding],
    seen: datetime,
    *,
    run_id: str = "",
    tokens: LeaseTokens | None = None,
) -> int:
    """Store new findings in private triage and update known ones; return the number of new ones.

    State and first date of a known finding stay. Its place and message become those of the newest run, since a secret
    moves with the lines above it; `last_seen` never moves back. Findings of servers whose lease for scoring in a run
    (`tokens`) was lost are left out.
    """
    lost = find_lost_leases(connection, run_id, Stage.SCORE, tokens)
    found = [one for one in found if one.server not in lost]
    keys = find_server_keys(connection, {one.server for one in found})
    known = _last_seen(connection, [one.id for one in found])
    state = FindingState.PRIVATE_TRIAGE.value
    rows = [
        (one.id, keys[one.server], *(getattr(one, name) for name in _FINDING), seen, last, state, seen)
        for one in found
        if (last := max(seen, known.get(one.id, seen))) != known.get(one.id)
    ]
    bulk_insert.insert_rows(connection, FINDING, _COLUMNS, rows, unique=["id"], update=["at", "message", "last_seen"])
    return len({one.id for one in found} - known.keys())


def confirm_findings(
    connection: Connection, run_id: str, earlier: Mapping[ServerId, str], *, tokens: LeaseTokens | None = None
) -> frozenset[ServerId]:
    """Record that a run has seen all findings that an earlier run, here by server, has seen of the same evidence.

    Returns the servers with a finding that was seen after their earlier run, for which nothing is recorded: whether the
    earlier run had seen it too is unknown. Nothing is recorded either for servers whose lease (`tokens`) was lost.
    """
    lost = find_lost_leases(connection, run_id, Stage.SCORE, tokens)
    as_of = find_dated_run(connection, run_id)[1]
    keys = find_server_keys(connection, earlier.keys() - lost)
    unknown: set[int] = set()
    for run in sorted(set(earlier.values())):
        before = find_dated_run(connection, run)[1]
        of_run = [key for server, key in keys.items() if earlier[server] == run]
        if before >= as_of:
            unknown.update(of_run)
            continue
        later = set(connection.scalars(_SEEN_LATER, {KEYS: of_run, "before": before}))
        unknown |= later
        confirmed = [key for key in of_run if key not in later]
        connection.execute(_CONFIRM, {KEYS: confirmed, "before": before, "seen": as_of})
    return frozenset(server for server, key in keys.items() if key in unknown)


def read_findings(
    connection: Connection,
    *,
    servers: Sequence[ServerId] | None = None,
    states: Sequence[FindingState] | None = None,
    rule: str | None = None,
    prefix: str = "",
) -> list[FindingRow]:
    """Findings by server, state, rule and the beginning of their id; sorted by server, the oldest first."""
    query = _QUERY if servers is None else _OF_SERVERS if states is None else _OF_SERVERS_IN
    wanted = {} if states is None else {"states": [state.value for state in states]}
    if servers is None and states is not None:
        query = query.where(_IN_STATES)
    if rule is not None:
        query = query.where(FINDING.c.rule == rule)
    if prefix:
        query = query.where(FINDING.c.id.startswith(prefix, autoescape=True))
    if servers is None:
        rows = list(connection.execute(query, wanted))
    else:
        rows = [
            row
            for batch in bulk_insert.split_batches(servers)
            for row in connection.execute(query, {KEYS: batch, **wanted}).all()
        ]
    return sorted(map(_row, rows), key=lambda row: (row.finding.server, row.first_seen, row.finding.id))


def transition_findings(connection: Connection, changes: Mapping[str, Disclosure]) -> list[FindingRow]:
    """Change the states of findings, with their trail entries; return the changed findings in the same order.

    Raise UnknownFinding, or IllegalTransition when a finding is not in the state that its change starts from (another
    operator decided at the same time) or may not change from it; then none is changed.
    """
    return [_transition(connection, finding, change) for finding, change in changes.items()]


def _transition(connection: Connection, finding: str, change: Disclosure) -> FindingRow:
    row = connection.execute(_QUERY.where(FINDING.c.id == finding)).one_or_none()
    if row is None:
        raise UnknownFinding(f"no finding {finding} in this store")
    state = FindingState(row.state)
    if state is not change.before or change.after not in state.next:
        after = ", ".join(sorted(state.next - {state})) or "nothing"
        raise IllegalTransition(f"{finding} is {state}, which may become {after}; asked for: {change.after}")
    values: dict[str, Any] = {} if change.after is state else {"state": change.after.value, "since": change.at}
    if change.recipient is not None and row.vendor_informed_at is None:
        values["vendor_informed_at"] = change.at
    if values:
        still = FINDING.c.state == state.value
        moved = connection.execute(update(FINDING).where(FINDING.c.key == row.key, still).values(values))
        if not moved.rowcount:
            raise IllegalTransition(f"{finding} was changed at the same time by another client; read it again")
    entry: dict[str, Any] = {name: getattr(change, name) for name in _ENTRY}
    states = {"before": change.before.value, "after": change.after.value}
    connection.execute(insert(DISCLOSURE).values(finding_key=row.key, **entry, **states))
    return _row(connection.execute(_QUERY.where(FINDING.c.id == finding)).one())


def read_finding_trail(connection: Connection, findings: Sequence[str]) -> dict[str, list[Disclosure]]:
    """The state changes of each finding that has any, oldest first."""
    query = select(FINDING.c.id.label("finding"), DISCLOSURE).join(FINDING, FINDING.c.key == DISCLOSURE.c.finding_key)
    trail: dict[str, list[Disclosure]] = {}
    for batch in bulk_insert.split_batches(findings):
        for row in connection.execute(query.where(FINDING.c.id.in_(batch)).order_by(DISCLOSURE.c.key)):
            trail.setdefault(row.finding, []).append(_disclosure(row))
    return trail


def _last_seen(connection: Connection, ids: Sequence[str]) -> Mapping[str, datetime]:
    found: dict[str, datetime] = {}
    for batch in bulk_insert.split_batches(ids):
        query = select(FINDING.c.id, FINDING.c.last_seen).where(FINDING.c.id.in_(batch))
        found |= dict(connection.execute(query).all())
    return found


def _row(row: Row[Any]) -> FindingRow:
    finding = DetectedFinding(id=row.id, server=row.server, **{name: getattr(row, name) for name in _FINDING})
    dates = {name: getattr(row, name) for name in _DATES}
    return FindingRow(finding=finding, state=FindingState(row.state), **dates)


def _disclosure(row: Row[Any]) -> Disclosure:
    known = {name: getattr(row, name) for name in _ENTRY}
    return Disclosure(before=FindingState(row.before), after=FindingState(row.after), **known)
