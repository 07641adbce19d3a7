"""What was made of one listed server, and comes again on every page that it is on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from evidence.store.board_packing import Glance, glance_at
from evidence.store.board_places import Places
from evidence.store.board_rows import Listed
from publish.site.site import Site

_Made = TypeVar("_Made")
_Alike = TypeVar("_Alike")


@dataclass(slots=True)
class _Known(Generic[_Made]):
    """What was made of the servers of an edition, by place; None of those who opted out."""

    of: object
    made: dict[int, _Made | None] = field(default_factory=dict)


class Remembered(Generic[_Alike, _Made]):
    """Makes something of each server and keeps it for at most so many of them: all of them alike, and of one edition.

    `make` is given those who are new together, since they share work. Pages that come from the database are made anew.
    """

    def __init__(self, site: Site, most: int, make: Callable[[Sequence[Glance], _Alike], Sequence[_Made]]) -> None:
        self._site = site
        self._most = most
        self._make = make
        self._known: _Known[_Made] = _Known(None)

    def of(self, servers: Sequence[Listed], alike: _Alike) -> list[_Made]:
        """What is made of each server that has not opted out; `alike` is what else it is made from."""
        if not isinstance(servers, Places):
            return list(self._make([glance_at(one) for one in servers if not self._site.is_hidden(one.server)], alike))
        heeded = self._site.desk.heeded()
        known = self._known_of((servers.edition, alike, heeded))
        if new := [place for place in servers.places if place not in known]:
            read = servers.reader
            shown = [place for place in new if not (heeded and self._site.is_hidden(read.listed(place).server))]
            made = self._make([read.glance(place) for place in shown], alike)
            known |= dict.fromkeys(new) | dict(zip(shown, made, strict=True))
        return [one for place in servers.places if (one := known[place]) is not None]

    def _known_of(self, of: object) -> dict[int, _Made | None]:
        """Threads that have the dictionary before keep it as long as they need it."""
        known = self._known
        if known.of != of or len(known.made) > self._most:
            self._known = known = _Known(of)
        return known.made
