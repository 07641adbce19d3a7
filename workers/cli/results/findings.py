"""`hallmark findings`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeAlias

import click
from msgspec import Struct

from evidence.model import Server, ServerId
from evidence.store import Disclosure, FindingRow, FindingState, Store
from publish.findings.identity import ID_PREFIX
from publish.findings.vendor_report import render_vendor_report
from publish.text.display import make_visible
from scoring.engine.rule import discover_rules
from workers.cli import operator
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    exit_with_error,
    make_fact_table,
    make_table,
    open_stdout,
    print_data,
    print_json,
    print_note,
)
from workers.cli.error_boundary import explain_failures
from workers.cli.options import CommandGroup, json_lines_option
from workers.cli.results.known_advisories import PUBLIC_KNOWN, print_known_advisories
from workers.cli.results.listing_approval import approve
from workers.cli.session import find_server, open_read_store
from workers.publication import finding_disclosure as disclosure
from workers.publication.finding_disclosure import DisclosureNotAllowed, embargo_deadline
from workers.settings.environment import read_settings

SHORT = 8
"""Digits of an id in a table; commands accept the beginning of an id."""

_ids_argument = click.argument(
    "ids", metavar="ID...", nargs=-1, required=True, help="Ids of findings, or their beginnings."
)
_note_option = click.option(
    "--note", default="", show_default=False, help="The result or the reason, which is kept in the audit trail."
)

Change: TypeAlias = Callable[[FindingRow, datetime, str], Disclosure]


@click.group(cls=CommandGroup)
def findings() -> None:
    """Manage findings of our own scans: notification of vendors, disclosure.

    Every finding starts in private_triage, moves to private_disclosed when its vendor is notified, and then to
    public_disclosed. Until then no page and no dataset shows it. Published advisories are public_known and need none of
    this. docs/guide/disclosure.md describes the policy.

    Examples:

    hallmark findings list

    hallmark findings show 3f2a

    hallmark findings disclose 3f2a --to security@example.com --by ana > report.txt

    hallmark findings publish 3f2a --by ana --note "fixed in 1.2.3"

    hallmark findings approve io.example/server --by ana --note "read the release notes"
    """


findings.add_command(approve)


@findings.command(name="list")
@click.option("--server", help="Only those of one server, by id, reference or name.")
@click.option("--state", multiple=True, help=f"Only these states, or {PUBLIC_KNOWN}: advisories. Repeatable.")
@click.option("--rule", help="Only those of one rule.")
@click.option(
    "--older-than",
    metavar="DAYS",
    type=click.IntRange(min=0),
    help="Only those in their state for at least this many days.",
)
@click.option("--overdue", is_flag=True, help="Only those whose embargo has ended.")
@click.option("--run", default="latest", help="For advisories: the run that found them.")
@json_lines_option
def list_findings(
    *,
    server: str | None,
    state: tuple[str, ...],
    rule: str | None,
    older_than: int | None,
    overdue: bool,
    run: str,
    as_json: bool,
) -> None:
    """List findings by server, and how many wait for an operator."""
    known = PUBLIC_KNOWN in state
    states = [_state(name) for name in state if name != PUBLIC_KNOWN]
    if rule is not None and rule not in discover_rules():
        exit_with_error(f"no rule {rule!r}. `hallmark explain` lists them", ExitCode.USAGE)
    with open_read_store() as store:
        now = _now()
        only = [find_server(store, server)] if server else None
        if known:
            print_known_advisories(store, run, only, as_json=as_json)
            if not states:
                return
        ids = None if only is None else [one.id for one in only]
        rows = store.read_findings(servers=ids, states=states or None, rule=rule)
        if older_than is not None:
            rows = [row for row in rows if now.wall - row.since >= timedelta(days=older_than)]
        if overdue:
            rows = [row for row in rows if now.is_overdue(row)]
        servers = _servers(store, rows)
        if as_json:
            for row in rows:
                print_json(_json(row, servers, now))
        elif rows:
            print_data(_table(rows, servers, now))
        else:
            print_note("no finding matches")
        _remind(rows, now)


@findings.command(name="show")
@click.argument("finding", metavar="ID", help="Id of a finding, or its beginning.")
@json_lines_option
def show_finding(finding: str, as_json: bool) -> None:
    """Show one finding with its evidence and all decisions about it."""
    with open_read_store() as store:
        row = _find(store, finding)
        servers = _servers(store, [row])
        trail = store.read_finding_trail([row.finding.id]).get(row.finding.id, [])
        if as_json:
            print_json({**_json(row, servers, _now()), "trail": [_entry_json(entry) for entry in trail]})
            return
        _show(row, servers[row.finding.server], trail, _now())


@findings.command()
@_ids_argument
@_note_option
@operator.by_option
def triage(ids: tuple[str, ...], note: str, by: str) -> None:
    """Add a note about who examines findings, or with which result. They stay in private_triage."""
    _change(ids, by, lambda row, at, who: disclosure.triage_finding(row, at=at, who=who, note=note))


@findings.command()
@_ids_argument
@click.option("--to", required=True, help="The recipient: an address, a form, or an advisory of the vendor.")
@_note_option
@operator.by_option
def disclose(ids: tuple[str, ...], to: str, note: str, by: str) -> None:
    """Record that the vendor is notified, and print the report to send. All findings must be of one server.

    Stdout has only the report. The embargo (HALLMARK_EMBARGO, 90 days) starts now.
    """

    def notify(row: FindingRow, at: datetime, who: str) -> Disclosure:
        return disclosure.disclose_finding(row, at=at, who=who, note=note, recipient=to)

    def check(rows: Sequence[FindingRow]) -> None:
        if len({row.finding.server for row in rows}) > 1:
            exit_with_error(
                "the findings are of several servers, expected one: each vendor gets its own report",
                ExitCode.USAGE,
            )

    with _changing(ids, by, notify, check) as (store, rows):
        server = _servers(store, rows)[rows[0].finding.server]
        now = _now()
        until = max(end for row in rows if (end := now.deadline(row)))
        open_stdout().file.write(
            render_vendor_report(server, rows, deadline=until, contact=read_settings().contact_url)
        )


@findings.command()
@_ids_argument
@click.option(
    "--reason", default="", show_default=False, help="Why it is published although the vendor was not notified."
)
@_note_option
@operator.by_option
def publish(ids: tuple[str, ...], reason: str, note: str, by: str) -> None:
    """Publish findings: on pages at once, and in datasets of later runs."""
    _change(ids, by, lambda row, at, who: disclosure.publish_finding(row, at=at, who=who, note=note, reason=reason))


@findings.command()
@_ids_argument
@_note_option
@operator.by_option
def dismiss(ids: tuple[str, ...], note: str, by: str) -> None:
    """Dismiss findings as false alarms or as accepted. They stay private, and count until the rule is corrected."""
    _change(ids, by, lambda row, at, who: disclosure.dismiss_finding(row, at=at, who=who, note=note))


@findings.command()
@_ids_argument
@_note_option
@operator.by_option
def reopen(ids: tuple[str, ...], note: str, by: str) -> None:
    """Move findings back to private_triage. Public ones are no longer shown."""
    _change(ids, by, lambda row, at, who: disclosure.reopen_finding(row, at=at, who=who, note=note))


def _change(ids: Sequence[str], by: str, change: Change) -> None:
    with _changing(ids, by, change) as (_, rows):
        for row in rows:
            print_note(f"{row.finding.id} is {row.state}")


@contextmanager
def _changing(
    ids: Sequence[str], by: str, change: Change, check: Callable[[Sequence[FindingRow]], None] = lambda _: None
) -> Iterator[tuple[Store, list[FindingRow]]]:
    """Change every named finding; none is changed when an id is unknown or ambiguous, or a change is not allowed."""
    who = operator.find_decider(by)
    with open_read_store() as store, explain_failures():
        rows = list({row.finding.id: row for row in (_find(store, one) for one in ids)}.values())
        check(rows)
        at = operator.read_clock()
        try:
            changes = {row.finding.id: change(row, at, who) for row in rows}
        except DisclosureNotAllowed as error:
            exit_with_error(str(error), ExitCode.USAGE)
        yield store, store.transition_findings(changes)


def _find(store: Store, text: str) -> FindingRow:
    beginning = text if text.startswith(ID_PREFIX) else f"{ID_PREFIX}{text}"
    found = store.read_findings(prefix=beginning)
    if not found:
        exit_with_error(
            f"no finding {text!r}. `hallmark findings list` shows them; the beginning of an id is enough",
            ExitCode.NOTHING,
        )
    if len(found) > 1:
        names = "\n".join(f"  {row.finding.id}  {make_visible(row.finding.message)}" for row in found[:10])
        exit_with_error(f"{text!r} matches {len(found)} findings, expected one:\n{names}", ExitCode.USAGE)
    return found[0]


def _state(name: str) -> FindingState:
    try:
        return FindingState(name)
    except ValueError:
        known = ", ".join((*(state.value for state in FindingState), PUBLIC_KNOWN))
        exit_with_error(f"no state {name!r}; there are {known}", ExitCode.USAGE)


class _Now(Struct, frozen=True):
    """The time of the command, and the length of an embargo."""

    wall: datetime
    embargo: timedelta

    def deadline(self, row: FindingRow) -> datetime | None:
        return embargo_deadline(row, self.embargo)

    def is_overdue(self, row: FindingRow) -> bool:
        end = self.deadline(row)
        return end is not None and end <= self.wall


def _now() -> _Now:
    return _Now(operator.read_clock(), read_settings().embargo)


def _remind(rows: Sequence[FindingRow], now: _Now) -> None:
    """Print what waits for an operator."""
    waiting = sum(row.state is FindingState.PRIVATE_TRIAGE for row in rows)
    due = [row for row in rows if now.is_overdue(row)]
    if waiting:
        print_note(f"{waiting} in private_triage: `hallmark findings disclose` or `dismiss` them")
    if due:
        print_note(f"the embargo of {len(due)} has ended ({now.embargo.days} days): `hallmark findings publish` them")


def _servers(store: Store, rows: Sequence[FindingRow]) -> Mapping[ServerId, Server]:
    return {server.id: server for server in store.find_servers(sorted({row.finding.server for row in rows}))}


def _table(rows: Sequence[FindingRow], servers: Mapping[ServerId, Server], now: _Now) -> Any:
    grid = make_table("Finding", "State", ("Days", "right"), "Server", "Rule", "Where", "What")
    for row in rows:
        finding = row.finding
        grid.add_row(
            finding.id[: len(ID_PREFIX) + SHORT],
            clean_text(row.state.value, "red" if now.is_overdue(row) else ""),
            str((now.wall - row.since).days),
            clean_text(servers[finding.server].ref),
            clean_text(finding.rule),
            clean_text(finding.at or "whole server"),
            clean_text(finding.message),
        )
    return grid


def _show(row: FindingRow, server: Server, trail: Sequence[Disclosure], now: _Now) -> None:
    finding, end = row.finding, now.deadline(row)
    declared = discover_rules().get(finding.rule)
    print_data(clean_text(declared.title if declared else finding.rule, "bold"))
    rows = [
        ("finding", finding.id),
        ("state", f"{row.state}, since {_day(row.since)}" + (f"; embargo until {_day(end)}" if end else "")),
        ("server", f"{server.ref} ({server.id})"),
        ("rule", finding.rule),
        ("where", finding.at or "whole server"),
        ("what", finding.message),
        ("severity", finding.severity or "unknown"),
        ("seen", f"first {_day(row.first_seen)}, last {_day(row.last_seen)}"),
        ("content", finding.content or "none"),
    ]
    print_data(make_fact_table(rows))
    for entry in trail:
        to = f", notified {entry.recipient}" if entry.recipient is not None else ""
        step = entry.after if entry.after is entry.before else f"{entry.before} → {entry.after}"
        note = f". {entry.note}" if entry.note else ""
        print_data(clean_text(f"{_day(entry.at)}  {entry.who}: {step}{to}{note}", limit=2000))


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _json(row: FindingRow, servers: Mapping[ServerId, Server], now: _Now) -> dict[str, Any]:
    finding, end = row.finding, now.deadline(row)
    return {
        "finding": finding.id,
        "state": row.state.value,
        "since": row.since.isoformat(),
        "server": finding.server,
        "ref": servers[finding.server].ref,
        "rule": finding.rule,
        "at": finding.at,
        "message": finding.message,
        "severity": finding.severity,
        "content": finding.content,
        "first_seen": row.first_seen.isoformat(),
        "last_seen": row.last_seen.isoformat(),
        "vendor_informed_at": row.vendor_informed_at.isoformat() if row.vendor_informed_at else None,
        "embargo_until": end.isoformat() if end else None,
    }


def _entry_json(entry: Disclosure) -> dict[str, Any]:
    return {
        "at": entry.at.isoformat(),
        "by": entry.who,
        "from": entry.before.value,
        "to": entry.after.value,
        "note": entry.note,
        "recipient": entry.recipient,
    }
