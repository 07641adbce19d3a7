"""Our verdicts about seven real servers: `python -m tests.conformance.seven --write docs`.

Installs what it needs into a cache folder with the user's own pip and npm, starts each server, runs a full probe that
calls no tool, and writes the tables. Every MUST that fails is asked once more with another HTTP client.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scoring.protocol.conformance import CheckResult, Verdict
from scoring.results.outcome import Level
from tests.conformance import page
from tests.conformance.confirming import Asker, Said
from tests.conformance.probing import Probed, probed
from tests.conformance.servers import SEVEN

PART = "seven servers"


@dataclass(frozen=True, slots=True)
class Looked:
    """One server, what we say of it, and the confirmation of each failure by check and place."""

    name: str
    probed: Probed
    confirmed: dict[tuple[str, str], Said]

    def checked(self, *verdicts: Verdict) -> Iterator[tuple[str, CheckResult]]:
        """The checks with these verdicts."""
        return ((name, one) for name, one in self.probed.verdicts().items() if one.verdict in verdicts)


def look() -> list[Looked]:
    """Start and probe all of them."""
    found: list[Looked] = []
    for start in SEVEN:
        with start() as running:
            probe = probed(running.target)
            asker = Asker(running.target.identifier, probe.talk())
            failed = [(name, one.findings) for name, one in probe.verdicts().items() if one.verdict is Verdict.FAIL]
            confirmed = {
                (name, finding.at): asker.again(finding.at) for name, findings in failed for finding in findings[:1]
            }
            found.append(Looked(running.name, probe, confirmed))
    return found


def text(found: list[Looked]) -> str:
    """The tables and the bytes."""
    head = ["server", "questions", "MUST passed", "SHOULD passed", "MUST failed", "warnings", "inconclusive"]
    rows = [
        [
            one.name,
            str(len(one.probed.talk())),
            _share(one, Level.MUST),
            _share(one, Level.SHOULD),
            _names(one, Verdict.FAIL),
            _names(one, Verdict.WARN),
            _names(one, Verdict.INCONCLUSIVE),
        ]
        for one in found
    ]
    parts = [page.table(head, rows), "Every MUST that failed, asked again with the HTTP client of Python's library:"]
    for one in found:
        for (check, at), said in one.confirmed.items():
            why = next(finding.message for finding in one.probed.verdicts()[check].findings if finding.at == at)
            parts += [f"**{one.name}, {check}** ({at}): {why}.", page.block(f"{said.request}\n\n{said.response}")]
    return "\n\n".join(parts)


def _share(one: Looked, level: Level) -> str:
    passed = judged = 0
    for _, checked in one.checked(Verdict.PASS, Verdict.FAIL, Verdict.WARN):
        if checked.check.requirement.level is level:
            judged += 1
            passed += checked.verdict is Verdict.PASS
    return f"{passed} of {judged}"


def _names(one: Looked, verdict: Verdict) -> str:
    return ", ".join(name for name, _ in one.checked(verdict)) or "–"


def main() -> None:
    """Print, or write into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="DOCS")
    options = parser.parse_args()
    written = text(look())
    if options.write:
        page.write(options.write, PART, written)
    else:
        sys.stdout.write(written + "\n")


if __name__ == "__main__":
    main()
