"""The rows of lists, each rendered once: the same servers are on many pages."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final

from jinja2 import Environment
from markupsafe import Markup

from evidence.store import Listed

MOST: Final = 20_000
"""Rows that are kept, of about 2 KB each."""


class Rows:
    """Renders rows, and forgets all of them when there are too many. Threads may share it."""

    def __init__(self, jinja: Environment) -> None:
        self._template = jinja.get_template("list_row.html.j2")
        self._known: dict[Hashable, str] = {}

    def of(self, servers: Iterable[Listed], rubrics: tuple[str, ...]) -> Markup:
        """The rows of servers, one column for each rubric."""
        return Markup("").join(Markup(self._row(listed, rubrics)) for listed in servers)  # noqa: S704  of a template

    def _row(self, listed: Listed, rubrics: tuple[str, ...]) -> str:
        key = (listed, rubrics)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[key] = found = self._template.render(listed=listed, rubrics=rubrics)
        return found
