"""One server on a terminal: its identity, why it could not be tested, its receipts and its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from evidence.kinds import listing
from evidence.model import Absent, Dossier
from evidence.store import FindingRow
from publish.views.absence_advice import advise_on_absence
from publish.views.evidence.server import LIST_NAMES, view_listing, view_record
from publish.views.server_summary import count_listed
from scoring.results.scorecard import Scorecard
from workers.cli.display.console import clean_text, format_moment, make_fact_table, make_table, print_data
from workers.cli.display.observations import show_observed, show_project
from workers.cli.display.private_evidence import show_findings, show_private
from workers.cli.display.receipts import render_receipt
from workers.cli.display.verdicts import list_harm_lines


def show_server(
    dossier: Dossier,
    cards: Sequence[Scorecard],
    *,
    evidence: bool = False,
    findings: Sequence[FindingRow] = (),
    details: bool = False,
) -> None:
    """Print everything that explains the scores, including private findings and evidence; caps come first."""
    server = dossier.server
    for harm in list_harm_lines(cards, dossier):
        print_data(harm)
    print_data(clean_text(server.name or server.ref, "bold"))
    registries = ", ".join(server.seen_in) or "none"
    as_of = format_moment(dossier.as_of)
    content = dossier.read(listing.KIND)
    facts = [("server", server.id), ("reference", server.ref), ("registries", registries), ("as of", as_of)]
    if not isinstance(content, Absent):
        facts.append(("lists", count_items(dossier)))
    print_data(make_fact_table(facts))
    print_data("")
    if isinstance(content, Absent):
        for line in list_absence_lines(content):
            print_data(line)
        print_data("")
    for card in cards:
        print_data(render_receipt(card, details=details))
    show_findings(findings)
    if evidence:
        _show_evidence(dossier)


def count_items(dossier: Dossier) -> str:
    """The items of each list, such as `2 tools, resources not read to the end`."""
    counts = {LIST_NAMES[name].lower(): count_listed(dossier, name) for name in listing.LISTS}
    return ", ".join(
        f"{name} not read to the end" if many is None else f"{many} {name.removesuffix('s') if many == 1 else name}"
        for name, many in counts.items()
    )


def list_absence_lines(content: Absent) -> Iterator[Text]:
    """Why a server could not be tested, what was observed, and what to do."""
    advice = advise_on_absence(content.reason)
    yield clean_text(f"Could not be tested: {content.reason.value.replace('_', ' ')}", "bold yellow")
    yield clean_text(advice.means[:1].upper() + advice.means[1:], limit=1000)
    yield clean_text(f"Observed: {content.detail}", limit=1000)
    yield clean_text(f"What to do: {advice.do}", limit=1000)


def _show_evidence(dossier: Dossier) -> None:
    if talk := view_listing(dossier):
        print_data(Text("What was observed", style="bold underline"))
        print_data(make_fact_table(talk.facts))
        grid = make_table("List", ("Items", "right"), ("Pages", "right"), "How reading it ended")
        for part in talk.lists:
            grid.add_row(part.name, str(part.count), str(part.pages), clean_text(f"{part.end} {part.error}".strip()))
        print_data(grid)
        for part in talk.lists:
            for item in part.items:
                print_data(Text.assemble(clean_text(item.name, "bold"), "  ", clean_text(item.description, limit=500)))
        print_data("")
    show_observed(dossier)
    show_project(dossier)
    show_private(dossier)
    for kind, record in sorted(dossier.records.items()):
        view = view_record(record)
        print_data(Text(f"Evidence: {kind}", style="bold underline"))
        print_data(
            make_fact_table(
                [("collected", view.provenance), ("observed at", view.observed_at), ("digest", view.digest)]
            )
        )
        print_data(make_fact_table(view.facts))
