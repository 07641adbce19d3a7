"""Recorded captures of real servers, full probes of our own, and small made-up cases, as dossiers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from evidence.model import Dossier
from evidence.recorded_capture import dossier_from_capture
from workers.cli.measure.scan_file import decode_dossier

AS_OF = datetime(2026, 11, 20, tzinfo=UTC)

_HERE = Path(__file__).parent


@cache
def captures() -> dict[str, Dossier]:
    return {path.stem: dossier_from_capture(path.read_bytes(), AS_OF) for path in sorted(_HERE.glob("captures/*.json"))}


@cache
def recorded() -> dict[str, Dossier]:
    """Full probes of our own servers, every kind of evidence in them; `hallmark scan URL --save FILE` made them.

    `control-*` and `sdk-http` are tests.servers.control and sdk_server, `scripted-N` is one of tests.servers.scripted.
    """
    return {path.stem: decode_dossier(path.read_bytes(), AS_OF) for path in sorted(_HERE.glob("recorded/*.json"))}


@cache
def cases() -> dict[str, Dossier]:
    lines = (_HERE / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    return {
        document["case"]: dossier_from_capture(json.dumps(document["capture"]).encode(), AS_OF)
        for document in documents
    }
