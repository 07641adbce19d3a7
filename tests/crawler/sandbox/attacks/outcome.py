"""What came of an attack, as it is handed from the process that was attacked to the test that judges it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`reports`: attempt → `refused: ...` or what got through. `reason`: why nothing was listed, empty if it was.

    `detail`: of that reason or of the listing's end. `stopped`: the log's last words, the sandbox's among them.
    `left`: what a census found afterwards.
    """

    reports: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    detail: str = ""
    stopped: str = ""
    left: tuple[str, ...] = ()
    seconds: float = 0.0

    def got_through(self) -> dict[str, str]:
        """The attempts that were not refused."""
        return {what: said for what, said in self.reports.items() if not said.startswith(REFUSED)}


def save(found: Mapping[str, Outcome], path: Path) -> None:
    """Write outcomes by attack as JSON."""
    path.write_text(json.dumps({name: asdict(one) for name, one in found.items()}), "utf-8")


def load(path: Path) -> dict[str, Outcome]:
    """Read what `save` wrote."""
    table = json.loads(path.read_text("utf-8"))
    return {name: Outcome(**{**row, "left": tuple(row["left"])}) for name, row in table.items()}
