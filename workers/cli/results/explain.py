"""`hallmark explain`."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import click

from evidence.model import Dossier
from publish.text.numbers import json_number
from scoring import receipt
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.explain import (
    Explanation,
    explain_citation,
    explain_fix_plan,
    explain_rubric,
    explain_rule,
    explain_scorecard,
    list_published_ids,
)
from scoring.remedy import MAX_PLACES, FixGain, FixPlan, plan_fixes
from scoring.results.scorecard import Scorecard
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    exit_with_error,
    make_table,
    print_data,
    print_json,
    print_note,
)
from workers.cli.display.receipts import select_newest
from workers.cli.display.score_explanation import render_score_explanation
from workers.cli.display.verdicts import make_verdict_object
from workers.cli.error_boundary import explain_failures
from workers.cli.options import json_lines_option, rubric_option
from workers.cli.rubric_selection import select_receipts
from workers.cli.session import find_run, find_server, open_read_store

_ELSE: Final = ". It is not a rule, a published id or a rubric either: `hallmark explain` lists rules and rubrics"


@click.command()
@click.argument(
    "subject",
    required=False,
    help="A rule, a published id such as `SEC-004`, a rubric such as `lint@1`, or a server. "
    "Default: a list of all rules and rubrics.",
)
@rubric_option
@click.option("--run", default="latest", help="For a server: id of a run, its beginning, or `latest`.")
@click.option(
    "--verbose",
    is_flag=True,
    help="For a server: every line and place, with snippets, of all rubrics. Default: one or two screens of the "
    "default rubric.",
)
@json_lines_option
def explain(*, subject: str | None, rubric: tuple[str, ...], run: str, verbose: bool, as_json: bool) -> None:
    """Explain a rule, a published id, a rubric or a server's score.

    For a rule: why it exists, what to edit, good and bad examples, and what each rubric charges for it. For a server:
    where it lost points, what to change, and how many points each change would gain.

    Examples:

    hallmark explain tool-description-missing

    hallmark explain SEC-004

    hallmark explain adaptive

    hallmark explain npm:@modelcontextprotocol/server-everything --rubric lint --verbose
    """
    with explain_failures():
        if subject is None:
            _list_all(as_json=as_json)
        elif explanations := _known(subject):
            _print(explanations, as_json=as_json)
        else:
            _explain_server(subject, rubric, run, verbose=verbose, as_json=as_json)


def _known(subject: str) -> list[Explanation]:
    """The explanation of a rule, a rubric or a published id; empty when the subject is none of them."""
    if subject in {rule.id for rule in catalogue.list_rules()}:
        return [explain_rule(subject)]
    if subject in {name for rubric in catalogue.list_rubrics() for name in (rubric.id, rubric.name)}:
        return [explain_rubric(subject)]
    if subject.casefold() in {cites.casefold() for cites in list_published_ids()}:
        return explain_citation(subject)
    if subject.partition("@")[0] in {rubric.id for rubric in catalogue.list_rubrics()}:
        exit_with_error(
            f"no rubric {subject!r}; there are {', '.join(known.name for known in catalogue.list_rubrics())}",
            ExitCode.USAGE,
        )
    return []


def _explain_server(subject: str, names: Sequence[str] | None, run: str, *, verbose: bool, as_json: bool) -> None:
    with open_read_store() as store:
        run_id = find_run(store, run).run.id
        server = find_server(store, subject, otherwise=_ELSE)
        dossier = store.read_dossiers(run_id, [server.id])[0]
        cards = select_receipts(
            [receipt.decode_scorecard(card.body) for card in store.read_scorecards(run_id, servers=[server.id])], names
        )
    shown = cards if names else select_newest(cards)
    if as_json:
        for card in shown:
            found = _card_json(card, _plan_fixes(dossier, card))
            print_json({"run": run_id, "server": server.id, "ref": server.ref, **found})
    elif verbose:
        for card in shown:
            plan = _plan_fixes(dossier, card)
            _print([explain_scorecard(card), *([explain_fix_plan(plan)] if plan else [])], as_json=False)
    else:
        _summarize(dossier, shown, shown if names else shown[:1])


def _summarize(dossier: Dossier, cards: Sequence[Scorecard], judged: Sequence[Scorecard]) -> None:
    """Two screens at most for each receipt to judge; the others stand on one line."""
    others = [card for card in cards if card not in judged]
    for card in judged:
        print_data(render_score_explanation(dossier, card, _plan_fixes(dossier, card, places=0), others))


def _plan_fixes(dossier: Dossier, card: Scorecard, places: int = MAX_PLACES) -> FixPlan | None:
    """The possible gains with the rules of this code; None when it does not have the version of the rubric."""
    try:
        rubric = catalogue.get_rubric(card.rubric, card.version)
    except LookupError:
        print_note(
            f"this version of Hallmark does not have {card.rubric}@{card.version}: the gain of a change is unknown"
        )
        return None
    found = plan_fixes(assess_dossier(dossier, [rubric]), rubric, places=places)
    if found.card.score != card.score:
        print_note(
            f"{rubric.name}: {card.score} in the run, {found.card.score} with the rules of this version; see rescore"
        )
    return found


def _list_all(*, as_json: bool) -> None:
    grid = make_table("Rule or rubric", "Title")
    named = [(rubric.name, rubric.title) for rubric in catalogue.list_rubrics()]
    for name, title in [*named, *((rule.id, rule.title) for rule in catalogue.list_rules())]:
        if as_json:
            print_json({"id": name, "title": title})
        grid.add_row(name, clean_text(title))
    if not as_json:
        print_data(grid)


def _print(explanations: Sequence[Explanation], *, as_json: bool) -> None:
    for explanation in explanations:
        if as_json:
            print_json(_as_json(explanation))
        else:
            _show(explanation)


def _show(explanation: Explanation) -> None:
    print_data(clean_text(explanation.title, "bold", limit=1000))
    for paragraph in explanation.summary.split("\n\n"):
        print_data("")
        print_data(clean_text(" ".join(paragraph.split("\n")), limit=5000))
    for section in explanation.sections:
        print_data("")
        print_data(clean_text(section.heading, "bold", limit=1000))
        for line in section.lines:
            print_data(clean_text(f"  {line}", limit=1000))
    print_data("")


def _as_json(explanation: Explanation) -> dict[str, Any]:
    sections = [{"heading": section.heading, "lines": list(section.lines)} for section in explanation.sections]
    return {"title": explanation.title, "summary": explanation.summary, "sections": sections}


def _card_json(card: Scorecard, plan: FixPlan | None) -> dict[str, Any]:
    score = json_number(card.score) if isinstance(card.score, Decimal) else None
    return {
        "verdict": make_verdict_object(card),
        "rubric": card.rubric,
        "version": str(card.version),
        "score": score,
        "grade": card.grade,
        **_as_json(explain_scorecard(card)),
        "everything": _gain(plan.everything if plan else None),
        "remedies": _remedies(plan) if plan else None,
    }


def _remedies(plan: FixPlan) -> list[dict[str, Any]]:
    return [
        {
            "rule": remedy.rule,
            "title": remedy.title,
            "cites": list(remedy.cites),
            "gain": _gain(remedy.gain),
            "places": [
                {"at": spot.at, "why": list(spot.why), "gain_alone": _gain(spot.alone)} for spot in remedy.spots
            ],
        }
        for remedy in plan.remedies
    ]


def _gain(gain: FixGain | None) -> dict[str, Any] | None:
    if gain is None:
        return None
    return {"points": format(gain.points, "f"), "score": json_number(gain.score), "grade": gain.grade}
