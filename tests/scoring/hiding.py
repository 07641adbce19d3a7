"""Ways to hide evidence that was collected: remove a record, make its collection fail, or cut a list short."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from evidence.kinds import listing
from evidence.model import Absent, Dossier, Observed, Reason

FAILURES = [
    Reason.NOT_COLLECTED,
    Reason.UNREACHABLE,
    Reason.TIMEOUT,
    Reason.FORBIDDEN,
    Reason.OAUTH_REQUIRED,
    Reason.TOO_LARGE,
    Reason.NOT_MCP,
    Reason.RATE_LIMITED,
]


def without(evidence: Dossier, kind: str, reason: Reason) -> Dossier:
    record = replace(evidence.records[kind], content=Absent(reason, "hidden"))
    return replace(evidence, records={**evidence.records, kind: record})


def hidden_ways(evidence: Dossier, *kinds: str, reasons: Sequence[Reason] = FAILURES) -> Iterator[tuple[str, Dossier]]:
    """The dossier with one record removed, with one made to fail in each way, and with a listing that is cut.

    Only the records of `kinds` are hidden, if some are named; those besides the listing only for `reasons`.
    """
    for kind in kinds or evidence.records:
        rest = {name: record for name, record in evidence.records.items() if name != kind}
        yield f"{kind} removed", replace(evidence, records=rest)
        for reason in FAILURES if kind == listing.KIND else reasons:
            yield f"{kind} {reason}", without(evidence, kind, reason)
    record = evidence.records[listing.KIND]
    if isinstance(record.content, Observed):
        for name in ("tools", "prompts", "resources"):
            pages = json.loads(record.content.body).get("lists", {}).get(name, {}).get("pages", [])
            for how, kept in (("refused", []), ("cut after one entry", _first_entry(pages, name))):
                body = json.loads(record.content.body)
                if name in body.get("lists", {}):
                    body["lists"][name].update(pages=kept, end="error", error={"code": -32603, "message": "no"})
                    cut = replace(record, content=Observed(json.dumps(body).encode()))
                    yield f"{name} {how}", replace(evidence, records={**evidence.records, listing.KIND: cut})


def _first_entry(pages: Any, name: str) -> list[dict[str, Any]]:
    entries = pages[0].get(name) if pages and isinstance(pages[0], dict) else None
    return [{**pages[0], name: entries[:1]}] if isinstance(entries, list) else []
