"""Kind `behaviour`: what a contained server tried to reach outside its box while it was started, listed and called.

Body, schema 1 (canonical JSON, ours from end to end; sorted and without duplicates, so that two runs compare equal):

    {"contacts": [{"to": ADDRESS | PATH, "port": INT | null}, ...], "names": [HOST, ...], "programs": [PROGRAM, ...],
     "writes": [PATH, ...], "decoys": [{"path": PATH, "changed": BOOL}, ...] | null, "cut": BOOL}

`contacts` are addresses it tried to connect or send to, and UNIX sockets by path (`@` begins an abstract one); `port`
is null for those and for short-lived ports of its own machine. `names` are hosts that it asked the resolver for: the
box has no network, so a contact by name ends there and no port is known. `programs` are those it tried to start, itself
excluded, without their folder when it is one for commands. `writes` are files outside its own scratch space that it
opened for writing, all of which the box refused. `decoys` are files of a simulated home folder (keys, cloud
credentials, browser profiles) that it opened or changed; null when they were not monitored. Digits that identify a
process or a time are `*`. `cut`: more events occurred than are kept, or they occurred too fast to be read.

Texts come from the server and may be false: they are read from the server's memory before the kernel reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final, TypeVar

from msgspec import Struct

from evidence.canonical import Json, canonical_json, parse_json
from evidence.json_members import object_or_empty, objects_in, read_members
from evidence.kinds.traits import FACTS, Traits
from evidence.model import Observed

KIND: Final = "behaviour"
SCHEMA: Final = 1
TRAITS: Final = Traits(licence=FACTS)

MAX_ENTRIES: Final = 64
"""Entries of one list that are kept."""
MAX_LENGTH: Final = 200
"""Characters of one text that are kept."""


T = TypeVar("T", bound=Hashable)


class Contact(Struct, frozen=True):
    """An address or a UNIX socket that the server tried to reach; `port` is None without a port or for a short-lived
    one.
    """

    to: str
    port: int | None = None


class Decoy(Struct, frozen=True):
    """A decoy file that the server opened or changed."""

    path: str
    changed: bool = False


class Behaviour(Struct, frozen=True, kw_only=True):
    """Typed, tolerant view of a behaviour body. `decoys` is None when they were not monitored."""

    contacts: tuple[Contact, ...] = ()
    names: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    decoys: tuple[Decoy, ...] | None = None
    cut: bool = False

    @staticmethod
    def parse(body: bytes) -> Behaviour:
        """View a body of the current schema; raise NotJson when it is not JSON."""
        members = object_or_empty(parse_json(body))
        decoys = members.get("decoys")
        return read_members(
            Behaviour,
            members,
            contacts=tuple(read_members(Contact, row) for row in objects_in(members.get("contacts"))),
            decoys=None if decoys is None else tuple(read_members(Decoy, row) for row in objects_in(decoys)),
        )

    def observed(self) -> Observed:
        body: dict[str, Json] = {
            "contacts": [{"to": each.to, "port": each.port} for each in self.contacts],
            "names": list(self.names),
            "programs": list(self.programs),
            "writes": list(self.writes),
            "decoys": None
            if self.decoys is None
            else [{"path": each.path, "changed": each.changed} for each in self.decoys],
            "cut": self.cut,
        }
        return Observed(canonical_json(body))


def build_behaviour(
    *,
    contacts: Iterable[Contact] = (),
    names: Iterable[str] = (),
    programs: Iterable[str] = (),
    writes: Iterable[str] = (),
    decoys: Iterable[Decoy] | None = None,
    cut: bool = False,
) -> Behaviour:
    """The observations sorted, without duplicates and cut to the bounds."""
    reached = _kept(contacts, lambda each: (each.to, -1 if each.port is None else each.port))
    asked, begun, written = _kept(names, str), _kept(programs, str), _kept(writes, str)
    opened = None if decoys is None else _kept(_once(decoys), lambda each: each.path)
    return Behaviour(
        contacts=reached[0],
        names=asked[0],
        programs=begun[0],
        writes=written[0],
        decoys=None if opened is None else opened[0],
        cut=cut or reached[1] or asked[1] or begun[1] or written[1] or (opened is not None and opened[1]),
    )


def merge_behaviours(seen: Iterable[Behaviour]) -> Behaviour:
    """The behaviour of several processes of one server; `decoys` is None when it is for one of them."""
    every = tuple(seen)
    known = [each.decoys for each in every if each.decoys is not None]
    return build_behaviour(
        contacts=(one for each in every for one in each.contacts),
        names=(one for each in every for one in each.names),
        programs=(one for each in every for one in each.programs),
        writes=(one for each in every for one in each.writes),
        decoys=[one for each in known for one in each] if len(known) == len(every) else None,
        cut=any(each.cut for each in every),
    )


def _kept(found: Iterable[T], order: Callable[[T], Any]) -> tuple[tuple[T, ...], bool]:
    """The first MAX_ENTRIES in order, and whether there were more."""
    ordered = sorted(set(found), key=order)
    return tuple(ordered[:MAX_ENTRIES]), len(ordered) > MAX_ENTRIES


def _once(decoys: Iterable[Decoy]) -> list[Decoy]:
    changed: dict[str, bool] = {}
    for each in decoys:
        changed[each.path] = changed.get(each.path, False) or each.changed
    return [Decoy(path, how) for path, how in changed.items()]
