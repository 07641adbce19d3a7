"""Placeholder values: valid for their kind, meaningless, and the same for the same input in every run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from crawler.placeholders.accepted_values import find_stated_value
from crawler.placeholders.input_kinds import PlaceholderKind, choose_kind, normalise_input_name
from crawler.placeholders.secret_formats import ZERO_UUID, make_secret_placeholder
from evidence.package_inputs import PackageInput

__all__ = ["PlaceholderKind", "make_placeholder"]

TEXT: Final = "example"
HOST: Final = "example.invalid"  # RFC 2606: a name that never resolves
FOLDER: Final = "/tmp/work"  # noqa: S108  inside a box: memory that is thrown away

_PLAIN: Final[Mapping[PlaceholderKind, str]] = {
    PlaceholderKind.URL: f"https://{HOST}",
    PlaceholderKind.HOST: HOST,
    PlaceholderKind.PORT: "8080",
    PlaceholderKind.FOLDER: FOLDER,
    PlaceholderKind.NUMBER: "1",
    PlaceholderKind.BOOLEAN: "false",
    PlaceholderKind.DATE: "2024-01-01",
    PlaceholderKind.EMAIL: "user@example.com",
    PlaceholderKind.UUID: ZERO_UUID,
    PlaceholderKind.REGION: "us-east-1",
}
_WITH_EXAMPLE: Final = frozenset(
    {
        PlaceholderKind.TEXT,
        PlaceholderKind.NUMBER,
        PlaceholderKind.DATE,
        PlaceholderKind.REGION,
        PlaceholderKind.UUID,
        PlaceholderKind.EMAIL,
    }
)
"""Kinds of which a declared example is given: it reaches no host and opens no file."""

_DATABASES: Final = (
    ("MONGO", f"mongodb://{HOST}:27017/{TEXT}"),
    ("REDIS", f"redis://{HOST}:6379/0"),
    ("MYSQL|MARIADB", f"mysql://{TEXT}@{HOST}:3306/{TEXT}"),
    ("MSSQL|SQLSERVER|SQL_SERVER", f"Server={HOST},1433;Database={TEXT};User Id={TEXT}"),
    ("SQLITE", f"{FOLDER}/{TEXT}.db"),
    ("NEO4J|BOLT|MEMGRAPH", f"neo4j://{HOST}:7687"),
    ("AMQP|RABBIT", f"amqp://{HOST}:5672"),
    ("COUCHBASE|CB_", f"couchbase://{HOST}"),
    ("CLICKHOUSE", f"http://{HOST}:8123"),
)
_POSTGRES: Final = f"postgresql://{TEXT}@{HOST}:5432/{TEXT}"
_ENDINGS: Final = (
    (r"JSON|CREDENTIAL|SERVICE_ACCOUNT|OAUTH", "json"),
    (r"YA?ML|CONFIG", "yaml"),
    (r"DB|DATABASE|SQLITE", "db"),
    (r"PEM|CERT|KEY", "pem"),
    (r"CSV", "csv"),
    (r"LOG", "log"),
)
# Neutral texts by the name of the input.
_WORDS: Final = (
    (r"TRANSPORT", "stdio"),
    (r"LOG_?LEVEL|LOGLEVEL", "info"),
    (r"(?:^|_)LANG(?:UAGE)?$|LOCALE", "en"),
    (r"TIME_?ZONE|(?:^|_)TZ$", "UTC"),
    (r"COUNTRY", "US"),
    (r"CURRENCY", "USD"),
    (r"VERSION", "1.0.0"),
    (r"NETWORK|CHAIN$", "mainnet"),
)


def make_placeholder(asked: PackageInput, package: str = "") -> tuple[PlaceholderKind, str]:
    """The kind and the value for an input. `package` helps to infer the kind."""
    kind = choose_kind(asked)
    return kind, _value(kind, asked, package)


def _value(kind: PlaceholderKind, asked: PackageInput, package: str) -> str:
    if asked.example and kind in _WITH_EXAMPLE and not asked.secret:
        return asked.example
    name, source = normalise_input_name(asked.name), normalise_input_name(package)
    made: Mapping[PlaceholderKind, Callable[[], str]] = {
        PlaceholderKind.CHOICE: lambda: asked.choices[0],
        PlaceholderKind.FORM: lambda: _filled(asked, package),
        PlaceholderKind.SECRET: lambda: make_secret_placeholder(name, source, asked.hint),
        PlaceholderKind.DATABASE: lambda: _database(f"{name} {asked.hint.upper()}", source),
        PlaceholderKind.FILE: lambda: f"{FOLDER}/{TEXT}.{_first(_ENDINGS, name) or 'txt'}",
        PlaceholderKind.TEXT: lambda: _text(name, source, asked.hint),
    }
    return made[kind]() if kind in made else _PLAIN[kind]


def _filled(asked: PackageInput, package: str) -> str:
    """The form with a placeholder for each of its variables."""
    whole = asked.form
    for variable in asked.variables:
        whole = whole.replace(f"{{{variable.name}}}", make_placeholder(variable, package)[1])
    return whole


def _database(name: str, package: str) -> str:
    return _first(_DATABASES, name) or _first(_DATABASES, package) or _POSTGRES


def _text(name: str, package: str, hint: str) -> str:
    known = make_secret_placeholder(name, package, "") if re.search(r"SLACK_(?:TEAM_ID|CHANNEL)", name) else ""
    return known or _first(_WORDS, name) or find_stated_value(hint) or TEXT


def _first(table: tuple[tuple[str, str], ...], name: str) -> str:
    return next((value for pattern, value in table if re.search(pattern, name)), "")
