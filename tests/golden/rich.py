"""The golden receipts of synthetic servers with evidence of every kind: `python -m tests.golden.rich --write`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from msgspec import to_builtins

from evidence.model import Dossier
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.receipt import encode_scorecard
from tests.scoring.rich import RICH
from workers.cli.measure.scan_file import FORMAT, _record

GOLDEN = Path(__file__).with_name("rich.json")
SAVED = Path(__file__).resolve().parents[1] / "dossiers" / "projects"
"""The same servers as files, with their private kinds, for `make impact`, which scores them under older code."""

RUBRICS = ("adaptive@1", "enterprise@1")

_PINS = {"versions", "evidence"}
"""Members that say what a receipt rests on, and change with any rule or with the wording of a body."""


def current() -> dict[str, dict[str, object]]:
    """Server and rubric to receipt, without pins."""
    return {name: {rubric: _receipt(name, rubric) for rubric in RUBRICS} for name in RICH}


def saved() -> dict[str, bytes]:
    """Name and bytes of the files, in the format of `scan --save`."""
    return {f"{name}.json": _saved(make()) for name, make in RICH.items()}


def _saved(dossier: Dossier) -> bytes:
    head = {"hallmark_dossier": FORMAT, "server": to_builtins(dossier.server), "as_of": dossier.as_of.isoformat()}
    records = b",\n".join(_record(record) for _, record in sorted(dossier.records.items()))
    return json.dumps(head, sort_keys=True).encode()[:-1] + b', "records": [\n' + records + b"\n]}\n"


def committed() -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


def _receipt(name: str, rubric: str) -> dict[str, object]:
    methodology = catalogue.get_rubric(rubric)
    card = json.loads(encode_scorecard(methodology.score(assess_dossier(RICH[name](), [methodology]))))
    return {member: value for member, value in _without_digests(card).items() if member not in _PINS}


def _without_digests(value: dict[str, object]) -> dict[str, object]:
    plain: dict[str, object] = json.loads(json.dumps(value), object_hook=_cleared)
    return plain


def _cleared(member: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in member.items() if name != "evidence" or isinstance(value, dict)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", required=True)
    parser.parse_args()
    GOLDEN.write_text(json.dumps(current(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
    SAVED.mkdir(exist_ok=True)
    for name, body in saved().items():
        (SAVED / name).write_bytes(body)


if __name__ == "__main__":
    main()
