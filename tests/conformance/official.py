"""The official suite beside our verdicts: `python -m tests.conformance.official --write docs` (`make conformance`).

Runs every scenario of each revision that the suite knows against the positive control, which must pass all required
ones, and compares the checks that need no fixture with our own verdicts about the control and about real servers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from scoring.protocol.conformance import Verdict
from tests.conformance import installing, page
from tests.conformance.agreement import REASONS, SAME, compared
from tests.conformance.probing import probed
from tests.conformance.servers import FOREIGN, PUBLISHED, Running, Start, package
from tests.matrix.versions import HTTP
from tests.servers.control.running import control

SUITE = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"
REVISIONS = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
REQUIRED = REVISIONS[2:]
"""The revisions for which the suite has a list of required scenarios; of the others it runs what applies."""

PART = "official suite"
UNEXPLAINED = "not explained"
SERVERS: tuple[Start, ...] = (*FOREIGN, *(partial(package, one, HTTP) for one in PUBLISHED if one.http is not None))


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
    package = installing.npm(f"{SUITE}@{VERSION}") / "node_modules" / SUITE
    requirements = package / "requirements" / f"{revision}.yaml"
    chosen = ["--requirements", revision] if requirements.exists() else ["--suite", "all", "--spec-version", revision]
    with tempfile.TemporaryDirectory() as out:
        command = [str(installing.NODE), str(package / "dist" / "index.js"), "server", "--url", url, *chosen]
        done = subprocess.run([*command, "-o", out], check=False, capture_output=True, timeout=600)
        checks = {_scenario(file): _checks(file) for file in sorted(Path(out).glob("server-*/checks.json"))}
    return Ran(done.returncode, checks, _unscored(requirements) if requirements.exists() else frozenset())


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


@contextmanager
def _control() -> Iterator[Running]:
    with control("streamable-http") as target:
        yield Running("control, http", target)


def text() -> tuple[str, bool]:
    """The tables, and whether the control passes everything on both sides and each difference has a reason."""
    rows: list[list[str]] = []
    differences: dict[tuple[str, ...], set[str]] = defaultdict(set)
    fine, judged = True, 0
    starts: tuple[Start, ...] = (_control, *SERVERS)
    for start in starts:
        with start() as running:
            ours = probed(running.target).verdicts()
            for revision in REVISIONS:
                ran = run(running.target.identifier, revision)
                if running.name == "control, http":
                    fine = fine and ran.status == 0
                    rows.append(_row(revision, ran))
                same, other = compared(revision, ran.checks, ours)
                judged += same + len(other)
                for one in other:
                    differences[one.check, one.theirs, one.ours, one.verdict].add(running.name)
                    if (one.check, one.verdict) not in REASONS:
                        sys.stderr.write(f"{running.name}, {revision}: {UNEXPLAINED}: {one}\n")
            if running.name == "control, http":
                fine = fine and not any(one.verdict is Verdict.FAIL for one in ours.values())
    return render(rows, judged, len(SERVERS), differences), fine and all(key[0::3] in REASONS for key in differences)


def render(
    rows: Sequence[Sequence[str]], judged: int, servers: int, differences: Mapping[tuple[str, ...], Collection[str]]
) -> str:
    """The control under the suite, how often both judge, and each difference."""
    summary = (
        f"{len(SAME)} checks of the suite need no fixture. Both judged them {judged} times, in all revisions, about the"
        f" control and {servers} servers. All differences:"
    )
    explained = [
        [check, str(len(names)), theirs, own, verdict, REASONS.get((check, verdict), UNEXPLAINED)]
        for (check, theirs, own, verdict), names in sorted(differences.items())
    ]
    parts = [
        page.table(["revision", "exit", "required scenarios passed", "their checks passed", "beyond, passed"], rows),
        summary,
        page.table(["check of the suite", "servers", "it says", "our check", "we say", "who is right"], explained),
    ]
    return "\n\n".join(parts)


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
