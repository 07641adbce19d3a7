"""The scopes `Attempt`, `Encounter` and `Survival`: how connecting went over time, with the official client, and after
risky questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from evidence.kinds import falls, interop, samples
from evidence.kinds.falls import Falls
from evidence.kinds.interop import Interop
from evidence.kinds.samples import Samples
from scoring.scopes.base import Scope

TOO_FEW: Final = "too few attempts to connect"


class Attempt(Scope, frozen=True, kw_only=True, dict=True):
    """One attempt to connect within the window. `failure` is empty for a success; `window` holds all attempts."""

    reads: ClassVar[str] = samples.KIND
    failure: str
    window: Samples


class Encounter(Scope, frozen=True, kw_only=True, dict=True):
    """The session of the official client with the server."""

    reads: ClassVar[str] = interop.KIND
    seen: Interop


class Survival(Scope, frozen=True, kw_only=True, dict=True):
    """Whether a fresh client was served after each risky question."""

    reads: ClassVar[str] = falls.KIND
    found: Falls


SCOPES: Final[frozenset[type[Scope]]] = frozenset({Attempt, Encounter, Survival})


def build_sample_scopes(wanted: type[Scope], body: bytes) -> tuple[Scope, ...]:
    """The things of one of SCOPES in a body; raise NotJson for a body that is not JSON."""
    if wanted is Attempt:
        return build_attempts(Samples.parse(body))
    if wanted is Survival:
        return (Survival(at=falls.KIND, found=Falls.parse(body)),)
    return (Encounter(at=interop.KIND, seen=Interop.parse(body)),)


def build_attempts(window: Samples) -> tuple[Attempt, ...]:
    """One scope per attempt, successes first; at most as many as a window holds."""
    ended = [*_repeated("", window.successes)]
    for failure in samples.FAILURES:
        ended += _repeated(failure, window.failures.get(failure, 0))
    return tuple(
        Attempt(at=samples.KIND, position=(index,), failure=failure, window=window)
        for index, failure in enumerate(ended[: samples.MAX_SAMPLES])
    )


def _repeated(failure: str, times: int) -> Iterator[str]:
    yield from [failure] * min(times, samples.MAX_SAMPLES)
