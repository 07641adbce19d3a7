"""Rule `definitions-changed-since-approval`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.drift import ALARMING
from scoring.engine.rule import Answer, rule
from scoring.example_builders.source_files import build_drift, listing_change
from scoring.results.outcome import Severity, Tolerated
from scoring.scopes.supply_chain import Drifted
from scoring.text.evidence_path import clip_text


@rule(
    "definitions-changed-since-approval",
    scope=Drifted,
    reads="drift",
    severity=Severity.WARNING,
    title="A definition changed since it was approved, and for the worse",
    since="2026.3",
    version=1,
    good=[build_drift(), build_drift(listing_change())],
    bad=[
        build_drift(listing_change(signals=["override-1"])),
        build_drift(listing_change(escalations=["asks-for-credential"])),
    ],
)
def definitions_changed_since_approval(drifted: Drifted) -> Iterator[Answer]:
    """A server that was reviewed and approved may change its texts afterwards. A change that adds an order to the
    model, or lets a known tool do more, is what such an attack looks like.

    What a listing says now is judged by the other rules; this one only tells that it was not so when it was
    approved. Say in the changelog why a tool needs more.
    """
    for each in drifted.seen.changes:
        signs = [*each.signals, *(one.value for one in each.escalations if one in ALARMING)]
        if signs:
            yield Tolerated(f"{each.what}: {clip_text(', '.join(signs))}", each.at)
