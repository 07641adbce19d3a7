"""Checking a snapshot without trusting whoever made it: its files, its signature, and every score in it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import pyarrow as pa

from publish.datasets import confined
from publish.datasets.checking import check_files, check_methodology, check_signature
from publish.datasets.equality import Forms
from publish.datasets.files import Block, block_of
from publish.datasets.judging import Bench, Judged
from publish.datasets.manifest import SCHEMA, Manifest
from publish.datasets.methodology import is_ours
from publish.datasets.minisign import PublicKey
from publish.datasets.problems import Fault, Problem, shown
from publish.datasets.proving import unproven
from publish.datasets.reading import Lines, Opened, Unreadable, open_snapshot, parsed
from publish.datasets.tables import BY_NAME, JSONL, TABLES, file_name

CHUNK: Final = 25
CHUNK_BYTES: Final = 32 * 2**20
"""Servers that a process judges at a time, and bytes of their rows."""

HELD_BYTES: Final = 512 * 2**20
"""Bytes of rows that wait to be judged before the next are read."""

MOST_PROBLEMS: Final = 10_000
"""Problems that are kept; more are only counted."""

Chunk: TypeAlias = Sequence[tuple[str, Mapping[str, Lines]]]


@dataclass(slots=True)
class Report:
    """What came of checking a snapshot. `notes` say what could not be checked, and why."""

    manifest: Manifest
    judged: Judged = field(default_factory=Judged)
    signed: str = ""
    notes: list[str] = field(default_factory=list)
    more: int = 0

    @property
    def problems(self) -> list[Problem]:
        """Everything that is wrong."""
        return self.judged.problems

    @property
    def code(self) -> int:
        """0 when nothing is wrong, else the lowest code of what is."""
        return min((int(problem.fault) for problem in self.problems), default=0)


def verify(
    folder: Path,
    *,
    key: PublicKey | None = None,
    processes: int = 1,
    told: Callable[[int], None] = lambda _servers: None,
) -> Report:
    """Check a snapshot from nothing but its folder; raise NotASnapshot when there is no manifest to begin with.

    Every problem is in the report, also when a table cannot be read to its end. `told` hears how many servers are done.
    What a stranger may have made is parsed by `processes` of bounded memory; 0 does it here, for what is our own.
    """
    opened = open_snapshot(folder)
    report = Report(opened.manifest)
    report.signed, wrong = check_signature(folder, key)
    report.problems.extend([wrong] if wrong else [])
    report.problems.extend(check_files(opened))
    if opened.manifest.schema.partition(".")[0] != SCHEMA.partition(".")[0]:
        report.notes.append(f"its schema is {opened.manifest.schema}; this code reads {SCHEMA}: only files are checked")
        return report
    report.problems.extend(check_methodology(opened))
    if opened.manifest.as_of is None:
        report.notes.append("the comparable form has no moment that scores stand for: they are not recomputed")
    elif not is_ours(opened.manifest.pins):
        code = opened.manifest.pins.get("code", "unknown")
        report.notes.append(
            f"its scores were made by other rules than this code has (code {shown(code)}): each is added up from its "
            "own lines; the code that made them recomputes them"
        )
    try:
        _judge_all(opened, report, processes, told)
    except Unreadable as error:
        report.problems.append(_unreadable(error.name, error.why))
    return report


def judge_chunk(manifest: Manifest, chunk: Chunk) -> tuple[Judged, dict[str, Block]]:
    """What came of some servers, and their rows as they should stand in the other files. Runs in a process."""
    judged = Judged()
    rows: dict[str, list[Mapping[str, object]]] = {table.name: [] for table in TABLES}
    bench = Bench(manifest.as_of, is_ours(manifest.pins)) if manifest.as_of else None
    for _, lines in chunk:
        found = {
            name: [parsed(BY_NAME[name], line, comparable=manifest.comparable) for line in some]
            for name, some in lines.items()
        }
        for name, some in found.items():
            rows[name] += some
        judged.add(bench.judge(found) if bench else Judged(1))
    blocks: dict[str, Block] = {}
    for table in TABLES:
        try:
            blocks[table.name] = block_of(table, rows[table.name], comparable=manifest.comparable, lines=False)
        except pa.ArrowInvalid as error:
            raise Unreadable(
                file_name(table, JSONL), f"values of the types of its columns expected: {error}"
            ) from error
    return judged, blocks


def _judge_all(opened: Opened, report: Report, processes: int, told: Callable[[int], None]) -> None:
    manifest = opened.manifest
    rows = dict.fromkeys(BY_NAME, 0)
    with ExitStack() as stack:
        forms = stack.enter_context(Forms(opened, _unproven(opened) if processes else {}))
        for judged, blocks in _judged(opened, processes, stack):
            _keep(report, judged)
            for name, block in blocks.items():
                rows[name] += block.rows
                report.problems.extend(forms.compare(BY_NAME[name], block))
            told(judged.servers)
        report.problems.extend(forms.rest())
    for table in TABLES:
        declared = manifest.by_name.get(file_name(table, JSONL))
        if declared is not None and declared.rows != rows[table.name]:
            report.problems.append(
                Problem(
                    fault=Fault.ROWS,
                    file=declared.name,
                    expected=f"{declared.rows} rows",
                    found=f"{rows[table.name]} rows",
                )
            )
    servers = manifest.counts.get("servers")
    if servers != report.judged.servers:
        found = f"{report.judged.servers} servers"
        report.problems.append(
            Problem(fault=Fault.ROWS, file="manifest.json", expected=f"{servers} servers", found=found)
        )


def _unproven(opened: Opened) -> Mapping[str, str]:
    return unproven(opened.folder, TABLES, comparable=opened.manifest.comparable)


def _keep(report: Report, judged: Judged) -> None:
    room = max(0, MOST_PROBLEMS - len(report.problems))
    report.more += max(0, len(judged.problems) - room)
    judged.problems = judged.problems[:room]
    report.judged.add(judged)


def _judged(opened: Opened, processes: int, stack: ExitStack) -> Iterator[tuple[Judged, dict[str, Block]]]:
    """What came of each chunk, in their order, with few of them on the way at a time."""
    pool = stack.enter_context(confined.workers(processes))
    waiting: deque[tuple[Future[tuple[Judged, dict[str, Block]]], int, str]] = deque()
    held = 0
    try:
        for chunk, size in _chunks(opened):
            waiting.append((pool.submit(judge_chunk, opened.manifest, chunk), size, _span(chunk)))
            held += size
            while len(waiting) > 2 * max(processes, 1) or held > HELD_BYTES:
                future, done, span = waiting.popleft()
                held -= done
                yield _result(future, span)
        while waiting:
            future, _, span = waiting.popleft()
            yield _result(future, span)
    finally:
        for future, _, _ in waiting:
            future.cancel()


def _result(future: Future[tuple[Judged, dict[str, Block]]], span: str) -> tuple[Judged, dict[str, Block]]:
    """What came of a chunk. What a stranger wrote and no rule can take ends the checking with a message."""
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, Unreadable) or not isinstance(error, Exception):
        raise error
    if isinstance(error, MemoryError | BrokenProcessPool):  # libraries in C die where there is no more memory
        raise Unreadable("the tables", f"judging {span} takes more memory than it may have") from error
    raise Unreadable("the tables", f"judging {span} ended with {type(error).__name__}: {error}") from error


def _span(chunk: Chunk) -> str:
    first, last = chunk[0][0], chunk[-1][0]
    return f"server {first}" if first == last else f"servers {first} to {last}"


def _chunks(opened: Opened) -> Iterator[tuple[Chunk, int]]:
    """The servers in groups that are small, in number and in bytes, with their bytes."""
    chunk: list[tuple[str, Mapping[str, Lines]]] = []
    size = 0
    for server, lines in opened.servers(TABLES):
        chunk.append((server, lines))
        size += sum(len(line) for some in lines.values() for line in some)
        if len(chunk) >= CHUNK or size >= CHUNK_BYTES:
            yield chunk, size
            chunk, size = [], 0
    if chunk:
        yield chunk, size


def _unreadable(name: str, why: str) -> Problem:
    return Problem(fault=Fault.UNREADABLE, file=shown(name), expected="rows that can be read", found=shown(why))
