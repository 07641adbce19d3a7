"""The extras of the distribution: which modules belong to each, and the message about a missing one."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Final, NoReturn

import click
from msgspec import Struct

DISTRIBUTION: Final = "mcp-hallmark"
_WRONG_USAGE: Final = 2  # ExitCode.USAGE, whose module imports Rich


class Extra(Struct, frozen=True):
    """`modules` are the top-level modules of its dependencies; an earlier extra in EXTRAS may have the same ones."""

    name: str
    purpose: str
    modules: tuple[str, ...]

    @property
    def install_command(self) -> str:
        return f"pip install '{DISTRIBUTION}[{self.name}]'"

    def find_missing(self) -> list[str]:
        """Its modules that are not installed."""
        return [module for module in self.modules if module not in sys.modules and find_spec(module) is None]


SITE: Final = Extra(
    "site",
    "the site, the API, the MCP server of results and static reports",
    ("fastapi", "jinja2", "mcp", "multipart", "prometheus_client", "starlette", "uvicorn"),
)
PACKAGES: Final = Extra(
    "packages",
    "packages, images and commands in the sandbox, repositories, sources, advisories and the official client",
    (
        "cryptography",
        "github",
        "httpx2",
        "mcp",
        "osv",
        "requests",
        "tree_sitter",
        "tree_sitter_javascript",
        "tree_sitter_typescript",
        "urllib3",
        "uv",
    ),
)
DATASETS: Final = Extra(
    "datasets", "exporting, verifying, comparing and signing datasets", ("cryptography", "fsspec", "pyarrow")
)
FLEET: Final = Extra(
    "fleet",
    "Celery workers, PostgreSQL and Redis",
    ("celery", "kombu", "prometheus_client", "psycopg", "redis", "starlette", "uvicorn", "uvloop"),
)
TELEMETRY: Final = Extra(
    "telemetry",
    "OpenTelemetry traces of runs and tasks",
    ("opentelemetry", "wrapt"),  # the first one is shared with the API that `mcp` needs
)

PROVENANCE: Final = Extra("provenance", "verified attestations of npm and PyPI packages", ("sigstore",))

EXTRAS: Final = (SITE, DATASETS, PACKAGES, FLEET, TELEMETRY, PROVENANCE)
"""In the order in which the extra of a missing module is searched. What needs `packages` asks for it by name."""


class MissingExtra(ModuleNotFoundError):
    """An extra that a command needs is not installed."""

    def __init__(self, extra: Extra, module: str) -> None:
        super().__init__(f"No module named {module!r}", name=module)
        self.extra = extra


def require_extra(extra: Extra) -> None:
    """Raise MissingExtra unless all modules of the extra are installed.

    Needed before work whose imports happen late, in other processes or behind the error boundary of collectors.
    """
    if missing := extra.find_missing():
        raise MissingExtra(extra, missing[0])


def find_extra(error: ModuleNotFoundError) -> Extra | None:
    """The extra that the missing module belongs to; None when the import failed for another reason."""
    if isinstance(error, MissingExtra):
        return error.extra
    top = (error.name or "").partition(".")[0]
    return next((extra for extra in EXTRAS if top in extra.find_missing()), None)


def explain_missing_extra(error: ModuleNotFoundError) -> NoReturn:
    """End with the command that adds the missing extra; raise the error again when no extra is missing."""
    extra = find_extra(error)
    if extra is None:
        raise error
    click.echo(
        f"error: this needs the extra `{extra.name}`, for {extra.purpose}. The module {error.name} is not installed.\n"
        f"Add the extra: {extra.install_command}",
        err=True,
    )
    sys.exit(_WRONG_USAGE)
