"""The rows of the listing index: one for each server of a run, with its receipts for counting.

No row depends on the review of private findings: scores count them either way, and the counts of failures leave them
out. So disclosing a finding, or making it private again, changes no row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from evidence.kinds import listing
from evidence.model import Dossier
from evidence.store import ListedScore, ListedServer
from publish.badges import requirements
from publish.views.facets import find_facets
from publish.views.purpose import find_purpose, list_readme_texts, list_tool_texts
from publish.views.server_summary import find_ecosystem, has_thin_evidence, summarize_server
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.results.verdict import read_verdict


class Countable(Protocol):
    """What rows and counts read of a server: `PublicServer`, or `ServerToCount`, which costs less."""

    @property
    def dossier(self) -> Dossier: ...

    @property
    def scorecards(self) -> Sequence[Scorecard]: ...

    @property
    def suspect_places(self) -> frozenset[str]: ...


class CountedServer(Struct, frozen=True):
    """One listed server, and its receipt under the newest version of each rubric."""

    listed: ListedServer
    newest: Sequence[Scorecard]


def make_listing_row(published: Countable, run: str, *, controlled: bool = False) -> ListedServer:
    """The row of a server in a run; `controlled` states that control of it was proved."""
    return count_server(published, run, controlled=controlled).listed


def count_server(published: Countable, run: str, *, controlled: bool = False) -> CountedServer:
    """The row of a server, and the receipts that count."""
    dossier, cards = published.dossier, published.scorecards
    newest = {card.rubric: card for card in sorted(cards, key=lambda card: card.version)}
    met = requirements.find_met(dossier, cards, controlled=controlled)
    row = summarize_server(dossier, cards)
    seen = dossier.records.get(listing.KIND)
    purpose = find_purpose(dossier, published.suspect_places)
    tool_texts = list_tool_texts(dossier, published.suspect_places)
    made = ListedServer(
        server=dossier.server,
        run=run,
        as_of=seen.observed_at if seen else dossier.as_of,
        state=row.state.value.replace(" ", "_"),
        reason=row.reason.value if row.reason else None,
        ecosystem=find_ecosystem(dossier.server),
        registries=tuple(sorted(dossier.server.seen_in)),
        tools=row.tools,
        gate=requirements.GATE_ID in met,
        badges=tuple(name for name in met if name != requirements.GATE_ID),
        scores=tuple(map(listed_score, cards)),
        purpose=purpose,
        tool_texts=tool_texts,
        readme_texts=list_readme_texts(dossier, published.suspect_places),
        facets=find_facets(dossier, purpose, tool_texts),
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
