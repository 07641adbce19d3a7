"""A whole run in this process: discover, collect, score and publish, one after the other."""

from __future__ import annotations

import asyncio
import fcntl
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct, field

from evidence.kinds import listing
from evidence.model import Run, Trigger
from evidence.store import RunProgress as StoredProgress
from evidence.store import RunRow, RunState, Stage
from publish.views.outages import describe_outage
from workers import pipeline
from workers.concurrency import Halt, run_unless_halted
from workers.context import Context
from workers.log import bind_log_context
from workers.progress import NoDisplay, ProgressDisplay, StageCounter, StageName
from workers.runs.options import RunOptions
from workers.stages.discovery import RegistryProgress


class RunAlreadyActive(Exception):
    """Another process is running on the same home folder."""


class RunResult(Struct, frozen=True, kw_only=True):
    """The result of a run. `hint` says what to do next when the run is not complete.

    `outage` says what was not collected because this machine was offline.
    """

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
    outage: str = ""
    hint: str = ""

    @property
    def failed(self) -> int:
        """Servers that were collected and could not be scored: a bug of Hallmark."""
        return self.collected - self.scored if not self.interrupted else 0

    @property
    def ok(self) -> bool:
        """True when every planned server is scored, the run is published, and every registry could be read."""
        return self.published and self.failed == 0 and not any(walk.error for walk in self.walks)


async def run_embedded(ctx: Context, options: RunOptions, progress: ProgressDisplay | None = None) -> RunResult:
    """Run the pipeline to its end; resume the unfinished run with the same options unless they say `fresh`.

    SIGINT or SIGTERM stops it within `settings.stop_grace` seconds; finished work is stored, and the result says how
    to resume. After a kill the same call resumes too: stored work is never repeated.
    """
    with _lock_home(ctx.settings.home), _interruptible() as halt:
        began = ctx.clock.monotonic()
        await ctx.wiring.registries(options.registries)  # an unknown source is an error before a run exists
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
    """Run every step in turn, until `halt` is set; a step that is already done costs one query."""
    walks = await _discover(ctx, run, progress, halt)
    if halt.is_set():
        return walks, False
    if not (await asyncio.to_thread(ctx.store.read_progress, run.id)).planned:
        # Without planned servers there is nothing to resume; the next call walks the registries again.
        await asyncio.to_thread(ctx.store.set_run_state, run.id, RunState.ABANDONED, ctx.clock.wall())
        return walks, False
    await _collect(ctx, run, progress, halt)
    if halt.is_set():
        return walks, False
    await _score(ctx, run, progress, halt)
    if halt.is_set():
        return walks, False
    return walks, await _publish(ctx, run, progress, halt)


async def _discover(ctx: Context, run: Run, progress: ProgressDisplay, halt: Halt) -> list[RegistryProgress]:
    counter = StageCounter(progress, ctx.clock, "discover", None)
    discovery = pipeline.discover(ctx, run, halt=halt, counter=counter)
    return await run_unless_halted(discovery, halt, ctx.settings.stop_grace) or []


async def _collect(ctx: Context, run: Run, progress: ProgressDisplay, halt: Halt) -> None:
    waiting = await asyncio.to_thread(ctx.store.list_pending_servers, run.id, Stage.COLLECT)
    counter = await _tally(ctx, run, progress, "collect", len(waiting))
    with bind_log_context(run=run.id, stage=Stage.COLLECT.value):
        await pipeline.collect(ctx, run, waiting, halt=halt, counter=counter)
    pause = ctx.settings.local_retry_after.total_seconds()
    if (
        pause
        and (failed := await asyncio.to_thread(ctx.store.list_pending_servers, run.id, Stage.COLLECT))
        and not halt.is_set()
    ):
        counter.show(f"{len(failed)} servers had a transient failure and are tried again in {pause:.0f} s")
        await run_unless_halted(asyncio.sleep(pause), halt, 0)
        if not halt.is_set():
            await pipeline.collect(ctx, run, failed, halt=halt, counter=counter)


async def _score(ctx: Context, run: Run, progress: ProgressDisplay, halt: Halt) -> None:
    waiting = await asyncio.to_thread(ctx.store.list_pending_servers, run.id, Stage.SCORE)
    counter = await _tally(ctx, run, progress, "score", len(waiting))
    with bind_log_context(run=run.id, stage=Stage.SCORE.value):
        await pipeline.score(ctx, run, waiting, halt=halt, counter=counter)


async def _publish(ctx: Context, run: Run, progress: ProgressDisplay, halt: Halt) -> bool:
    counter = StageCounter(progress, ctx.clock, "publish", 1)
    try:
        published = await pipeline.publish(ctx, run, halt=halt)
    except pipeline.NotPublishable as error:
        ctx.log.error("run_not_publishable", run=run.id)
        counter.add(failed=1, note=str(error))
        return False
    counter.add(int(published))
    return published


async def _tally(ctx: Context, run: Run, progress: ProgressDisplay, stage: StageName, waiting: int) -> StageCounter:
    state = await asyncio.to_thread(ctx.store.read_progress, run.id)
    absent = _absent_listings(state) if stage == "collect" else None
    return StageCounter(progress, ctx.clock, stage, state.planned, resumed=state.planned - waiting, absent=absent)


def _absent_listings(state: StoredProgress) -> dict[str, int]:
    return {reason: count for (kind, reason), count in state.absent.items() if kind == listing.KIND}


def _start(ctx: Context, options: RunOptions) -> tuple[Run, bool]:
    """The run to work on, and whether it is resumed."""
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
    """True when a run has the same options and pins and is younger than the run deadline."""
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
        outage=describe_outage(state.absent),
        hint=hint,
    )


@contextmanager
def _lock_home(home: Path) -> Iterator[None]:
    """Hold the lock of the home folder; the kernel releases it when this process ends in any way."""
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
    """Yield an event that SIGINT and SIGTERM set; a second SIGINT raises KeyboardInterrupt."""
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
