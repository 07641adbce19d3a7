"""The rows of the listing index: one for each server of a run, with its receipts for counting.

No row depends on the review of private findings: scores count them either way, and the counts of failures leave them
out. So disclosing a finding, or making it private again, changes no row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from evidence.kinds import listing
from evidence.store import ListedScore, ListedServer
from publish.badges import requirements
from publish.views.facets import find_facets
from publish.views.public_servers import PublicServer
from publish.views.purpose import find_purpose, list_readme_texts, list_tool_texts
from publish.views.server_summary import find_ecosystem, has_thin_evidence, summarize_server
from scoring import receipt
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.results.verdict import read_verdict


def make_listing_row(published: PublicServer, run: str, *, controlled: bool = False) -> ListedServer:
    """The row of a server in a run; `controlled` states that control of it was proved."""
    return count_server(published, run, controlled=controlled).listed


class CountedServer(Struct, frozen=True):
    """One listed server, and its newest receipts as JSON values for counting."""

    listed: ListedServer
    newest: Sequence[Mapping[str, Any]]


def count_server(published: PublicServer, run: str, *, controlled: bool = False) -> CountedServer:
    """The row of a server, and its receipts under the newest version of each rubric as JSON values."""
    values = published.values
    newest = {value["rubric"]: value for value in sorted(values, key=lambda value: value["version"])}
    main = newest.get(requirements.GATE_RUBRIC)
    outline = None if main is None else receipt.parse_outline(main, requirements.GATE_PARTS)
    met = () if outline is None else requirements.find_met(published, outline, controlled=controlled)
    server, heads = published.dossier.server, [receipt.parse_summary(value) for value in values]
    row = summarize_server(published.dossier, heads)
    seen = published.dossier.records.get(listing.KIND)
    purpose = find_purpose(published.dossier, published.suspect_places)
    tool_texts = list_tool_texts(published.dossier, published.suspect_places)
    made = ListedServer(
        server=server,
        run=run,
        as_of=seen.observed_at if seen else published.dossier.as_of,
        state=row.state.value.replace(" ", "_"),
        reason=row.reason.value if row.reason else None,
        ecosystem=find_ecosystem(server),
        registries=tuple(sorted(server.seen_in)),
        tools=row.tools,
        gate=requirements.GATE_ID in met,
        badges=tuple(name for name in met if name != requirements.GATE_ID),
        scores=tuple(map(listed_score, heads)),
        purpose=purpose,
        tool_texts=tool_texts,
        readme_texts=list_readme_texts(published.dossier, published.suspect_places),
        facets=find_facets(published.dossier, purpose, tool_texts),
    )
    return CountedServer(made, list(newest.values()))


def listed_score(card: Scorecard) -> ListedScore:
    """The result of a receipt for lists."""
    missing = card.score if isinstance(card.score, NotMeasured) else None
    return ListedScore(
        rubric=card.rubric,
        version=card.version,
        score=None if isinstance(card.score, NotMeasured) else card.score,
        grade=card.grade,
        floor=card.floor,
        ceiling=card.ceiling,
        coverage=card.coverage,
        thin=has_thin_evidence(card),
        capped=missing is None and bool(read_verdict(card).caps),
        not_measured=missing.reason if missing else None,
    )
