"""The lock of rules, rubrics and engine: what is committed, what the code says, and `--write` to bring them together.

python -m tests.architecture.rules_lock --write               after a version was bumped
python -m tests.architecture.rules_lock --write --unreleased  replaces an unreleased version (before release 1.0 only)
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from scoring.engine import catalogue, fingerprint
from scoring.engine.walk import ENGINE_VERSION

LOCK = Path(__file__).with_name("rules.lock")
Entry = dict[str, int | str]


def current() -> dict[str, Entry]:
    entries: dict[str, Entry] = {"engine": {"version": ENGINE_VERSION, "fingerprint": fingerprint.engine_fingerprint()}}
    for rubric in catalogue.list_rubrics():
        key = f"rubric {rubric.name}"
        entries[key] = {"version": rubric.version, "fingerprint": fingerprint.rubric_fingerprint(rubric)}
    for rule in catalogue.list_rules():
        entries[f"rule {rule.id}"] = {"version": rule.version, "fingerprint": fingerprint.rule_fingerprint(rule)}
    return entries


def committed() -> dict[str, Entry]:
    return json.loads(LOCK.read_text(encoding="utf-8")) if LOCK.exists() else {}


def unbumped(locked: dict[str, Entry], now: dict[str, Entry]) -> list[str]:
    """Entries whose code changed while their version stayed."""
    both = sorted(set(locked) & set(now))
    return [key for key in both if locked[key]["version"] == now[key]["version"] and locked[key] != now[key]]


def advice(keys: list[str]) -> str:
    return (
        f"changed without a new version: {', '.join(keys)}.\n"
        "If an answer may differ: bump `version=` (for the engine `scoring.engine.walk.ENGINE_VERSION`), add a "
        "changes/*.score\nfragment, run `make impact` to see who moves, then "
        "`python -m tests.architecture.rules_lock --write`.\n"
        "An unreleased version may be replaced until release 1.0: add `--unreleased`."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", required=True)
    parser.add_argument("--unreleased", action="store_true")
    options = parser.parse_args()
    now = current()
    keys = unbumped(committed(), now)
    if keys and not options.unreleased:
        raise SystemExit(advice(keys))
    lines = (f"{json.dumps(key)}: {json.dumps(now[key])}" for key in sorted(now))
    LOCK.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
