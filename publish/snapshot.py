"""The manifest of a published run: format, versions, counts and digests, from which anybody can check a copy."""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any, Final

from evidence.store import Stage, Store, UnknownRun
from publish.dataset import Format, export
from publish.disclosure import PUBLIC_KINDS

FORMAT: Final = 3
"""Version of the dataset format; bumped when columns, members or files change."""

FILES: Final[dict[str, tuple[Format, bool]]] = {
    "servers.jsonl": ("jsonl", False),
    "scores.csv": ("csv", False),
    "comparable.jsonl": ("jsonl", True),
}


def manifest(store: Store, run_id: str) -> bytes:
    """The manifest of a run as JSON, with the digests that its exported files have; the same store, the same bytes."""
    row = store.run(run_id)
    if row is None:
        raise UnknownRun(f"no run {run_id}")
    progress = store.progress(run_id)
    document = {
        "format": FORMAT,
        "run": {"id": row.run.id, "trigger": row.run.trigger.value, "as_of": row.run.as_of.isoformat()},
        "versions": dict(row.run.pins),
        "counts": {
            "planned": progress.planned,
            "collected": progress.done.get(Stage.COLLECT, 0),
            "scored": progress.done.get(Stage.SCORE, 0),
            "absent": {
                f"{kind}/{reason}": count for (kind, reason), count in progress.absent.items() if kind in PUBLIC_KINDS
            },
        },
        "files": {name: _digest(store, run_id, *form) for name, form in FILES.items()},
    }
    return json.dumps(document, sort_keys=True, indent=2).encode() + b"\n"


def _digest(store: Store, run_id: str, form: Format, comparable: bool) -> dict[str, Any]:
    sink = _Digest()
    servers = export(store, run_id, sink, format=form, comparable=comparable)
    return {"sha256": sink.sha256.hexdigest(), "bytes": sink.size, "servers": servers}


class _Digest(io.BytesIO):
    """A file that keeps nothing but the digest and size of what was written."""

    def __init__(self) -> None:
        super().__init__()
        self.sha256 = hashlib.sha256()
        self.size = 0

    def write(self, data: Any, /) -> int:
        self.sha256.update(data)
        self.size += len(data)
        return len(data)
