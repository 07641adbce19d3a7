"""Completes a core probe with the last full probe, so that a score does not depend on the depth of a probe.

A completed body has the depth `full`. It equals the body of the full probe when nothing changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from msgspec import Struct

from crawler.collectors.earlier_values import CARRIED_FROM, read_time
from crawler.collectors.protocol.json_splicing import encode_json, splice_array, splice_members, splice_object
from crawler.collectors.protocol.probes.probe import Finding
from crawler.collectors.protocol.questions.exchanges_body import CORE, FULL
from crawler.collectors.protocol.session.dialogue import TRANSIENT_STATUSES
from crawler.json_spans import split_elements, split_members
from crawler.mcp.transcript import TOO_MANY_REQUESTS
from evidence.canonical import Json, NotJson, parse_json
from evidence.json_members import object_or_empty
from evidence.model import Absent, Observed, Reason, Record

FULL_AT: Final = "full_at"
FULL_DUE: Final = "full_due"
MAX_CARRY_AGE: Final = timedelta(days=14)
WEEK: Final = timedelta(days=7)
HALF_A_DAY: Final = timedelta(hours=12)

_OPEN: Final = "open"
_METADATA: Final = frozenset({"resource_metadata", "authorization_servers", "cut"})
_OPENINGS: Final = frozenset({"discover", "initialize"})
_MODERN_INFO: Final = "io.modelcontextprotocol/serverInfo"
_LISTS_AGAIN: Final = frozenset({"list-tools-again", "list-tools-elsewhere"})

_Key: TypeAlias = tuple[str, str, str, int]
"""Transport, era, step and page of a row."""


def read_full_probe_time(earlier: Record | None) -> datetime | None:
    """When the exchanges of an earlier record were last asked for in full; None when they never were."""
    return read_time(earlier, FULL_AT) if earlier and isinstance(earlier.content, Observed) else None


def is_full_probe_due(earlier: Record | None, at: datetime, weekday: int | None = None) -> bool:
    """True when the last full probe is about a week old, or when there was none and it is `weekday`.

    After a re-test, which repeats only some questions, it is due at once. Weekdays are 0 to 6 in UTC; None means any
    day. They spread the first full probes over a week. Half a day of tolerance keeps each server on its day although
    runs do not reach it at the same hour.
    """
    if earlier is not None and earlier.observation.get(FULL_DUE) is True:
        return True
    full_at = read_full_probe_time(earlier)
    if full_at is None:
        return weekday is None or at.astimezone(UTC).weekday() == weekday
    return at - full_at >= WEEK - HALF_A_DAY


def carry_over_exchanges(
    fresh: Observed, note: Mapping[str, Json], earlier: Record | None, at: datetime, *, same_lists: bool
) -> tuple[Observed, Mapping[str, Json]]:
    """The content and the observation of a probe, completed with what the last full probe asked beyond it.

    This applies to a core probe, and to a full one that was cut short and contradicts nothing; another full probe is
    then due. Nothing is carried over from a probe older than 14 days, nor when the server opens differently now.
    `same_lists`: the listing has not changed since.
    """
    full_at = read_full_probe_time(earlier)
    if earlier is None or full_at is None or not isinstance(earlier.content, Observed) or at - full_at > MAX_CARRY_AGE:
        return fresh, note
    carried_from = earlier.observation.get(CARRIED_FROM, earlier.observed_at.isoformat())
    carried_note = {**note, FULL_AT: full_at.isoformat(), CARRIED_FROM: carried_from}
    if same_lists and _is_beginning(fresh.body, earlier.content.body):
        return earlier.content, carried_note
    try:
        new, old = _Conversation.read(fresh.body), _Conversation.read(earlier.content.body)
    except (NotJson, KeyError, TypeError):
        return fresh, note
    if old.depth != FULL or not new.opens_like(old):
        return fresh, note
    if new.depth != CORE:
        kept = same_lists and new.is_cut_short and not old.is_cut_short and new.repeats(old)
        return (earlier.content, carried_note) if kept else (fresh, note)
    return Observed(_merge(new, old, same_lists=same_lists)), carried_note


def carry_over_access(
    fresh: Observed, note: Mapping[str, Json], earlier: Record | None, full_at: datetime | None, at: datetime
) -> tuple[Observed, Mapping[str, Json]]:
    """The access finding of an open server, completed with the metadata that the last full probe found.

    `full_at` is the time of that probe. The well-known addresses of a locked server are requested in every probe.
    """
    if earlier is None or full_at is None or not isinstance(earlier.content, Observed) or at - full_at > MAX_CARRY_AGE:
        return fresh, note
    try:
        new, old = _without_metadata(fresh.body), _without_metadata(earlier.content.body)
    except NotJson:
        return fresh, note
    if new != old or new.get("class") != _OPEN:
        return fresh, note
    carried_from = earlier.observation.get(CARRIED_FROM, earlier.observed_at.isoformat())
    return earlier.content, {**note, CARRIED_FROM: carried_from}


def carry_over_handouts(fresh: Finding | None, exchanged: Finding, earlier: Record | None) -> Finding | None:
    """The handouts of this probe, else those of the full probe from which `exchanged` was carried over.

    None when there is neither: the record is then absent for the reason of the listing. An opt-out removes earlier
    handouts.
    """
    if fresh is not None and (isinstance(fresh[0], Observed) or fresh[0].reason is Reason.OPTED_OUT):
        return fresh
    if isinstance(exchanged[0], Absent):
        return fresh
    if CARRIED_FROM in exchanged[1] and earlier is not None and isinstance(earlier.content, Observed):
        return earlier.content, {CARRIED_FROM: earlier.observation.get(CARRIED_FROM, earlier.observed_at.isoformat())}
    return fresh or (Absent(Reason.NOT_COLLECTED, "only a full probe reads what a server hands out"), {})


def _without_metadata(body: bytes) -> dict[str, Json]:
    return {name: value for name, value in object_or_empty(parse_json(body)).items() if name not in _METADATA}


def _is_beginning(new: bytes, old: bytes) -> bool:
    """True when a full body begins with the rows of a core body byte for byte, as it does when nothing changed.

    False proves nothing: both bodies are then parsed and compared, which costs more than the probe itself.
    """
    (head, _, rows), (old_head, _, old_rows) = (body.partition(b'],"exchanges":[') for body in (new, old))
    core, full = (b'"depth":' + encode_json(depth) + b"," for depth in (CORE, FULL))
    if not rows.endswith(b"}]}") or core not in head:
        return False
    return old_head.startswith(head.replace(core, full, 1)) and old_rows.startswith(rows[:-2] + b",{")


class _Row(Struct, frozen=True):
    span: bytes
    value: Mapping[str, Json]
    key: _Key

    @property
    def connection(self) -> int:
        return int(str(self.value["connection"]))

    @property
    def received(self) -> Sequence[Mapping[str, Json]]:
        received = self.value["received"]
        return [object_or_empty(one) for one in received] if isinstance(received, list) else []

    @property
    def failed_transiently(self) -> bool:
        """True when the exchange failed transiently, so that nothing can be concluded from it."""
        status = self.value["status"]
        transient = isinstance(status, int) and (status in TRANSIENT_STATUSES or status == TOO_MANY_REQUESTS)
        return self.value["failure"] is not None or (transient and not self.value["received"])

    @property
    def is_unasked(self) -> bool:
        unsent = self.value["status"] is None and not self.value["received"]
        return unsent and object_or_empty(self.value["failure"]).get("reason") == Reason.NOT_COLLECTED.value

    def on_connection(self, connection: int) -> bytes:
        if connection == self.connection:
            return self.span
        parts = [
            (name, encode_json(connection) if name == "connection" else span) for name, span in split_members(self.span)
        ]
        return splice_members(parts)

    def with_moved_references(self, moved: Mapping[int, int]) -> _Row:
        """The row with references to other rows replaced by their places after the merge."""
        if b'"same_as"' not in self.span or not any("same_as" in one for one in self.received):
            return self
        span = _replace_member(self.span, "received", lambda received: _elements_with(received, moved))
        return _Row(span, object_or_empty(parse_json(span)), self.key)

    def agrees_with(self, other: _Row) -> bool:
        """True when this row does not contradict `other`, whose stream may have been watched for longer."""
        mine, theirs = dict(self.value), dict(other.value)
        received, then = mine.pop("received"), theirs.pop("received")
        if mine["ended"] is None:
            mine["ended"] = theirs["ended"]
        mine["connection"] = theirs["connection"]
        same = isinstance(received, list) and isinstance(then, list) and then[: len(received)] == received
        return same and mine == theirs

    def inconclusive(self, why: str) -> bytes:
        """The row marked as inconclusive. Its result stays, since other rows may refer to it."""
        failure: Json = {"reason": Reason.NOT_COLLECTED.value, "detail": why}
        parts = [(name, encode_json(failure) if name == "failure" else span) for name, span in split_members(self.span)]
        return splice_members(parts)

    def unanswered(self, why: str) -> bytes:
        failure: Json = {"reason": Reason.NOT_COLLECTED.value, "detail": why}
        nothing: Mapping[str, Json] = {"status": None, "headers": {}, "form": "none", "utf8": True, "batch": False}
        return encode_json({**self.value, **nothing, "ended": None, "received": [], "failure": failure})


class _Conversation(Struct, frozen=True):
    parts: Mapping[str, bytes]
    depth: str
    links: Sequence[Mapping[str, Json]]
    spans: Sequence[bytes]
    rows: Sequence[_Row]

    @staticmethod
    def read(body: bytes) -> _Conversation:
        parts = dict(split_members(body))
        spans = split_elements(parts["connections"])
        links = [object_or_empty(parse_json(span)) for span in spans]
        rows: list[_Row] = []
        for span in split_elements(parts["exchanges"]):
            value = object_or_empty(parse_json(span))
            link = links[int(str(value["connection"]))]
            key = (str(link["transport"]), str(link["era"]), str(value["step"]), int(str(value["page"])))
            rows.append(_Row(span, value, key))
        return _Conversation(parts, str(parse_json(parts["depth"])), links, spans, rows)

    def openings(self) -> dict[_Key, Json]:
        """For each opening question: what the server declares about itself. Transient failures are left out."""
        inconclusive = self.inconclusive()
        opened = (row for row in self.rows if row.key[2] in _OPENINGS and row.connection not in inconclusive)
        return {row.key: self._opening(row) for row in opened}

    def listed_in(self) -> str | None:
        """The era of the lists in the listing; rows of the other era must not be read with them."""
        return next((row.key[1] for row in self.rows if any("listed" in one for one in row.received)), None)

    def inconclusive(self) -> set[int]:
        """Connections whose opening failed transiently."""
        return {row.connection for row in self.rows if row.key[2] in _OPENINGS and row.failed_transiently}

    def _opening(self, row: _Row) -> Json:
        link = self.links[row.connection]
        result: Mapping[str, Json] = {}
        for one in row.received:
            result = result or object_or_empty(object_or_empty(one.get("message")).get("result"))
        info = result.get("serverInfo") or object_or_empty(result.get("_meta")).get(_MODERN_INFO)
        named = [result.get(name) for name in ("protocolVersion", "supportedVersions", "capabilities")]
        return [link["opened"], link["negotiated"], info, *named]

    @property
    def is_cut_short(self) -> bool:
        """True when some questions were not sent: the server asked for a pause, stopped answering, or time was over."""
        return any(row.is_unasked for row in self.rows)

    def repeats(self, old: _Conversation) -> bool:
        """True when every answer of this probe is also in the old one."""
        return all(
            row.failed_transiently or any(row.key == other.key and row.agrees_with(other) for other in old.rows)
            for row in self.rows
        )

    def opens_like(self, old: _Conversation) -> bool:
        """True when every opening of this probe equals that of the old one, which may have more."""
        mine, theirs = self.openings(), old.openings()
        if self.parts["target"] != old.parts["target"] or self.listed_in() != old.listed_in():
            return False
        return bool(mine) and all(key in theirs and theirs[key] == opening for key, opening in mine.items())


def _merge(new: _Conversation, old: _Conversation, *, same_lists: bool) -> bytes:
    places, spans = _merge_connections(new, old)
    inconclusive = new.inconclusive()
    with_moved_references = list(_with_moved_references(new, old))
    fresh: dict[_Key, _Row] = {}
    for row in with_moved_references:
        if row.connection not in inconclusive:
            fresh.setdefault(row.key, row)
    opened_eras = {key[1] for key in fresh if key[2] in _OPENINGS}
    rows = [_row(row, fresh, opened_eras, places, same_lists=same_lists) for row in _first_of_each(old.rows, fresh)]
    known = {row.key for row in old.rows}
    rows += [row.on_connection(places[row.connection]) for row in with_moved_references if row.key not in known]
    parts = {
        **old.parts,
        "depth": encode_json(FULL),
        "connections": splice_array(spans),
        "exchanges": splice_array(rows),
    }
    return splice_object(parts)


def _with_moved_references(new: _Conversation, old: _Conversation) -> Iterator[_Row]:
    """The rows of the new probe, in which `same_as` names a row by its place after the merge."""
    places: dict[_Key, int] = {}
    for index, row in enumerate(old.rows):
        places.setdefault(row.key, index)
    added = (row.key for row in new.rows if row.key not in places)
    places |= {key: len(old.rows) + number for number, key in enumerate(list(added))}
    moved = {index: places[row.key] for index, row in enumerate(new.rows)}
    return (row.with_moved_references(moved) for row in new.rows)


def _first_of_each(rows: Sequence[_Row], fresh: Mapping[_Key, _Row]) -> Iterator[_Row]:
    """All rows. A second row with the same key, on a further connection, gets a key that matches no fresh row."""
    seen: set[_Key] = set()
    for row in rows:
        yield _Row(row.span, row.value, (*row.key[:2], "", 0)) if row.key in seen and row.key in fresh else row
        seen.add(row.key)


def _row(
    row: _Row, fresh: Mapping[_Key, _Row], opened_eras: set[str], places: Mapping[int, int], *, same_lists: bool
) -> bytes:
    found = fresh.get(row.key)
    if found is not None:
        return row.span if found.agrees_with(row) else found.on_connection(places[found.connection])
    if row.key[2].startswith("list-") and row.key[3] and row.key[1] in opened_eras:
        return row.unanswered("the list has fewer pages now")
    if row.key[2] in _LISTS_AGAIN and not same_lists:
        return row.inconclusive("the list has changed since")
    return row.span


def _merge_connections(new: _Conversation, old: _Conversation) -> tuple[Mapping[int, int], Sequence[bytes]]:
    """The place of each connection of the core probe among those of the full one; new ones come last."""
    places: dict[int, int] = {}
    inconclusive = new.inconclusive()
    spans = list(old.spans)
    for index, link in enumerate(new.links):
        same = (
            at for at, other in enumerate(old.links) if at not in places.values() and _is_same_connection(link, other)
        )
        place = next(same, None)
        if place is None:
            place = len(spans)
            spans.append(new.spans[index])
        elif index not in inconclusive:
            spans[place] = new.spans[index]
        places[index] = place
    return places, spans


def _is_same_connection(link: Mapping[str, Json], other: Mapping[str, Json]) -> bool:
    return all(link[name] == other[name] for name in ("transport", "era", "offered"))


def _elements_with(received: bytes, moved: Mapping[int, int]) -> bytes:
    def move(span: bytes) -> bytes:
        index = int(span)
        return encode_json(moved.get(index, index))

    return splice_array(_replace_member(one, "same_as", move) for one in split_elements(received))


def _replace_member(span: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """The object with one member changed, if it has that member."""
    return splice_members(
        [(member, change(value) if member == name else value) for member, value in split_members(span)]
    )
