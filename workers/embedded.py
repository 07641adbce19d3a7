"""A whole run in this process: discover, collect, score, publish, one after the other."""

from __future__ import annotations

import asyncio
import fcntl
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from evidence.kinds import listing
from evidence.model import Run, Trigger
from evidence.store import RunProgress as StoredProgress
from evidence.store import RunRow, RunState, Stage
from workers import pipeline
from workers.concurrency import Halt, run_unless_halted
from workers.context import Context
from workers.log import bind_log_context
from workers.progress import NoDisplay, ProgressDisplay, StageCounter, StageName
from workers.runs.options import RunOptions
from workers.stages.discovery import RegistryProgress


class RunAlreadyActive(Exception):
    """Another process is running on the same home folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What became of a run. `hint` says what to do next when it is not complete."""

    run: Run
    resumed: bool
    interrupted: bool
    published: bool
    planned: int
    collected: int
    scored: int
    seconds: float
    walks: Sequence[RegistryProgress] = ()
    absent: Mapping[str, int] = field(default_factory=dict)
    hint: str = ""

    @property
    def failed(self) -> int:
        """Servers that were looked at and could not be scored: a bug of ours."""
        return self.collected - self.scored if not self.interrupted else 0

    @property
    def ok(self) -> bool:
        """Everything that was planned is scored and published, and every registry could be read."""
        return self.published and self.failed == 0 and not any(walk.error for walk in self.walks)


async def run_embedded(ctx: Context, options: RunOptions, progress: ProgressDisplay | None = None) -> RunResult:
    """Run the pipeline to its end, or resume the unfinished run with the same options unless they say `fresh`.

    Ctrl-C (or SIGTERM) stops it within `settings.stop_grace` seconds with everything finished stored; the result says
    how to go on. After a kill the same call goes on as well: what was stored in a transaction is never done again.
    """
    with _alone(ctx.settings.home), _interruptible() as halt:
        began = ctx.clock.monotonic()
        await ctx.outside.registries(options.registries)  # an unknown source is an error before a run exists
        current, resumed = await asyncio.to_thread(_start, ctx, options)
        walks, published = await _steps(ctx, current, progress or NoDisplay(), halt)
        state = await asyncio.to_thread(ctx.store.read_progress, current.id)
        return _result(
            current,
            state,
            walks,
            resumed=resumed,
            interrupted=halt.is_set(),
            published=published,
            seconds=ctx.clock.monotonic() - began,
        )


async def _steps(ctx: Context, run: Run, progress: ProgressDisplay, halt: Halt) -> tuple[list[RegistryProgress], bool]:
    """Every step in turn; what is already done costs one query. Ends early when `halt` is set."""
    walks = await _discover(ctx, run, progress, halt)
    if halt.is_set():
        return walks, False
    if not (await asyncio.to_thread(ctx.store.read_progress, run.id)).planned:
        # Nothing to resume: the next call has to walk again.
        await asyncio.to_thread(ctx.store.set_run_state, run.id, RunState.ABANDONED, ctx.clock.wall())
        return walks, False
    await _collect(ctx, run, progress, halt)
    if halt.is_set():
        return walks, False
    await _score(ctx, run, progress, halt)
    if halt.is_set():
        return walks, False
    return walks, await _publish(ctx, run, progress)


async def _discover(ctx: Context, run: Run, progress: ProgressDisplay, halt: Halt) -> list[RegistryProgress]:
    tally = StageCounter(progress, ctx.clock, "discover", None)
    walking = pipeline.discover(ctx, run, halt=halt, tally=tally)
    return await run_unless_halted(walking, halt, ctx.settings.stop_grace) or []


async def _collect(ctx: Context, run: Run, progress: ProgressDisplay, halt: Halt) -> None:
    waiting = await asyncio.to_thread(ctx.store.list_pending_servers, run.id, Stage.COLLECT)
    tally = await _tally(ctx, run, progress, "collect", len(waiting))
    with bind_log_context(run=run.id, stage=Stage.COLLECT.value):
        await pipeline.collect(ctx, run, waiting, halt=halt, tally=tally)
    pause = ctx.settings.local_retry_after.total_seconds()
    if (
        pause
        and (again := await asyncio.to_thread(ctx.store.list_pending_servers, run.id, Stage.COLLECT))
        and not halt.is_set()
    ):
        tally.show(f"{len(again)} servers failed in passing and are looked at again in {pause:.0f} s")
        await run_unless_halted(asyncio.sleep(pause), halt, 0)
        if not halt.is_set():
            await pipeline.collect(ctx, run, again, halt=halt, tally=tally)


