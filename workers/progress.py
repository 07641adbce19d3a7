"""Progress of a run, as the pipeline reports it to observers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct, field

from workers.clock import Clock

StageName: TypeAlias = Literal["discover", "collect", "score", "publish"]


class StageStatus(Struct, frozen=True, kw_only=True):
    """The progress of one stage.

    `done` of `planned` (None while unknown) servers are finished, `resumed` of them before this process started. `rate`
    is servers per second of this process and `eta` the remaining seconds, both None until one server is finished.
    `absent` counts absent `listing` records by reason; `failed` counts servers whose step raised.
    """

    stage: StageName
    done: int
    planned: int | None
    resumed: int = 0
    rate: float | None = None
    eta: float | None = None
    absent: Mapping[str, int] = field(default_factory=dict)
    failed: int = 0
    note: str = ""


class ProgressDisplay(Protocol):
    """Displays progress. `show` is called often, from the event loop's thread, and must not block."""

    def show(self, status: StageStatus) -> None: ...


class NoDisplay:
    """A progress display without output."""

    def show(self, status: StageStatus) -> None: ...


class StageCounter:
    """Counts the progress of one stage and shows every change."""

    def __init__(
        self,
        progress: ProgressDisplay,
        clock: Clock,
        stage: StageName,
        planned: int | None,
        *,
        resumed: int = 0,
        absent: Mapping[str, int] | None = None,
    ) -> None:
        self._progress = progress
        self._clock = clock
        self._stage: StageName = stage
        self._planned = planned
        self._resumed = resumed
        self._began = clock.monotonic()
        self._done = 0
        self._failed = 0
        self._absent: Counter[str] = Counter(absent or {})
        self.show()

    @property
    def failed(self) -> int:
        return self._failed

    def add(self, done: int = 0, *, absent: Mapping[str, int] | None = None, failed: int = 0, note: str = "") -> None:
        self._done += done
        self._failed += failed
        self._absent.update(absent or {})
        self.show(note)

    def show(self, note: str = "") -> None:
        rate = self._rate()
        left = None if self._planned is None else max(0, self._planned - self._resumed - self._done)
        self._progress.show(
            StageStatus(
                stage=self._stage,
                done=self._resumed + self._done,
                planned=self._planned,
                resumed=self._resumed,
                rate=rate,
                eta=None if rate is None or left is None else left / rate,
                absent=dict(self._absent),
                failed=self._failed,
                note=note,
            )
        )

    def _rate(self) -> float | None:
        passed = self._clock.monotonic() - self._began
        return self._done / passed if self._done and passed > 0 else None
