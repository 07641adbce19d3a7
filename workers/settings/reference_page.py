"""The reference page of the settings, generated: `python -m workers.settings.reference_page --write docs`."""

from __future__ import annotations

import json
import sys
from datetime import time, timedelta
from pathlib import Path
from typing import Final

from msgspec import NODEFAULT
from msgspec.structs import FieldInfo, fields

from workers.settings.environment import Settings, name_variable
from workers.settings.reading import read_meaning
from workers.settings.secret import Secret

PAGE: Final = Path("guide") / "settings.md"

_HEAD = """# Settings

Every setting is an environment variable; nothing else is read. `hallmark settings` shows the values in force.
Durations are seconds (`90`) or ISO 8601 (`PT1M30S`). Secrets are masked everywhere.

Generated from `workers/settings/`: run `make docs` after a change.

| Variable | Default | Meaning |
|---|---|---|
"""
_EXPECTED = 3


def render_page() -> str:
    return _HEAD + "".join(_row(field) for field in fields(Settings))


def main(arguments: list[str]) -> int:
    """Write the page, or check that it is up to date; return the exit code."""
    if len(arguments) != _EXPECTED or arguments[1] not in {"--write", "--check"}:
        sys.stderr.write("usage: python -m workers.settings.reference_page --write|--check DOCS\n")
        return 2
    path = Path(arguments[2]) / PAGE
    if arguments[1] == "--write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(render_page(), encoding="utf-8")
        return 0
    if path.exists() and path.read_text(encoding="utf-8") == render_page():
        return 0
    sys.stderr.write(f"{path} does not match workers/settings: run `make docs` and review the difference\n")
    return 1


def _row(field: FieldInfo) -> str:
    meaning = read_meaning(field.type).replace("|", "\\|")
    return f"| `{name_variable(field.name)}` | {_render(field.default)} | {meaning} |\n"


def _render(default: object) -> str:
    if isinstance(default, Secret):
        default = default.reveal()
    if default in {None, "", NODEFAULT}:
        return "–"
    if isinstance(default, bool | int | float | timedelta):
        return _number(default)
    if isinstance(default, time):
        default = f"{default:%H:%M}"
    return f"`{json.dumps(default)}`" if isinstance(default, tuple) else f"`{default}`"


def _number(value: float | timedelta) -> str:
    if isinstance(value, timedelta):
        value = value.total_seconds()
    return str(value).lower() if isinstance(value, bool) else f"{value:.15g}"


if __name__ == "__main__":
    sys.exit(main(sys.argv))
