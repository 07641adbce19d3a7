"""Well-known packages in the sandbox: which list their tools, why others do not, and how long it takes.

    python -m bench.packages [--cache DIR] [--only TEXT ...] [--at-once N] [--warm N] [--json FILE] [--page FILE]
    python -m bench.packages --captures DIR [--only TEXT ...]

The packages of `packages.json` are declared as in a registry entry, so that they get what any registered package gets.
An install is cold in an empty cache and warm a day later, when the index still names the same version. A start is cold
while no file of the package is in memory, and ends with the answer to `initialize`. `--warm 0` leaves out what is warm.
The JSON file keeps the rows of packages that are left out this time. `--captures` compares what each package lists with
recorded listings of that version.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench import captures
from bench.launching import ProbeResult, Stopwatch, plain, probe_once, target_of
from crawler.sandbox import Sandbox, SandboxError, open_sandbox
from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from evidence.kinds.listing import Listing
from evidence.model import Absent, Reason, Target

DECLARED = Path(__file__).with_name("packages.json")
_LONGEST_CAUSE = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The outcome of one package; times in seconds, None for steps that were not reached."""

    package: str
    credentials: bool
    version: str | None = None
    tools: int | None = None
    dated: str = ""
    reason: str = ""
    detail: str = ""
    install_cold: float | None = None
    install_warm: float | None = None
    start_cold: float | None = None
    start_warm: float | None = None
    layer_mib: float | None = None
    said: str = ""
    same: bool | None = None
    given: Any = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/hallmark")
    parser.add_argument("--only", nargs="*", default=[], help="packages whose name contains one of these texts")
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--warm", type=int, default=3, help="warm starts, of which the median is shown")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path, help="a page whose table of packages is replaced")
    parser.add_argument("--captures", type=Path, help="only compare with recorded listings in this folder")
    options = parser.parse_args()
    wanted = [entry for entry in declared() if not options.only or any(t in name_of(entry) for t in options.only)]
    if options.captures:
        print(asyncio.run(compared(options.cache.resolve(), wanted, options.captures)))
        return
    text = table(asyncio.run(measured(options, wanted)))
    print(text)
    if options.page:
        write(options.page, text)


def declared() -> list[dict[str, Any]]:
    """The `packages` entries."""
    entries: list[dict[str, Any]] = json.loads(DECLARED.read_text("utf-8"))
    return entries


async def measured(options: argparse.Namespace, entries: Sequence[dict[str, Any]]) -> list[Row]:
    """A row for each entry in the order of their declaration, and those of others that the JSON file already has."""
    known = json.loads(options.json.read_text("utf-8")) if options.json and options.json.exists() else []
    rows = {row["package"]: Row(**row) for row in known}
    order = {name_of(entry): at for at, entry in enumerate(declared())}
    waiting = iter(entries)

    async def worker() -> None:
        for entry in waiting:
            async with fresh(shared) as (box, clock):
                row = rows[name_of(entry)] = await measure(box, clock, entry, options.warm)
            print(line(row), flush=True)
            if options.json:
                options.json.write_text(json.dumps([dataclasses.asdict(one) for one in rows.values()], indent=1) + "\n")

    shared = await opened(options.cache.resolve(), Clock())
    for entry in {entry["registryType"]: entry for entry in entries}.values():
        await shared.prepare(target_of(entry))  # it now knows which indexes are used
    async with asyncio.TaskGroup() as group:
        for _ in range(options.at_once):
            group.create_task(worker())
    return sorted((row for row in rows.values() if row.package in order), key=lambda row: order[row.package])


async def compared(cache: Path, entries: Sequence[Mapping[str, Any]], folder: Path) -> str:
    """The captured packages that list the same as before, and a table with a row for each other one."""
    box = await opened(cache, Clock())
    known = [(capture, captures.entry_of(capture, entries)) for capture in captures.load(folder)]
    rows = [await captures.compare(box, capture, entry) for capture, entry in known if entry]
    equal = [row.split(" | ")[0].removeprefix("| ") for row in rows if row.endswith("| equal |")]
    heads = ["| package | version | tools recorded | tools in the sandbox | differences |", "|---|---|--:|--:|---|"]
    others = [row for row in rows if not row.endswith("| equal |")]
    return "\n".join(
        [f"{len(equal)} packages list exactly what was recorded: {', '.join(equal)}.", "", *heads, *others, ""]
    )


@dataclass(slots=True)
class Clock:
    """The sandbox's clock, which a bench may set to another day."""

    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@contextlib.asynccontextmanager
async def fresh(shared: Sandbox, on_phase: Callable[[str], None] | None = None) -> AsyncIterator[tuple[Sandbox, Clock]]:
    """A sandbox over an empty cache that has the root file system, the slots and the indexes of `shared`."""
    own, clock = Path(tempfile.mkdtemp(dir=shared.cache_dir)), Clock()
    own.chmod(0o755)
    try:
        for part in ("rootfs", "tools", "slots"):
            (shared.cache_dir / part).mkdir(exist_ok=True)
            (own / part).symlink_to(shared.cache_dir / part)
        # Asking npm for its index takes longer than many an installation.
        yield await opened(own, clock, shared.indexes, on_phase), clock
    finally:
        await asyncio.to_thread(shutil.rmtree, own)


