"""`hallmark settings`."""

from __future__ import annotations

import json
from typing import Any

import click
from pydantic.fields import FieldInfo
from rich.console import Group

from workers.cli.display.console import clean_text, make_fact_table, print_data, print_json
from workers.cli.error_boundary import explain_failures
from workers.cli.options import json_lines_option
from workers.settings.environment import VARIABLE_PREFIX, Settings


@click.command()
@json_lines_option
def settings(as_json: bool) -> None:
    """Show every setting with its value and meaning. Secrets are masked. Set one as an environment variable.

    Example: HALLMARK_IN_FLIGHT=50 hallmark settings
    """
    with explain_failures():
        values = Settings()
        for name, field in Settings.model_fields.items():
            row = _row(values, name, field)
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


def _row(values: Settings, name: str, field: FieldInfo) -> dict[str, Any]:
    return {
        "variable": f"{VARIABLE_PREFIX}{name.upper()}",
        "value": values.model_dump(mode="json", include={name})[name],
        "set": name in values.model_fields_set,
        "meaning": field.description or "",
    }


def _text(value: object) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
