"""`hallmark explain`."""

from __future__ import annotations

from typing import Annotated

import typer

from scoring import catalogue, receipt
from scoring.explain import Explanation, explain_card, explain_rubric, explain_rule
from workers.cli.boundary import explained
from workers.cli.console import emit, plain, show, table
from workers.cli.receipts import newest_only
from workers.cli.session import find_run, find_server, reading

app = typer.Typer(add_completion=False)


@app.command()
def explain(
    *,
    subject: Annotated[
        str | None,
        typer.Argument(help="A rule, a rubric such as `lint@1`, or a server. Without it, all rules and rubrics."),
    ] = None,
    run: Annotated[str, typer.Option(help="Of a server: id of a run, the beginning of one, or `latest`.")] = "latest",
    as_json: Annotated[bool, typer.Option("--json", help="JSON, one object per line, for programs.")] = False,
) -> None:
    """Explain a rule, a rubric or a server's score: why it exists, what it reads, what it costs, where points went.

    Examples:

    hallmark explain tool-description-missing

    hallmark explain adaptive

    hallmark explain npm:@modelcontextprotocol/server-everything
    """
    with explained():
        if subject is None:
            _list_all(as_json=as_json)
            return
        for explanation in _explanations(subject, run):
            if as_json:
                emit(_as_json(explanation))
                continue
            _show(explanation)


def _explanations(subject: str, run: str) -> list[Explanation]:
    if subject in {rule.id for rule in catalogue.rules()}:
        return [explain_rule(subject)]
    if subject in {name for rubric in catalogue.rubrics() for name in (rubric.id, rubric.name)}:
        return [explain_rubric(subject)]
    with reading() as store:
        run_id = find_run(store, run).run.id
        server = find_server(store, subject)
        cards = [receipt.decode(card.body) for card in store.scorecards(run_id, servers=[server.id])]
    return [explain_card(card) for card in newest_only(cards)]


def _list_all(*, as_json: bool) -> None:
    grid = table("Rule or rubric", "What it is")
    named = [(rubric.name, rubric.title) for rubric in catalogue.rubrics()]
    for name, title in [*named, *((rule.id, rule.title) for rule in catalogue.rules())]:
        if as_json:
            emit({"id": name, "title": title})
        grid.add_row(name, plain(title))
    if not as_json:
        show(grid)


def _show(explanation: Explanation) -> None:
    show(plain(explanation.title, "bold", limit=1000))
    show("")
    show(plain(explanation.summary, limit=5000))
    for section in explanation.sections:
        show("")
        show(plain(section.heading, "bold"))
        for line in section.lines:
            show(plain(f"  {line}", limit=1000))
    show("")


def _as_json(explanation: Explanation) -> dict[str, object]:
    sections = [{"heading": section.heading, "lines": list(section.lines)} for section in explanation.sections]
    return {"title": explanation.title, "summary": explanation.summary, "sections": sections}
