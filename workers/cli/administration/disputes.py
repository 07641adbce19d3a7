"""`hallmark disputes`."""

from __future__ import annotations

import sys
from typing import Any

import click

from evidence.store import IllegalTransition, Store
from evidence.store.community.dispute_values import Dispute, DisputeState
from publish.community import disputes
from publish.community.disputes import DisputeDecider, IncompleteVerdict, Verdict
from publish.community.rule_examples import render_rule_example
from publish.text.display import make_visible
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    exit_with_error,
    format_moment,
    make_fact_table,
    make_table,
    open_stdout,
    print_json,
    print_note,
    print_table,
)
from workers.cli.operator import by_option, find_decider, read_clock
from workers.cli.options import CommandGroup, json_lines_option, limit_option
from workers.cli.session import find_server, open_read_store

app = CommandGroup(
    help="Manage disputed lines: accept or answer them.\n\n"
    "That a line is disputed is public at once. The text of the dispute becomes public when you `show` it with "
    "--public or decide it. Accepting a dispute changes no score: fix the rule with the example that `accept "
    "--example` prints.\n\n"
    "Example: hallmark disputes list --state open",
)

_dispute_argument = click.argument("dispute", metavar="ID", help="Id of a dispute, or its beginning.")
_note_option = click.option(
    "--note", "note_", default="", show_default=False, help="A note for the history of the dispute, not published."
)


@app.command("list")
@click.option("--server", help="Only those of one server.")
@click.option("--state", type=click.Choice(DisputeState, case_sensitive=False), help="Only those in one state.")
@limit_option(50)
@json_lines_option
def list_(*, server: str | None, state: DisputeState | None, limit: int, as_json: bool) -> None:
    """List disputes, newest first.

    Example: hallmark disputes list --state open
    """
    with open_read_store() as store:
        only = find_server(store, server).id if server else None
        found = store.disputes.list_disputes(server=only, states=[state] if state else None, limit=limit)
        if as_json:
            for one in found:
                print_json(_json(one))
            return
        refs = {known.id: known.ref for known in store.find_servers(sorted({one.line.server for one in found}))}
        grid = make_table("Id", "Filed", "Server", "Line", "State", "Reason")
        for one in found:
            grid.add_row(
                one.id,
                format_moment(one.filed_at, "minutes"),
                clean_text(refs.get(one.line.server, one.line.server)),
                clean_text(f"{one.line.rubric} {one.line.cites} {one.line.at}"),
                one.state.value + ("" if one.is_shown or one.state is not DisputeState.OPEN else ", unread"),
                clean_text(one.reason),
            )
        print_table(grid, "no disputes")


@app.command("show")
@_dispute_argument
@click.option("--public/--private", default=None, help="Publish the text of the dispute, or hide it.")
@_note_option
@by_option
@json_lines_option
def show_(dispute: str, *, public: bool | None, note_: str, by: str, as_json: bool) -> None:
    """Show one dispute with its history; with --public its text is published.

    Example: hallmark disputes show dsp_3f2a --public
    """
    with open_read_store() as store:
        known = _find(store, dispute)
        if public is not None:
            known = _decide(store, known, Verdict.SHOW if public else Verdict.HIDE, by, note_=note_)
        if as_json:
            print_json(_json(known) | {"trail": [_step(one) for one in store.disputes.read_trail(known.id)]})
        else:
            _print(store, known)


@app.command()
@_dispute_argument
@click.option("--answer", default="", show_default=False, help="The answer, which is published with the line.")
@_note_option
@by_option
@click.option("--example", is_flag=True, help="Print the disputed item as an example.")
def accept(dispute: str, *, answer: str, note_: str, by: str, example: bool) -> None:
    """Accept a dispute: the line is a false alarm. Then fix the rule; --example prints what to add to its `good=`.

    Example: hallmark disputes accept dsp_3f2a --answer "fixed in 2026.4" --example
    """
    with open_read_store() as store:
        known = _decide(store, _find(store, dispute), Verdict.ACCEPT, by, answer=answer, note_=note_)
        if example:
            (dossier,) = store.read_dossiers(known.line.run, [known.line.server])
            sys.stdout.write(make_visible(render_rule_example(known, dossier), limit=100_000, multiline=True))


