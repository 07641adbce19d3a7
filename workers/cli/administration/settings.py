"""`hallmark settings`."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import click
import msgspec
from rich.console import Group

from workers.cli.display.console import clean_text, make_fact_table, print_data, print_json
from workers.cli.error_boundary import explain_failures
from workers.cli.options import json_lines_option
from workers.settings.environment import is_set, list_settings, name_variable, read_settings


@click.command()
@json_lines_option
def settings(as_json: bool) -> None:
    """Show every setting with its value and meaning. Secrets are masked. Set one as an environment variable.

    Example: HALLMARK_IN_FLIGHT=50 hallmark settings
    """
    with explain_failures():
        values = read_settings()
        for name, meaning in list_settings():
            row = _row(name, getattr(values, name), meaning)
            if as_json:
                print_json(row)
                continue
            origin = "set" if row["set"] else "default"
            print_data(
                Group(
                    clean_text(str(row["variable"]), "bold"),
                    make_fact_table([(f"  {origin}", _text(row["value"])), ("  means", str(row["meaning"]))]),
                )
            )


def _row(name: str, value: object, meaning: str) -> dict[str, Any]:
    shown = value.total_seconds() if isinstance(value, timedelta) else msgspec.to_builtins(value, enc_hook=str)
    return {"variable": name_variable(name), "value": shown, "set": is_set(name), "meaning": meaning}


def _text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.15g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
