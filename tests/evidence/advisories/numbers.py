"""An order of dotted numbers, for tests of what does not depend on how an ecosystem orders."""

from __future__ import annotations

from evidence.advisories.version_matching import Comparable, Unorderable


class Numbers:
    """`1.10` is above `1.9`; what is not dotted numbers has no place."""

    def key(self, order: str, version: str) -> Comparable:
        try:
            return tuple(int(part) for part in version.split("."))
        except ValueError as error:
            raise Unorderable(version) from error
