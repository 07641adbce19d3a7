"""Combines one question about each of many repositories into few queries, smaller ones after one was too heavy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Generic, TypeAlias, TypeVar

from crawler.collectors.repository.api.responses import (
    CollectionPrevented,
    GitHubTimedOut,
    GitHubUnreachable,
    RepositoryGone,
)
from crawler.http.deadlines import isolate_shared_work, pause_deadline

T = TypeVar("T")

BATCH_SIZE: Final = 20
BATCH_WAIT: Final = 2.0  # seconds
FORGET_AFTER: Final = 16
"""Answered queries after which one of the size that was too heavy is tried again."""


class QueryTooHeavy(Exception):
    """The query asked for more than GitHub answers at once."""


Answers: TypeAlias = Mapping[str, T | RepositoryGone | CollectionPrevented]
Ask: TypeAlias = Callable[[Sequence[str]], Awaitable[Answers[T]]]


class Batcher(Generic[T]):
    """Gathers names until a query is full, no further question is announced, or the first has waited `linger`.

    `ask` answers for every given name, or raises QueryTooHeavy, GitHubTimedOut or another CollectionPrevented for all
    of them. `pause` waits so many seconds.
    """

    def __init__(
        self,
        ask: Ask[T],
        pause: Callable[[float], Awaitable[None]],
        *,
        size: int = BATCH_SIZE,
        linger: float = BATCH_WAIT,
    ) -> None:
        self._ask = ask
        self._pause = pause
        self._full = size
        self._size = size
        self._largest = size
        self._answered = 0
        self._linger = linger
        self._announced = 0
        self._waiting: dict[str, asyncio.Future[T]] = {}
        self._timer: asyncio.Task[None] | None = None
        self._sent: set[asyncio.Task[None]] = set()

    @property
    def size(self) -> int:
        """The number of repositories in the next full query: fewer after one was too heavy, then more again."""
        return self._size

    @contextmanager
    def announce(self) -> Iterator[Callable[[str], Awaitable[T]]]:
        """Announce a possible question; yields the function that asks it, which raises the failure of the name."""
        self._announced += 1
        withdrawn = False

        def withdraw() -> None:
            nonlocal withdrawn
            if not withdrawn:
                withdrawn = True
                self._announced -= 1
                self._check_batch()

        async def ask(name: str) -> T:
            answer = self._waiting.get(name)
            if answer is None:
                answer = self._waiting[name] = asyncio.get_running_loop().create_future()
                answer.add_done_callback(_retrieve_exception)
            withdraw()
            with pause_deadline():
                return await asyncio.shield(answer)

        try:
            yield ask
        finally:
            withdraw()

    def _check_batch(self) -> None:
        if not self._waiting:
            return
        if len(self._waiting) >= self._size:
            self._send_batch()
        elif not self._announced:
            # Requests of the same event loop iteration join the batch.
            asyncio.get_running_loop().call_soon(self._send_if_complete, context=isolate_shared_work())
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().create_task(self._wait(), context=isolate_shared_work())

    def _send_if_complete(self) -> None:
        if not self._announced:
            self._send_batch()

    async def _wait(self) -> None:
        await self._pause(self._linger)
        self._timer = None
        self._send_batch()

    def _send_batch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        names = list(self._waiting)[: self._size]
        futures = {name: self._waiting.pop(name) for name in names}
        if futures:
            # A shared task must not end at the deadline of the caller that completed the batch.
            task = asyncio.get_running_loop().create_task(self._answer(futures), context=isolate_shared_work())
            self._sent.add(task)
            task.add_done_callback(self._sent.discard)
            task.add_done_callback(_retrieve_exception)
            self._check_batch()

    async def _answer(self, futures: Mapping[str, asyncio.Future[T]]) -> None:
        try:
            answers = await self._read(tuple(futures))
        except BaseException as error:
            for future in futures.values():
                if not future.done():
                    future.set_exception(error) if isinstance(error, Exception) else future.cancel()
            raise
        for name, future in futures.items():
            answer = answers.get(name)
            if future.done():
                continue
            if isinstance(answer, RepositoryGone | CollectionPrevented):
                future.set_exception(answer)
            elif answer is None:
                future.set_exception(GitHubUnreachable("GitHub left the repository out of its answer"))
            else:
                future.set_result(answer)

    async def _read(self, names: Sequence[str]) -> Answers[T]:
        answers: dict[str, T | RepositoryGone | CollectionPrevented] = {}
        waiting = list(names)
        while waiting:
            part = waiting[: self._size]
            try:
                answers |= await self._ask(part)
            except (QueryTooHeavy, GitHubTimedOut):
                self._shrink(len(part))
                if len(part) > 1:
                    continue
                answers[part[0]] = GitHubUnreachable("GitHub gave up on the query for this repository alone")
            except CollectionPrevented as error:
                return answers | dict.fromkeys(waiting, error)
            else:
                self._grow(len(part))
            del waiting[: len(part)]
        return answers

    def _shrink(self, size: int) -> None:
        """Halve the size. A repository that is too heavy alone says nothing about the size for others."""
        self._largest = size - 1 if size > 1 else self._full
        self._size = max(1, min(self._size, size // 2))
        self._answered = 0

    def _grow(self, size: int) -> None:
        """Double the size after a full query, unless that was too heavy before one of the last FORGET_AFTER queries."""
        if size < self._size:
            return
        self._answered += 1
        if self._answered >= FORGET_AFTER:
            self._largest = self._full
        if (larger := min(2 * self._size, self._full)) <= self._largest:
            self._size = larger


def _retrieve_exception(done: asyncio.Future[Any]) -> None:
    """Retrieve the exception, so that asyncio does not report it when every caller has been cancelled."""
    if not done.cancelled():
        done.exception()
