"""The dashboard's numbers as a run was published with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from evidence.store import Store

_NONE: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class DashboardNumbers:
    """What `publish.publication.listing_rows.front` counted. `run` is None before anything is published."""

    run: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, store: Store) -> DashboardNumbers:
        """Those of the newest published run."""
        found = store.listing.read_dashboard()
        return cls() if found is None else cls(*found)

    @property
    def rubrics(self) -> tuple[str, ...]:
        """Ids of the rubrics that servers are scored with, the default one first."""
        return tuple(one["rubric"] for one in self.rows("rubrics"))

    def rows(self, name: str) -> Sequence[Mapping[str, Any]]:
        """A list of objects, empty when it is not there."""
        found = self.values.get(name)
        return found if isinstance(found, list) else ()

    def names(self, name: str, member: str) -> list[str]:
        """One text of each object of a list, sorted."""
        return sorted(str(one[member]) for one in self.rows(name))

    def grades(self, rubric: str) -> list[str]:
        """The grades that servers have under a rubric, sorted."""
        return next(
            (
                sorted(each["grade"] for each in one["grades"])
                for one in self.rows("rubrics")
                if one["rubric"] == rubric
            ),
            [],
        )


class NewestNumbers:
    """The numbers of the newest run, read once: those of a published run never change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last = DashboardNumbers()

    def of(self, run: str | None) -> DashboardNumbers:
        """Those of the run that is shown."""
        found = self._last  # that of another thread is as good
        if found.run != run:
            self._last = found = DashboardNumbers.read(self._store)
        return found
