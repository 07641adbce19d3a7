"""The official suite beside our verdicts: `python -m tests.conformance.official --write docs` (`make conformance`).

Runs every required scenario of both revisions against the positive control, which must pass them all, and compares the
checks that need no fixture with our own verdicts about the control and about real servers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from scoring.protocol.conformance import Verdict
from tests.conformance import installing, page
from tests.conformance.agreement import REASONS, SAME, Difference, compared
from tests.conformance.probing import probed
from tests.conformance.servers import FASTMCP_2, FASTMCP_4, Running, everything, fastmcp, official_python, typescript
from tests.servers.control.running import control

SUITE = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"
REVISIONS = ("2025-11-25", "2026-07-28")
PART = "official suite"
UNEXPLAINED = "not explained"
_SERVERS = (official_python, fastmcp(FASTMCP_4), fastmcp(FASTMCP_2), typescript, everything("streamableHttp"))


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of the suite: exit status, its checks by scenario and id, and the scenarios that do not count."""

    status: int
    checks: Mapping[str, Mapping[str, list[str]]]
    unscored: frozenset[str]

    def count(self, *statuses: str, scored: bool) -> int:
        """Checks with these statuses, of the scenarios that count or of the others."""
        chosen = (checks for name, checks in self.checks.items() if (name not in self.unscored) is scored)
        return sum(status in statuses for checks in chosen for found in checks.values() for status in found)

    def scenarios(self, *, scored: bool) -> tuple[int, int]:
        """How many scenarios passed, and how many there are."""
        chosen = [checks for name, checks in self.checks.items() if (name not in self.unscored) is scored]
        failed = [checks for checks in chosen if any("FAILURE" in found for found in checks.values())]
        return len(chosen) - len(failed), len(chosen)


def run(url: str, revision: str) -> Ran:
    """Run all scenarios of a revision against a server."""
    folder = installing.npm(f"{SUITE}@{VERSION}")
    package = folder / "node_modules" / SUITE
    with tempfile.TemporaryDirectory() as out:
        command = [installing.NODE, package / "dist" / "index.js", "server", "--url", url]
        done = subprocess.run(
            [*map(str, command), "--requirements", revision, "-o", out], check=False, capture_output=True, timeout=300
        )
        checks = {_scenario(file): _checks(file) for file in sorted(Path(out).glob("server-*/checks.json"))}
    return Ran(done.returncode, checks, _unscored(package / "requirements" / f"{revision}.yaml"))


def _scenario(file: Path) -> str:
    return file.parent.name.removeprefix("server-").rsplit("-", 6)[0]


def _checks(file: Path) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for check in json.loads(file.read_text()):
        found[check["id"]].append(check["status"])
    return found


def _unscored(requirements: Path) -> frozenset[str]:
    lines = requirements.read_text().splitlines()
    return frozenset(line.split()[-1] for line in lines if line.strip().startswith("- scenario:"))


def _local() -> AbstractContextManager[Running]:
    class Local:
        def __enter__(self) -> Running:
            self._serving = control("streamable-http")
            return Running("control", self._serving.__enter__())

        def __exit__(self, *error: object) -> None:
            self._serving.__exit__(None, None, None)

    return Local()  # type: ignore[return-value]


def text() -> tuple[str, bool]:
    """The tables, and whether the control passes everything on both sides and each difference has a reason."""
    rows, counts, differences = [], [], list[Difference]()
    fine = True
    for start in (_local, *_SERVERS):
        with start() as running:
            ours = probed(running.target).verdicts()
            agreed = judged = 0
            for revision in REVISIONS:
                ran = run(running.target.identifier, revision)
                if running.name == "control":
                    fine = fine and ran.status == 0
                    rows.append(_row(revision, ran))
                same, other = compared(running.name, revision, ran.checks, ours)
                agreed, judged = agreed + same, judged + same + len(other)
                differences += other
            if running.name == "control":
                fine = fine and not any(one.verdict is Verdict.FAIL for one in ours.values())
            counts.append([running.name, str(judged), str(agreed), str(judged - agreed)])
    head = ["revision", "exit", "required scenarios passed", "their checks passed", "scenarios beyond, passed"]
    parts = [
        page.table(head, rows),
        f"Compared are {len(SAME)} checks of the suite that need no fixture:",
        page.table(["server", "judged by both", "agree", "differ"], counts),
        page.table(
            ["server", "revision", "check of the suite", "it says", "our check", "we say", "why"],
            [[*one.cells, REASONS.get(one.check, UNEXPLAINED)] for one in differences],
        ),
    ]
    return "\n\n".join(parts), fine and UNEXPLAINED not in parts[-1]


def _row(revision: str, ran: Ran) -> list[str]:
    passed, required = ran.scenarios(scored=True)
    beyond, others = ran.scenarios(scored=False)
    checks = ran.count("SUCCESS", scored=True)
    all_checks = checks + ran.count("FAILURE", "WARNING", scored=True)
    return [revision, str(ran.status), f"{passed} of {required}", f"{checks} of {all_checks}", f"{beyond} of {others}"]


def main() -> None:
    """Print, or write into the page; exit with 1 when the control does not pass or a difference has no reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="DOCS")
    options = parser.parse_args()
    written, fine = text()
    if options.write:
        page.write(options.write, PART, written)
    else:
        sys.stdout.write(written + "\n")
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
