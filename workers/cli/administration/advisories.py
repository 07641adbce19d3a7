"""`hallmark advisories`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from crawler.advisories.mirror import EcosystemState, Mirror
from crawler.advisories.mirror_database import MirrorUnreadable
from crawler.advisories.mirror_refresh import RefreshInProgress, RefreshMode, RefreshResult
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    exit_with_error,
    make_table,
    print_data,
    print_json,
    print_note,
)
from workers.cli.error_boundary import explain_failures
from workers.cli.options import CommandGroup
from workers.clock import clock_at
from workers.event_loop import run_coroutine
from workers.settings.environment import read_settings
from workers.wiring.advisory_mirror import refresh_advisories

_json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON object per line and ecosystem, for programs."
)


@click.group(cls=CommandGroup)
def advisories() -> None:
    """Maintain the local mirror of published advisories (OSV), with which runs compare dependencies.

    Examples:

    hallmark advisories refresh

    hallmark advisories status
    """


@advisories.command()
@click.option(
    "--ecosystem", multiple=True, help="Only this ecosystem, by OSV's name (npm, PyPI, crates.io). Repeatable."
)
@click.option("--anew", is_flag=True, help="Load everything again.")
@_json_option
def refresh(ecosystem: tuple[str, ...], anew: bool, as_json: bool) -> None:
    """Bring the mirror up to date: whole archives the first time, then only changes.

    Examples:

    hallmark advisories refresh

    hallmark advisories refresh --ecosystem npm --ecosystem PyPI

    Exit codes: 0 done, 1 an ecosystem could not be refreshed (the others were), 2 wrong usage.
    """
    with explain_failures(), _explained():
        settings = read_settings()
        report = (lambda one: print_json(_row(one))) if as_json else (lambda one: print_note(_sentence(one)))
        done = run_coroutine(
            refresh_advisories(settings, clock_at(settings.clock), anew=anew, ecosystems=ecosystem, progress=report)
        )
        raise click.exceptions.Exit(
            ExitCode.FAILURE if any(one.how is RefreshMode.FAILED for one in done) else ExitCode.OK
        )


@advisories.command()
@_json_option
def status(as_json: bool) -> None:
    """Show the ecosystems of the mirror with their age. Exit code 3 when there is no mirror.

    Example: hallmark advisories status
    """
    with explain_failures(), _explained():
        settings = read_settings()
        states = Mirror(settings.advisories_file).states()
        now = clock_at(settings.clock).wall()
        if as_json:
            for state in states:
                print_json(_state(state))
        elif states:
            grid = make_table("Ecosystem", ("Advisories", "right"), "Up to date as of", "State")
            for state in states:
                age = (now - state.refreshed_at).days
                missing = f"{state.bad_total} could not be read" if state.bad_total else ""
                partial = "" if state.whole else "the last refresh was interrupted"
                problems = ", ".join(filter(None, [partial, missing, f"{age} days old" if age else ""]))
                refreshed = state.refreshed_at.isoformat(timespec="seconds")
                grid.add_row(clean_text(state.name), f"{state.records:,}", refreshed, problems or "complete")
            print_data(grid)
        if not states:
            print_note("there is no mirror yet; `hallmark advisories refresh` creates it")
        raise click.exceptions.Exit(ExitCode.OK if states else ExitCode.NOTHING)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (RefreshInProgress, MirrorUnreadable) as error:
        exit_with_error(str(error))
    except sqlite3.Error as error:
        exit_with_error(f"the mirror of advisories could not be written: {error}")


def _sentence(one: RefreshResult) -> str:
    if one.how is RefreshMode.FAILED:
        return f"{one.ecosystem}: not refreshed, {one.why}"
    removed = f", {one.removed} removed" if one.removed else ""
    bad = f", {len(one.bad)} could not be read (the first: {one.bad[0].name}, {one.bad[0].why})" if one.bad else ""
    return f"{one.ecosystem}: {one.how.value}, {one.written} advisories written{removed}{bad}"


def _row(one: RefreshResult) -> dict[str, Any]:
    return {
        "ecosystem": one.ecosystem,
        "how": one.how.value,
        "written": one.written,
        "removed": one.removed,
        "bad": [{"id": bad.name, "why": bad.why} for bad in one.bad],
        "why": one.why or None,
    }


def _state(state: EcosystemState) -> dict[str, Any]:
    return {
        "ecosystem": state.name,
        "records": state.records,
        "refreshed_at": state.refreshed_at.isoformat(),
        "whole": state.whole,
        "bad_total": state.bad_total,
        "bad": [{"id": name, "why": why} for name, why in state.bad],
    }
