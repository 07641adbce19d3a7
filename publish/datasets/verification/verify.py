"""Verifies an untrusted snapshot: its files, its signature, and every score in it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import pyarrow as pa
from msgspec import Struct, field

from publish.datasets.format.columns import Columns, join_columns
from publish.datasets.format.methodology import is_current_code
from publish.datasets.format.table_files import EncodedBlock, ParquetDigest, encode_columns
from publish.datasets.format.tables import JSONL, PARQUET, TABLES, TABLES_BY_NAME, Table, table_file_name
from publish.datasets.snapshot.manifest import SCHEMA, Manifest
from publish.datasets.snapshot.minisign import PublicKey
from publish.datasets.snapshot.reader import OpenedSnapshot, UnreadableFile, open_snapshot
from publish.datasets.verification import confined_processes
from publish.datasets.verification.file_checks import check_files, check_methodology, check_signature
from publish.datasets.verification.format_equality import open_csv_files, open_parquet_files
from publish.datasets.verification.parquet_rows import find_unreadable_tables
from publish.datasets.verification.problems import Problem, ProblemKind, show_value
from publish.datasets.verification.published_rows import PublishedRows, RowParsers
from publish.datasets.verification.rescoring import ServerVerdicts, ServerVerifier

CHUNK: Final = 25
CHUNK_BYTES: Final = 32 * 2**20
"""Maximum servers, and bytes of their rows, in one chunk for a process."""

SMALL_SET: Final = 50
SMALL_BYTES: Final = 16 * 2**20
"""Maximum servers, and bytes of their rows, of a set that is judged in this process. They are one block of an export.
Judging hostile rows can take a thousand times as much memory, so it is limited as in a process for untrusted input."""

MAX_HELD_BYTES: Final = 512 * 2**20
"""Maximum bytes of rows that wait for verification."""

MAX_PROBLEMS: Final = 10_000
"""Maximum number of problems in a report; further ones are counted."""

ServerChunk: TypeAlias = Sequence[tuple[str, Mapping[str, bytes]]]
"""Servers, each with its lines of every table in one piece, which costs a process less than many."""
Result = TypeVar("Result")
ChunkResult: TypeAlias = tuple[ServerVerdicts, dict[str, EncodedBlock]]


class VerificationReport(Struct):
    """The result of a verification. `notes` say what could not be checked, and why."""

    manifest: Manifest
    judged: ServerVerdicts = field(default_factory=ServerVerdicts)
    signed: str = ""
    notes: list[str] = field(default_factory=list)
    more: int = 0

    @property
    def problems(self) -> list[Problem]:
        return self.judged.problems

    @property
    def code(self) -> int:
        """0 without problems, else the lowest code."""
        return min((int(problem.fault) for problem in self.problems), default=0)


def verify_snapshot(
    folder: Path,
    *,
    key: PublicKey | None = None,
    processes: int = 1,
    on_progress: Callable[[int], None] = lambda _servers: None,
) -> VerificationReport:
    """Verify a snapshot from its folder alone; raise NotASnapshot without a manifest.

    All problems are in the report, also if a table cannot be read to its end. `on_progress` gets the number of servers
    of each chunk. Input is parsed by `processes` with limited memory, a small set without faults in its rows in this
    process; 0 parses trusted input in this process.
    """
    opened = open_snapshot(folder)
    report = VerificationReport(opened.manifest)
    report.signed, wrong = check_signature(folder, key)
    report.problems.extend([wrong] if wrong else [])
    report.problems.extend(check_files(opened))
    if opened.manifest.schema.partition(".")[0] != SCHEMA.partition(".")[0]:
        report.notes.append(f"its schema is {opened.manifest.schema}; this code reads {SCHEMA}: only files are checked")
        return report
    report.problems.extend(check_methodology(opened))
    if opened.manifest.as_of is None:
        report.notes.append("the comparable form has no moment that scores stand for: they are not recomputed")
    elif not is_current_code(opened.manifest.pins):
        code = opened.manifest.pins.get("code", "unknown")
        report.notes.append(
            f"its scores were made by other rules than this code has (code {show_value(code)}): "
            "each is added up from its own lines; the code that made them recomputes them"
        )
    try:
        _judge_all(opened, report, processes, on_progress)
    except UnreadableFile as error:
        report.problems.append(_unreadable(error.name, error.why))
    return report


def verify_chunk(manifest: Manifest, chunk: ServerChunk) -> ChunkResult:
    """Verify some servers; return their rows as they must stand in the other files. Runs in a worker process."""
    judged = ServerVerdicts()
    columns: dict[str, list[Columns]] = {table.name: [] for table in TABLES}
    run, ours = str(manifest.run.get("id", "")), is_current_code(manifest.pins)
    verifier = ServerVerifier(run, manifest.as_of, ours) if manifest.as_of else None
    parsers = RowParsers(comparable=manifest.comparable)
    for _, lines in chunk:
        rows = PublishedRows(lines, parsers)
        judged.add(verifier.judge(rows) if verifier else ServerVerdicts(1))
        for name in rows:
            columns[name].append(rows.columns(name))
    return judged, _encode(manifest, columns)


def encode_chunk(manifest: Manifest, chunk: ServerChunk) -> dict[str, EncodedBlock]:
    """The rows of some servers as they must stand in the other files. Runs in a worker process."""
    columns: dict[str, list[Columns]] = {}
    parsers = RowParsers(comparable=manifest.comparable)
    for _, lines in chunk:
        rows = PublishedRows(lines, parsers)
        for name in rows:
            columns.setdefault(name, []).append(rows.columns(name))
    return _encode(manifest, columns)


def _encode(manifest: Manifest, columns: Mapping[str, Sequence[Columns]]) -> dict[str, EncodedBlock]:
    blocks: dict[str, EncodedBlock] = {}
    for name, some in columns.items():
        table = TABLES_BY_NAME[name]
        try:
            blocks[name] = encode_columns(table, join_columns(some), comparable=manifest.comparable, lines=False)
        except pa.ArrowInvalid as error:
            raise UnreadableFile(
                table_file_name(table, JSONL), f"values of the types of its columns expected: {error}"
            ) from error
    return blocks


def _judge_all(
    opened: OpenedSnapshot, report: VerificationReport, processes: int, on_progress: Callable[[int], None]
) -> None:
    manifest = opened.manifest
    rows = dict.fromkeys(TABLES_BY_NAME, 0)
    digests = {table.name: ParquetDigest(table, comparable=manifest.comparable) for table in TABLES}
    small = _judge_small_set(opened) if processes else None
    with ExitStack() as stack:
        files = stack.enter_context(open_csv_files(opened))
        chunks = [small] if small else _work_on(verify_chunk, _chunks(opened, TABLES), manifest, processes, stack)
        for judged, blocks in chunks:
            _keep(report, judged)
            for name, block in blocks.items():
                rows[name] += block.rows
                report.problems.extend(files.compare(TABLES_BY_NAME[name], block))
                digests[name].write(block.batch)
            on_progress(judged.servers)
        report.problems.extend(files.rest())
    report.problems.extend(_compare_parquet(opened, _find_other_parquet(report, digests), processes))
    for table in TABLES:
        declared = manifest.by_name.get(table_file_name(table, JSONL))
        if declared is not None and declared.rows != rows[table.name]:
            report.problems.append(
                Problem(
                    fault=ProblemKind.ROWS,
                    file=declared.name,
                    expected=f"{declared.rows} rows",
                    found=f"{rows[table.name]} rows",
                )
            )
    servers = manifest.counts.get("servers")
    if servers != report.judged.servers:
        found = f"{report.judged.servers} servers"
        report.problems.append(
            Problem(fault=ProblemKind.ROWS, file="manifest.json", expected=f"{servers} servers", found=found)
        )


def _judge_small_set(opened: OpenedSnapshot) -> ChunkResult | None:
    """The result for all servers of a small set; None for larger ones, and where a row cannot be read or judged."""
    chunk: list[tuple[str, Mapping[str, bytes]]] = []
    size = 0
    try:
        for some, more in _chunks(opened, TABLES):
            chunk += some
            size += more
            if len(chunk) > SMALL_SET or size > SMALL_BYTES:
                return None
        if not chunk:
            return None
        with confined_processes.start_confined_workers(0) as alone:
            return _result(alone.submit(_verify_in_limits, opened.manifest, chunk), _span(chunk))
    except UnreadableFile:
        return None


def _verify_in_limits(manifest: Manifest, chunk: ServerChunk) -> ChunkResult:
    with confined_processes.limit_memory():
        return verify_chunk(manifest, chunk)


def _find_other_parquet(report: VerificationReport, digests: Mapping[str, ParquetDigest]) -> list[Table]:
    """The tables whose Parquet file has other bytes than we write for their rows.

    A file without problems has the digest of the manifest, so an equal one needs neither proof nor reading.
    """
    changed = {problem.file for problem in report.problems}
    found: list[Table] = []
    for name, digest in digests.items():
        table = TABLES_BY_NAME[name]
        declared = report.manifest.by_name.get(table_file_name(table, PARQUET))
        sha256 = digest.finish().sha256
        if declared is None or declared.sha256 != sha256 or declared.name in changed:
            found.append(table)
    return found


def _compare_parquet(opened: OpenedSnapshot, tables: Sequence[Table], processes: int) -> Iterator[Problem]:
    """Differences between the rows and Parquet files with other bytes than ours, such as those of another pyarrow."""
    if not tables:
        return
    manifest = opened.manifest
    unproven = find_unreadable_tables(opened.folder, tables, comparable=manifest.comparable) if processes else {}
    with ExitStack() as stack:
        files = stack.enter_context(open_parquet_files(opened, tables, unproven))
        for blocks in _work_on(encode_chunk, _chunks(opened, tables), manifest, processes, stack):
            for name, block in blocks.items():
                yield from files.compare(TABLES_BY_NAME[name], block)
        yield from files.rest()


def _keep(report: VerificationReport, judged: ServerVerdicts) -> None:
    room = max(0, MAX_PROBLEMS - len(report.problems))
    report.more += max(0, len(judged.problems) - room)
    judged.problems = judged.problems[:room]
    report.judged.add(judged)


def _work_on(
    work: Callable[[Manifest, ServerChunk], Result],
    chunks: Iterator[tuple[ServerChunk, int]],
    manifest: Manifest,
    processes: int,
    stack: ExitStack,
) -> Iterator[Result]:
    """The results of all chunks in order, with a limited number of chunks in progress."""
    pool = stack.enter_context(confined_processes.start_confined_workers(processes, judging=True))
    waiting: deque[tuple[Future[Result], int, str]] = deque()
    held = 0
    try:
        for chunk, size in chunks:
            waiting.append((pool.submit(work, manifest, chunk), size, _span(chunk)))
            held += size
            while len(waiting) > 2 * max(processes, 1) or held > MAX_HELD_BYTES:
                future, done, span = waiting.popleft()
                held -= done
                yield _result(future, span)
        while waiting:
            future, _, span = waiting.popleft()
            yield _result(future, span)
    finally:
        for future, _, _ in waiting:
            future.cancel()


def _result(future: Future[Result], span: str) -> Result:
    """The result of a chunk; raise UnreadableFile if judging it failed."""
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, UnreadableFile) or not isinstance(error, Exception):
        raise error
    if isinstance(error, MemoryError | BrokenProcessPool):  # libraries in C die where there is no more memory
        raise UnreadableFile("the tables", f"judging {span} takes more memory than it may have") from error
    raise UnreadableFile("the tables", f"judging {span} ended with {type(error).__name__}: {error}") from error


def _span(chunk: ServerChunk) -> str:
    first, last = chunk[0][0], chunk[-1][0]
    return f"server {first}" if first == last else f"servers {first} to {last}"


def _chunks(opened: OpenedSnapshot, tables: Sequence[Table]) -> Iterator[tuple[ServerChunk, int]]:
    """The servers in chunks of limited number and size, each with its size in bytes."""
    chunk: list[tuple[str, Mapping[str, bytes]]] = []
    size = 0
    for server, lines in opened.servers(tables):
        chunk.append((server, {name: b"\n".join((*some, b"")) for name, some in lines.items()}))
        size += sum(map(len, chunk[-1][1].values()))
        if len(chunk) >= CHUNK or size >= CHUNK_BYTES:
            yield chunk, size
            chunk, size = [], 0
    if chunk:
        yield chunk, size


def _unreadable(name: str, why: str) -> Problem:
    return Problem(
        fault=ProblemKind.UNREADABLE, file=show_value(name), expected="rows that can be read", found=show_value(why)
    )
