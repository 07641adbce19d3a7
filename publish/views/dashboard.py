"""The numbers of the dashboard, as they were counted when the newest run was published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from evidence.store import Store

_NONE: Final[Mapping[str, Any]] = {}


class DashboardNumbers(Struct, frozen=True):
    """What `publish.publication.dashboard` counted; `run` is None before anything is published."""

    run: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, store: Store, run: str | None = None) -> DashboardNumbers:
        found = store.listing.read_dashboard(run)
        return cls() if found is None else cls(*found)

    @property
    def servers(self) -> int:
        found = self.values.get("servers")
        return found if isinstance(found, int) else 0

    @property
    def rubrics(self) -> tuple[str, ...]:
        """Ids of the rubrics that servers are scored with, the default one first."""
        return tuple(one["rubric"] for one in self.rows("rubrics"))

    def rows(self, name: str) -> Sequence[Mapping[str, Any]]:
        """A list of objects; empty if the member is missing."""
        found = self.values.get(name)
        return found if isinstance(found, list) else ()

    def names(self, name: str, member: str) -> list[str]:
        """The values of one member of a list of objects, sorted."""
        return sorted(str(one[member]) for one in self.rows(name))

    def grades(self, rubric: str) -> list[str]:
        found = (one["grades"] for one in self.rows("rubrics") if one["rubric"] == rubric)
        return sorted(each["grade"] for each in next(found, ()))


class NewestNumbers:
    """Caches the numbers of the newest run; those of a published run never change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last = DashboardNumbers()

    def of(self, run: str | None) -> DashboardNumbers:
        found = self._last  # a value that another thread set is equally good
        if found.run != run:
            self._last = found = DashboardNumbers.read(self._store)
        return found
