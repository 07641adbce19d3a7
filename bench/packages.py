"""Well-known packages in the sandbox: which list their tools, why the others do not, and what that takes.

    python -m bench.packages [--cache DIR] [--only TEXT ...] [--at-once N] [--json FILE] [--table FILE]
    python -m bench.packages --captures DIR [--only TEXT ...]

The packages of `packages.json` are declared as in a registry entry, so that they get what any registered package gets.
An install is cold without downloads and warm with them; a start is cold while no file of the package is in memory. It
ends with the answer to `initialize`. `--captures` compares what each lists with recorded listings of that version.
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
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import captures
from bench.launching import Look, Stopwatch, look, plain, target_of
from crawler.wire.sandbox import Sandbox, open_sandbox
from crawler.wire.sandbox.layers import Installed
from evidence.kinds.listing import Listing
from evidence.model import Absent, Target

DECLARED = Path(__file__).with_name("packages.json")
WARM_STARTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What became of one package; times in seconds, None where it was not reached."""

    package: str
    credentials: bool
    version: str | None = None
    tools: int | None = None
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
    parser.add_argument("--json", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--captures", type=Path)
    options = parser.parse_args()
    wanted = [entry for entry in declared() if not options.only or any(t in entry["identifier"] for t in options.only)]
    if options.captures:
        asyncio.run(compared(options.cache.resolve(), wanted, options.captures))
        return
    rows = asyncio.run(measured(options.cache.resolve(), wanted, options.at_once, options.json))
    text = table(rows)
    print(text)
    if options.table:
        options.table.write_text(text)


def declared() -> list[dict[str, Any]]:
    """The `packages` entries."""
    entries: list[dict[str, Any]] = json.loads(DECLARED.read_text("utf-8"))
    return entries


async def measured(cache: Path, entries: Sequence[dict[str, Any]], at_once: int, kept: Path | None) -> list[Row]:
    """A row for each entry, in their order; written to `kept` as they come."""
    rows: dict[int, Row] = {}
    waiting = iter(enumerate(entries))

    async def worker() -> None:
        async with fresh(cache, entries) as box:
            for at, entry in waiting:
                rows[at] = await measure(box, entry)
                print(line(rows[at]), flush=True)
                if kept:
                    kept.write_text(json.dumps([dataclasses.asdict(rows[at]) for at in sorted(rows)], indent=1) + "\n")

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(worker())
    return [rows[at] for at in sorted(rows)]


async def compared(cache: Path, entries: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Print a row for each capture of one of the entries' packages."""
    box = await opened(cache)
    print("| package | version | tools recorded | tools in the sandbox | differences |\n|---|---|--:|--:|---|")
    for capture in captures.load(folder):
        if entry := captures.entry_of(capture, entries):
            print(await captures.compare(box, capture, entry), flush=True)


@contextlib.asynccontextmanager
async def fresh(cache: Path, entries: Sequence[dict[str, Any]]) -> AsyncIterator[Sandbox]:
    """A sandbox over a cache of its own that shares the root file system, and has asked which indexes are used."""
    (cache / "slots").mkdir(parents=True, exist_ok=True)
    await opened(cache)
    own = Path(tempfile.mkdtemp(dir=cache))
    own.chmod(0o755)
    try:
        for part in ("rootfs", "tools", "slots"):
            (own / part).symlink_to(cache / part)
        box = await opened(own)
        for ecosystem in ("npm", "pypi"):
            if first := next((entry for entry in entries if entry["registryType"] == ecosystem), None):
                await box.prepare(target_of(first))
        yield box
    finally:
        shutil.rmtree(own)


async def opened(cache: Path) -> Sandbox:
    box = await open_sandbox(cache, environ=dict(os.environ), now=lambda: datetime.now(UTC))
    assert isinstance(box, Sandbox), box
    return box


async def measure(box: Sandbox, entry: Mapping[str, Any]) -> Row:
    """Install twice, start until there are enough warm starts, list each time."""
    row = Row(package=f"{entry['registryType']}:{entry['identifier']}", credentials=wants_credentials(entry))
    target = target_of(entry)
    cold, _ = await installed(box, target, "layers", "index", "downloads")
    warm, found = await installed(box, target, "layers", "index")
    if isinstance(found, Absent):
        return dataclasses.replace(row, reason=found.reason.value, detail=found.detail)
    tree = box.installer.store.tree(found.layer)
    row = dataclasses.replace(
        row,
        version=found.version,
        install_cold=cold,
        install_warm=warm,
        layer_mib=round(await asyncio.to_thread(forget, tree) / (1 << 20), 1),
    )
    looks = [await look(Stopwatch(box), target)]
    if looks[0].seconds is not None:
        looks += [await look(Stopwatch(box), target) for _ in range(WARM_STARTS)]
    return summed(row, looks)


async def installed(box: Sandbox, target: Target, *removed: str) -> tuple[float, Installed | Absent]:
    """Seconds of an installation without those parts of the cache, and what was installed."""
    for part in removed:
        shutil.rmtree(box.cache_dir / part, ignore_errors=True)
    began = time.perf_counter()
    found = await box.prepare(target)
    return round(time.perf_counter() - began, 2), found


def summed(row: Row, looks: Sequence[Look]) -> Row:
    """The row with what the looks at the server found."""
    first, *later = looks
    warm = [one.seconds for one in later if one.seconds is not None]
    row = dataclasses.replace(
        row,
        start_cold=first.seconds and round(first.seconds, 2),
        start_warm=round(statistics.median(warm), 2) if warm else None,
        said=first.said,
        given=first.given,
        same=len({one.content.digest for one in looks}) == 1 if later else None,
    )
    if isinstance(first.content, Absent):
        return dataclasses.replace(row, reason=first.content.reason.value, detail=first.content.detail)
    tools = Listing.parse(first.content.body).tools
    if tools.end != "complete":
        return dataclasses.replace(row, reason=f"tools/list: {tools.end}", detail=json.dumps(tools.error)[:300])
    return dataclasses.replace(row, tools=len(tools.items))


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
    outcome = f"{row.tools} tools" if row.tools is not None else f"`{row.reason}`: {plain(row.detail)}"
    times = (row.install_cold, row.install_warm, row.start_cold, row.start_warm)
    cells = [
        f"`{row.package}`",
        row.version or "–",
        "yes" if row.credentials else "",
        outcome,
        *(f"{t:.2f}" if t is not None else "–" for t in times),
    ]
    return "| " + " | ".join(cells) + " |"


def table(rows: Sequence[Row]) -> str:
    """All rows as Markdown, after a sentence that counts them."""
    listed = [row for row in rows if row.tools is not None]
    locked = [row for row in rows if row.credentials]
    counted = (
        f"{len(rows)} packages, of which {len(locked)} declare credentials: **{len(listed)} list their tools** "
        f"({sum(row.credentials for row in listed)} of those with credentials)."
    )
    return "\n".join(
        [
            counted,
            "",
            "| package | version | credentials | outcome | install cold, s | warm | start cold, s | warm |",
            "|---|---|---|---|--:|--:|--:|--:|",
            *map(line, rows),
            "",
        ]
    )


if __name__ == "__main__":
    main()
