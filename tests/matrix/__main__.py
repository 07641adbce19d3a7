"""Probes servers on many versions of the SDKs, and writes docs/version-matrix.md.

`python -m tests.matrix [--write docs] [--only TEXT] [--transport NAME] [--causes] [--lock]`
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.matrix import causes, installing, locking, page
from tests.matrix.client import Unwell
from tests.matrix.measuring import Outcome, Row, measure
from tests.matrix.probing import CORE
from tests.matrix.versions import STDIO, Environment, environments

_Work = Sequence[tuple[Environment, str]]


def main() -> None:
    """Print the tables, or write them into the page; exit with 1 when a server does not serve as before."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="DOCS", help="write the tables into the page in this folder")
    parser.add_argument("--only", default="", metavar="TEXT", help="only environments whose name begins with this text")
    parser.add_argument("--transport", default="", metavar="NAME", help="only this transport")
    parser.add_argument("--causes", action="store_true", help="ask single questions instead of probing")
    parser.add_argument("--lock", action="store_true", help="resolve environments that have no pins yet, and stop")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # servers are stopped on the way out
    if options.lock:
        locking.write(list(environments()), _say)
        return
    chosen = [one for one in environments() if one.name.lower().startswith(options.only.lower())]
    work = [(one, each) for one in chosen for each in one.transports if options.transport in ("", each)]
    parts = {}
    harmed = False
    if options.causes or options.write:
        parts["causes"] = page.causes(_find_causes([one for one in work if options.causes or one[0].is_fragile]))
    if not options.causes:
        rows = list(_measure(work))
        harmed = any(row.harms for row in rows)
        parts = {"matrix": page.matrix(rows), "requests": page.requests(rows), **parts}
    if options.write:
        page.write(options.write, parts)
    else:
        sys.stdout.write("\n\n".join(parts.values()) + "\n")
    sys.exit(harmed)


def _find_causes(work: _Work) -> dict[Environment, dict[str, list[str]]]:
    found: dict[Environment, dict[str, list[str]]] = {}
    for environment, transport, say in _each([one for one in work if one[1] != STDIO]):
        answers = causes.find(environment, installing.install(environment), transport)
        found.setdefault(environment, {})[transport] = list(answers)
        say("; ".join(f"{name} -> {answer}" for name, answer in answers.items()) or "no question brings it down")
    return found


def _measure(work: _Work) -> Iterator[Row]:
    for environment, transport, say in _each(work):
        try:
            row = measure(environment, installing.install(environment), transport)
        except (RuntimeError, Unwell) as error:
            row = Row(environment, transport, "", {CORE: Outcome(0, f"could not be measured: {error}")})
        say(row.describe())
        yield row


def _each(work: _Work) -> Iterator[tuple[Environment, str, Callable[[str], None]]]:
    """The work with a function that tells its outcome and how long the rest will take."""
    began = time.monotonic()
    for position, (environment, transport) in enumerate(work, 1):

        def say(text: str, position: int = position, name: str = f"{environment.name}, {transport}") -> None:
            left = (time.monotonic() - began) / position * (len(work) - position)
            _say(f"{position}/{len(work)} {name}: {text} ({left / 60:.0f} min left)")

        yield environment, transport, say


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
