"""Our verdicts about more than thirty real servers: `python -m tests.conformance.real_servers --write docs`.

Installs what it needs into a cache folder with the user's own pip and npm, starts each server, runs a full probe that
calls no tool, and writes the tables. Every MUST that fails needs a sentence of the specification in JUDGED, and over
HTTP it is asked once more with another client. `--bytes` prints the requests and answers instead; NAME chooses servers.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from evidence.model import Absent
from scoring.protocol.conformance import Verdict
from scoring.results.outcome import Level
from tests.conformance import page
from tests.conformance.confirming import Asker, Said
from tests.conformance.judged import JUDGED, UNJUDGED
from tests.conformance.probing import Probed, probed
from tests.conformance.servers import FOREIGN, PUBLISHED, Start, matrix
from tests.matrix.versions import SSE, STDIO

PART = "thirty servers"
MANY = 8
"""So many servers are named in a row of the table; of more it has the number, and `--bytes` their names."""

SERVERS: tuple[Start, ...] = (
    *FOREIGN,
    partial(matrix, "FastMCP 2.14.7", STDIO),
    partial(matrix, "mcp 1.9.4", SSE),
    partial(matrix, "TypeScript SDK 1.32.2", STDIO),
    *(start for package in PUBLISHED for start in package.starts),
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A MUST that a server fails: the first place, what is wrong there, and the bytes."""

    check: str
    at: str
    message: str
    said: Said


@dataclass(frozen=True, slots=True)
class Looked:
    """One server over one transport, and what we say of it. `problem`: why it was not listed."""

    name: str
    probed: Probed | None
    failures: tuple[Failure, ...] = ()
    problem: str = ""

    @property
    def musts(self) -> list[Verdict]:
        """The verdicts about the MUSTs that could be judged."""
        judged = [] if self.probed is None else self.probed.verdicts().values()
        both = (Verdict.PASS, Verdict.FAIL)
        return [one.verdict for one in judged if one.check.requirement.level is Level.MUST and one.verdict in both]


def look(start: Start) -> Looked:
    """Start and probe one server."""
    name = str(start)
    with contextlib.ExitStack() as stack:
        try:
            running = stack.enter_context(start())
        except RuntimeError as error:
            return Looked(name, None, problem=str(error))
        probe = probed(running.target)
        content = probe.listing.content
        problem = f"{content.reason}: {content.detail}" if isinstance(content, Absent) else ""
        return Looked(running.name, probe, tuple(_failures(probe, running.target.identifier)), problem)


def _failures(probe: Probed, address: str) -> Iterator[Failure]:
    for name, one in probe.verdicts().items():
        if one.verdict is Verdict.FAIL:
            first = next(finding for finding in one.findings if not finding.tolerated)
            yield Failure(name, first.at, first.message.replace(address, "URL"), _said(probe, address, first.at))


def _said(probe: Probed, address: str, at: str) -> Said:
    """What was asked and answered at a place: once more by another client over HTTP, else as it was recorded."""
    exchange = next((one for one in probe.talk() if f"{at}/".startswith(f"{one.at}/")), None)
    if exchange is None:
        return Said("", "")
    with contextlib.suppress(OSError, StopIteration):
        if exchange.connection.transport == "streamable-http":
            return Asker(address, probe.talk()).again(exchange.at)
    answers = [json.dumps(one.message) if one.message is not None else one.text for one in exchange.received]
    return Said(json.dumps(exchange.sent), f"{exchange.status or exchange.failure or ''} {' '.join(answers)[:400]}")


def text(found: Sequence[Looked]) -> str:
    """Which servers were looked at, and every MUST that some of them fail."""
    over: dict[str, list[str]] = defaultdict(list)
    failed: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for one in found:
        name, _, transport = one.name.rpartition(", ")
        over[name].append(one.problem or transport)
        for failure in one.failures:
            judged = JUDGED.get((failure.check, failure.message), UNJUDGED)
            failed[failure.check, judged].append((failure.message, name))
    together: dict[str, list[str]] = defaultdict(list)
    for name, transports in over.items():
        together[", ".join(sorted(transports))].append(name)
    verdicts = [verdict for one in found for verdict in one.musts]
    total = (
        f"{datetime.now(UTC):%d %B %Y}: {len(over)} servers, {len(found)} with each transport counted;"
        f" {len(verdicts)} MUSTs judged, {verdicts.count(Verdict.FAIL)} failed."
    )
    servers = [f"- {transports}: {', '.join(names)}." for transports, names in together.items()]
    rows = [
        [check, "; ".join(dict.fromkeys(messages)), _list(names), judged]
        for (check, judged), failures in sorted(failed.items())
        for messages, names in [zip(*failures, strict=True)]
    ]
    head = ["check", "what the server does", "servers", "the specification"]
    return "\n\n".join([total, "\n".join(servers), page.table(head, rows)])


def _list(names: Sequence[str]) -> str:
    different = list(dict.fromkeys(names))
    return ", ".join(different) if len(different) <= MANY else str(len(different))


def show(one: Looked) -> str:
    """The bytes of every MUST that a server fails."""
    lines = [f"## {one.name}: {one.musts.count(Verdict.PASS)} of {len(one.musts)} {one.problem}"]
    for failure in one.failures:
        lines += [f"# {failure.check} {failure.at}: {failure.message}", failure.said.request, "", failure.said.response]
    return "\n".join(lines)


def main() -> None:
    """Print, or write into the page; exit with 1 when a failure was not judged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="DOCS")
    parser.add_argument("--bytes", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    found = []
    for start in SERVERS:
        if options.names and not any(name in str(start) for name in options.names):
            continue
        found.append(look(start))
        if options.bytes:
            sys.stdout.write(show(found[-1]) + "\n")
            sys.stdout.flush()
    written = text(found)
    if options.write:
        page.write(options.write, PART, written)
    else:
        sys.stdout.write(written + "\n")
    sys.exit(UNJUDGED in written)


if __name__ == "__main__":
    main()