async def _score(ctx: Context, run: Run, progress: ProgressDisplay, halt: Halt) -> None:
    waiting = await asyncio.to_thread(ctx.store.list_pending_servers, run.id, Stage.SCORE)
    tally = await _tally(ctx, run, progress, "score", len(waiting))
    with bind_log_context(run=run.id, stage=Stage.SCORE.value):
        await pipeline.score(ctx, run, waiting, halt=halt, tally=tally)


async def _publish(ctx: Context, run: Run, progress: ProgressDisplay) -> bool:
    tally = StageCounter(progress, ctx.clock, "publish", 1)
    try:
        await pipeline.publish(ctx, run)
    except pipeline.NotPublishable as error:
        ctx.log.error("run_not_publishable", run=run.id)
        tally.add(failed=1, note=str(error))
        return False
    tally.add(1)
    return True


async def _tally(ctx: Context, run: Run, progress: ProgressDisplay, stage: StageName, waiting: int) -> StageCounter:
    state = await asyncio.to_thread(ctx.store.read_progress, run.id)
    absent = _absent_listings(state) if stage == "collect" else None
    return StageCounter(progress, ctx.clock, stage, state.planned, resumed=state.planned - waiting, absent=absent)


def _absent_listings(state: StoredProgress) -> dict[str, int]:
    return {reason: count for (kind, reason), count in state.absent.items() if kind == listing.KIND}


def _start(ctx: Context, options: RunOptions) -> tuple[Run, bool]:
    """The run to work on, and whether it is an unfinished one."""
    unfinished = [row for row in ctx.store.list_unfinished_runs(Trigger.LOCAL) if _is_resumable(ctx, row, options)]
    if unfinished and not options.fresh:
        ctx.log.info("run_resumed", run=unfinished[0].run.id)
        return unfinished[0].run, True
    for row in unfinished:
        ctx.store.set_run_state(row.run.id, RunState.ABANDONED, ctx.clock.wall())
    started = pipeline.start_run(ctx, Trigger.LOCAL, options)
    ctx.log.info("run_started", run=started.id)
    return started, False


def _is_resumable(ctx: Context, row: RunRow, options: RunOptions) -> bool:
    """The same question, asked by the same code, less than a deadline ago."""
    same = dict(row.options) == options.to_json() and dict(row.run.pins) == dict(ctx.pins)
    return same and ctx.clock.now() - row.run.as_of < ctx.settings.run_deadline


def _result(
    run: Run,
    state: StoredProgress,
    walks: Sequence[RegistryProgress],
    *,
    resumed: bool,
    interrupted: bool,
    published: bool,
    seconds: float,
) -> RunResult:
    collected, scored = state.done.get(Stage.COLLECT, 0), state.done.get(Stage.SCORE, 0)
    hint = ""
    if interrupted:
        hint = "The same command resumes this run; add --fresh to start a new one."
    elif state.planned == 0:
        hint = "No server was found. Check --registry and --only, and whether the registry can be reached."
    elif not published:
        hint = "Some servers could not be scored, which is a bug of Hallmark: the log says where."
    return RunResult(
        run=run,
        resumed=resumed,
        interrupted=interrupted,
        published=published,
        planned=state.planned,
        collected=collected,
        scored=scored,
        seconds=seconds,
        walks=walks,
        absent=_absent_listings(state),
        hint=hint,
    )


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Hold the home folder's lock, which the kernel frees however this process ends."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "run.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunAlreadyActive(
                f"another `hallmark run` is working in {home}: wait for it, or set HALLMARK_HOME to another folder"
            ) from error
        yield


@contextmanager
def _interruptible() -> Iterator[Halt]:
    """An event that SIGINT and SIGTERM set; a second SIGINT ends the process in Python's own way."""
    halt, loop = Halt(), asyncio.get_running_loop()

    def stop() -> None:
        halt.set()
        loop.remove_signal_handler(signal.SIGINT)

    handled: list[signal.Signals] = []
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
            handled.append(number)
    except (ValueError, RuntimeError, NotImplementedError):
        pass  # not in the main thread: the caller decides about signals
    try:
        yield halt
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
