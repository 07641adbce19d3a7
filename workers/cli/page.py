"""One server on a terminal: who it is, what could not be seen and what to do about it, its receipts, its evidence."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from evidence.kinds import listing
from evidence.model import Absent, Dossier
from evidence.store import FindingRow
from publish.advice import advice
from publish.server_view import conversation, record_view
from scoring.scorecard import Scorecard
from workers.cli.console import facts, plain, show, table
from workers.cli.observed import show_observed, show_project
from workers.cli.private_view import show_findings, show_private
from workers.cli.receipts import receipt_of


def show_server(
    dossier: Dossier, cards: Sequence[Scorecard], *, evidence: bool = False, findings: Sequence[FindingRow] = ()
) -> None:
    """Print everything a maintainer needs to understand the scores, private findings and evidence included."""
    server = dossier.server
    show(plain(server.name or server.ref, "bold"))
    registries = ", ".join(server.seen_in) or "none"
    as_of = dossier.as_of.isoformat(sep=" ", timespec="seconds")
    show(facts([("server", server.id), ("reference", server.ref), ("registries", registries), ("as of", as_of)]))
    show("")
    content = dossier.read(listing.KIND)
    if isinstance(content, Absent):
        _show_absent(content)
    for card in cards:
        show(receipt_of(card))
    show_findings(findings)
    if evidence:
        _show_evidence(dossier)


def _show_absent(content: Absent) -> None:
    words = advice(content.reason)
    show(plain(f"Could not be tested: {content.reason.value.replace('_', ' ')}", "bold yellow"))
    show(plain(words.means[:1].upper() + words.means[1:], limit=1000))
    if content.detail:
        show(plain(f"Seen: {content.detail}", limit=1000))
    show(plain(f"What to do about it: {words.do}", limit=1000))
    show("")


def _show_evidence(dossier: Dossier) -> None:
    if talk := conversation(dossier):
        show(Text("What was observed", style="bold underline"))
        show(facts(talk.facts))
        grid = table("List", ("Items", "right"), ("Pages", "right"), "How reading it ended")
        for part in talk.lists:
            grid.add_row(part.name, str(part.count), str(part.pages), plain(f"{part.end} {part.error}".strip()))
        show(grid)
        for part in talk.lists:
            for item in part.items:
                show(Text.assemble(plain(item.name, "bold"), "  ", plain(item.description, limit=500)))
        show("")
    show_observed(dossier)
    show_project(dossier)
    show_private(dossier)
    for kind, record in sorted(dossier.records.items()):
        view = record_view(record)
        show(Text(f"Evidence: {kind}", style="bold underline"))
        show(facts([("collected", view.provenance), ("observed at", view.observed_at), ("digest", view.digest)]))
        show(facts(view.facts))
