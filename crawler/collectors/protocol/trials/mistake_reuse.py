"""Keeps the answers to calls with wrong arguments between full probes, since a core probe makes no such call."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from crawler.collectors.earlier_values import parse_body, read_time
from crawler.collectors.protocol.trials.tool_trials import ToolTrials
from evidence.canonical import Json
from evidence.json_members import objects_in
from evidence.kinds.trials import TrialKind
from evidence.model import Record

MISTAKES_AT: Final = "mistakes_at"
MAX_REUSE_AGE: Final = timedelta(days=14)

_SERVER: Final = "mistakes_of"


def note_mistakes(server: tuple[str, str], at: datetime) -> Mapping[str, Json]:
    """The observation of a probe that made the calls: when, and of which name and version of the server."""
    return {MISTAKES_AT: at.isoformat(), _SERVER: list(server)}


def reuse_mistakes(
    earlier: Record | None, trials: ToolTrials, server: tuple[str, str], at: datetime
) -> Mapping[str, Json]:
    """Add the earlier answers of the same version to the same calls, for at most 14 days; the observation of them."""
    since = read_time(earlier, MISTAKES_AT) if earlier else None
    if earlier is None or since is None or at - since > MAX_REUSE_AGE:
        return {}
    if earlier.observation.get(_SERVER) != list(server):
        return {}
    rows = [row for row in objects_in(parse_body(earlier).get("trials")) if row.get("kind") != TrialKind.CALL.value]
    return note_mistakes(server, since) if trials.reuse_mistakes(rows) else {}