@app.command()
@_dispute_argument
@click.option("--answer", required=True, help="The answer, which is published with the line.")
@_note_option
@by_option
def reject(dispute: str, *, answer: str, note_: str, by: str) -> None:
    """Reject a dispute: the line is right. The answer gives the reason.

    Example: hallmark disputes reject dsp_3f2a --answer "the rule reads every sentence"
    """
    with open_read_store() as store:
        _decide(store, _find(store, dispute), Verdict.REJECT, by, answer=answer, note_=note_)


@app.command()
@_dispute_argument
@_note_option
@by_option
def reopen(dispute: str, *, note_: str, by: str) -> None:
    """Take back a decision and its answer."""
    with open_read_store() as store:
        _decide(store, _find(store, dispute), Verdict.REOPEN, by, note_=note_)


@app.command()
@_dispute_argument
@_note_option
@by_option
def drop(dispute: str, *, note_: str, by: str) -> None:
    """Drop a text that is not a dispute, such as advertising. It is never shown."""
    with open_read_store() as store:
        _decide(store, _find(store, dispute), Verdict.DROP, by, note_=note_)


def _find(store: Store, prefix: str) -> Dispute:
    found = store.disputes.list_disputes(prefix=prefix, limit=2)
    if len(found) != 1:
        known = "none" if not found else "several"
        exit_with_error(
            f"expected the id of one dispute, found {known} for {prefix!r}. `hallmark disputes list`", ExitCode.NOTHING
        )
    return found[0]


def _decide(store: Store, known: Dispute, verdict: Verdict, by: str, *, answer: str = "", note_: str = "") -> Dispute:
    try:
        changed = disputes.decide_dispute(
            store, known, verdict, DisputeDecider(find_decider(by)), at=read_clock(), answer=answer, note=note_
        )
    except IncompleteVerdict as error:
        exit_with_error(str(error), ExitCode.USAGE)
    except IllegalTransition as error:
        exit_with_error(str(error))
    print_note(f"{changed.id} is {changed.state}")
    return changed


def _print(store: Store, one: Dispute) -> None:
    line = one.line
    pairs = [
        ("dispute", one.id),
        ("state", one.state.value),
        ("server", line.server),
        ("run", line.run),
        ("line", f"{line.rubric}@{line.version} {line.cites}"),
        ("rule", line.rule or ""),
        ("at", line.at),
        ("why", line.why),
        ("filed", format_moment(one.filed_at)),
        ("by", "its maintainer" if one.by_maintainer else "a visitor"),
        ("contact", one.contact or ""),
        ("reason is public", "yes" if one.is_shown else "no"),
        ("answer", one.answer or ""),
    ]
    open_stdout().print(make_fact_table([(name, value) for name, value in pairs if value]))
    open_stdout().print(clean_text(one.reason, limit=4_000))
    for step in store.disputes.read_trail(one.id):
        at = format_moment(step.at)
        open_stdout().print(clean_text(f"{at} {step.who}: {step.before} → {step.after} {step.note}", limit=5_000))


def _json(one: Dispute) -> dict[str, Any]:
    line = one.line
    return {
        "id": one.id,
        "state": one.state.value,
        "server": line.server,
        "run": line.run,
        "rubric": line.rubric,
        "version": line.version,
        "cites": line.cites,
        "rule": line.rule,
        "at": line.at,
        "why": line.why,
        "reason": one.reason,
        "contact": one.contact,
        "by_maintainer": one.by_maintainer,
        "filed_at": one.filed_at.isoformat(),
        "shown": one.is_shown,
        "answer": one.answer,
        "decided_at": one.decided_at.isoformat() if one.decided_at else None,
    }


def _step(one: Any) -> dict[str, Any]:
    return {
        "at": one.at.isoformat(),
        "who": one.who,
        "before": one.before.value,
        "after": one.after.value,
        "note": one.note,
    }
