"""`hallmark judge`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click
from rich.table import Table

from crawler.judge.judge import Judge
from crawler.opt_outs import OptOutList
from evidence.model import Server
from evidence.store import Store
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    exit_with_error,
    make_fact_table,
    make_table,
    print_data,
    print_json,
    print_note,
    print_table,
)
from workers.cli.operator import read_clock
from workers.cli.options import json_document_option, only_server_argument, run_option
from workers.cli.session import find_run, find_server, open_read_store
from workers.judging import (
    Agreement,
    Comparison,
    Entry,
    Finding,
    compute_agreement,
    judge_entries,
    list_entries,
    open_judge,
)
from workers.opt_outs import load_opt_outs
from workers.settings.environment import read_settings

_BATCH = 50
_THEIRS = ("attack", "honest", "unclear", "")


@click.command()
@only_server_argument
@run_option
@click.option(
    "--limit", type=click.IntRange(min=0), default=100, help="How many texts the model is asked about at most."
)
@json_document_option
def judge(*, server: str | None, run: str, limit: int, as_json: bool) -> None:
    """Ask a model about the texts of a run's servers, and compare its opinions with our findings.

    Off until you set HALLMARK_JUDGE_URL, HALLMARK_JUDGE_MODEL and, if needed, HALLMARK_JUDGE_KEY: any API compatible
    with OpenAI's. Opinions are private, are kept by the digests of address, model, prompt and text as long as evidence,
    and move no score. Servers that opted out are not asked about.

    Example: hallmark judge com.example/notes --limit 20
    """
    with open_read_store() as store:
        settings = read_settings()
        asked, opted_out = open_judge(settings), load_opt_outs(settings, store)
        run_id = find_run(store, run).run.id
        chosen = [find_server(store, server)] if server else []
        refused = [why.detail for one in chosen if (why := opted_out.why(one))]
        if refused:
            exit_with_error(f"{chosen[0].ref} is not asked about: {refused[0]}", ExitCode.NOTHING)
        compared = asyncio.run(_judge(asked, _list_entries(store, run_id, chosen, opted_out), store, limit))
        if not compared:
            exit_with_error(f"run {run_id} has no listing with a text of these servers", ExitCode.NOTHING)
        agreement = compute_agreement(compared)
        if as_json:
            print_json({"run": run_id, **_summary(asked, agreement), "entries": [_as_json(one) for one in compared]})
        else:
            _show(asked, compared, agreement)
        if not any(one.verdict for one in compared):
            exit_with_error("the judge gave no opinion", ExitCode.NOTHING)


def _list_entries(
    store: Store, run_id: str, chosen: Sequence[Server], opted_out: OptOutList
) -> Iterator[Sequence[Entry]]:
    """The entries of each server that did not opt out, read as they are needed."""
    ids = [one.id for one in chosen] or store.list_planned_servers(run_id)
    for start in range(0, len(ids), _BATCH):
        for dossier in store.read_dossiers(run_id, ids[start : start + _BATCH]):
            if opted_out.why(dossier.server) is None:
                yield list(list_entries(dossier))


async def _judge(asked: Judge, servers: Iterable[Sequence[Entry]], store: Store, limit: int) -> list[Comparison]:
    try:
        return [one async for one in judge_entries(asked, servers, store, read_clock(), most=limit)]
    finally:
        await asked.close()


def _show(asked: Judge, compared: Sequence[Comparison], agreement: Agreement) -> None:
    differing = make_table("Server", "Where", "Ours", "Judge", "Reason")
    for one in compared:
        if one.verdict and _differs(one):
            cells = (one.entry.server, one.entry.at, one.entry.ours.value, one.verdict.value, one.reason)
            differing.add_row(*(clean_text(cell) for cell in cells))
    alike = "both say the same of every text on which both are decided" if agreement.decided else "no text is decided"
    print_table(differing, alike)
    print_data(_count_table(agreement))
    summary = _summary(asked, agreement)
    shown = ("decided", "agreement", "kappa", "model_digest", "prompt_digest")
    print_data(make_fact_table([(name, "–" if summary[name] is None else str(summary[name])) for name in shown]))
    for why in sorted({one.why for one in compared if one.why}):
        print_note(f"{sum(one.why == why for one in compared)} without an opinion: {why}")


def _count_table(agreement: Agreement) -> Table:
    grid = make_table("Our findings", *((name or "no opinion", "right") for name in _THEIRS))
    for ours in Finding:
        grid.add_row(ours.value, *(str(agreement.count(ours, theirs)) for theirs in _THEIRS))
    return grid


def _differs(one: Comparison) -> bool:
    return (one.entry.ours, one.verdict) not in {(Finding.ATTACK, "attack"), (Finding.NONE, "honest")}


def _summary(asked: Judge, agreement: Agreement) -> dict[str, Any]:
    counts = {ours.value: {name or "none": agreement.count(ours, name) for name in _THEIRS} for ours in Finding}
    return {
        "model_digest": asked.model_digest,
        "prompt_digest": asked.prompt_digest,
        "counts": counts,
        "decided": agreement.decided,
        "agreement": None if agreement.share is None else round(agreement.share, 3),
        "kappa": None if agreement.kappa is None else round(agreement.kappa, 3),
    }


def _as_json(one: Comparison) -> dict[str, Any]:
    return {
        "server": one.entry.server,
        "at": one.entry.at,
        "ours": one.entry.ours.value,
        "verdict": one.verdict.value if one.verdict else None,
        "reason": one.reason,
        "why": one.why,
        "cached": one.cached,
    }