async def opened(
    cache: Path,
    clock: Clock,
    indexes: ConfiguredIndexes | None = None,
    on_phase: Callable[[str], None] | None = None,
) -> Sandbox:
    environ = dict(os.environ)
    box = await open_sandbox(cache, environ=environ, now=clock.now, indexes=indexes, on_phase=on_phase)
    assert isinstance(box, Sandbox), box
    return box


async def measure(box: Sandbox, clock: Clock, entry: Mapping[str, Any], warm_starts: int) -> Row:
    """Install cold and warm, start cold and as often as asked warm, list each time."""
    row = Row(package=name_of(entry), credentials=wants_credentials(entry))
    target = target_of(entry)
    cold, found = await prepared(box, target)
    if isinstance(found, Absent):
        return dataclasses.replace(row, reason=found.reason.value, detail=found.detail)
    clock.ahead += timedelta(days=1, minutes=1)
    warm, _ = await prepared(box, target) if warm_starts else (None, None)
    size = await asyncio.to_thread(forget, box.cache_dir / "layers")
    row = dataclasses.replace(
        row, version=found.version, install_cold=cold, install_warm=warm, layer_mib=round(size / (1 << 20), 1)
    )
    probes = [await probe_once(Stopwatch(box), target)]
    if probes[0].seconds is not None:
        probes += [await probe_once(Stopwatch(box), target) for _ in range(warm_starts)]
    return add_results(row, probes)


async def prepared(box: Sandbox, target: Target) -> tuple[float, Any]:
    """Seconds of an installation, and what was installed or why nothing was."""
    began = time.perf_counter()
    try:
        found = await box.prepare(target)
    except SandboxError as error:
        found = Absent(Reason.NO_SANDBOX, str(error))
    return round(time.perf_counter() - began, 2), found


def add_results(row: Row, probes: Sequence[ProbeResult]) -> Row:
    """The row with the results of the probes."""
    first, *later = probes
    warm = [one.seconds for one in later if one.seconds is not None]
    row = dataclasses.replace(
        row,
        start_cold=first.seconds and round(first.seconds, 2),
        start_warm=round(statistics.median(warm), 2) if warm else None,
        said=first.stderr_tail,
        given=first.given,
        same=len({one.content.digest for one in probes}) == 1 if later else None,
    )
    if isinstance(first.content, Absent):
        return dataclasses.replace(row, reason=first.content.reason.value, detail=first.content.detail)
    listed = Listing.parse(first.content.body)
    tools = listed.tools
    row = dataclasses.replace(row, dated=str(listed.installed.get("dependenciesOf") or ""))
    if tools.end != "complete":
        return dataclasses.replace(row, reason=f"tools/list: {tools.end}", detail=json.dumps(tools.error)[:300])
    return dataclasses.replace(row, tools=len(tools.items))


def name_of(entry: Mapping[str, Any]) -> str:
    """`npm:NAME` or `pypi:NAME`."""
    return f"{entry['registryType']}:{entry['identifier']}"


def wants_credentials(entry: Mapping[str, Any]) -> bool:
    """Whether a secret is declared."""
    inputs = [*entry.get("environmentVariables", []), *entry.get("packageArguments", [])]
    return any(one.get("isSecret") for one in inputs)


def forget(tree: Path) -> int:
    """Have the kernel drop the files of `tree` from memory; their bytes."""
    os.sync()  # only what is on the disk can be dropped
    size = 0
    for path in tree.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                size += os.fstat(file.fileno()).st_size
    return size


def line(row: Row) -> str:
    """A row of the table."""
    dated = f", with dependencies of {row.dated}" if row.dated else ""
    outcome = f"{row.tools}{dated}" if row.tools is not None else f"`{row.reason}`: {shorten(row.detail)}"
    cells = [
        f"`{row.package}`",
        row.version or "–",
        "yes" if row.credentials else "",
        outcome,
    ]
    return f"|{'|'.join(cells)}|"


def shorten(detail: str) -> str:
    """The end of an explanation, which names the cause, for a table cell."""
    cause = plain(detail).rpartition(": exit code 1: ")[2]
    return cause if len(cause) <= _LONGEST_CAUSE else f"{cause[:_LONGEST_CAUSE]}…"


def table(rows: Sequence[Row]) -> str:
    """All rows as Markdown, after a sentence that counts them."""
    listed = [row for row in rows if row.tools]
    locked = [row for row in rows if row.credentials]
    counted = (
        f"{len(rows)} packages, of which {len(locked)} declare credentials: **{len(listed)} list their tools** "
        f"({sum(row.credentials for row in listed)} of those with credentials)."
    )
    return "\n".join(
        [
            counted,
            "",
            "|package|version|credentials|tools, or why none|",
            "|---|---|---|---|",
            *map(line, rows),
            "",
        ]
    )


def write(page: Path, text: str) -> None:
    """Put a table between the marks on a page."""
    before, begin, rest = page.read_text("utf-8").partition("<!-- packages -->\n")
    _, end, after = rest.partition("<!-- end of packages -->")
    assert begin and end, f"{page} has no marks"
    page.write_text(f"{before}{begin}{text}{end}{after}", "utf-8")


if __name__ == "__main__":
    main()
