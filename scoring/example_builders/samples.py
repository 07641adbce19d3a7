"""Builders for the examples of stability rules."""

from __future__ import annotations

from collections.abc import Mapping

from evidence.kinds.falls import Fall, Falls
from evidence.kinds.interop import Interop
from evidence.kinds.samples import Samples
from scoring.scopes.samples import Attempt, Encounter, Survival


def build_attempt(failure: str = "", *, successes: int = 8, **failures: int) -> Attempt:
    """One attempt within a window; `failure` is its failure, `failures` counts the other failures of the window."""
    counts = dict(failures)
    if failure:
        counts[failure] = counts.get(failure, 0) + 1
    total = successes + sum(counts.values())
    window = Samples(window_days=30, samples=total, successes=successes, failures=counts, days=total)
    return Attempt(at="samples", failure=failure, window=window)


def build_client_session(
    *,
    connected: bool = True,
    listed: Mapping[str, int] | None = None,
    asked: str = "",
    error: str = "",
    code: int | None = None,
    message: str = "",
) -> Encounter:
    return Encounter(
        at="interop",
        seen=Interop(
            client="mcp",
            version="2.3.0",
            connected=connected,
            negotiated="2025-11-25" if connected else "",
            listed=dict(listed or {}),
            asked=asked,
            error=error,
            code=code,
            message=message,
        ),
    )


def build_survival(*survived: str, fell: str = "", state: str = "HTTP 500") -> Survival:
    """The questions that a server survived, and the one after which it served no fresh client, if any."""
    falls = (Fall(question=fell, transport="streamable-http", signs=(state, state, state)),) if fell else ()
    return Survival(at="falls", found=Falls(server=("notes", "1.0.0"), survived=survived, falls=falls))
