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
    title="A definition has become more dangerous since its approval",
    remedy="Restore the approved definition if the change was not intended; otherwise state in the changelog why the "
    "tool needs it.",
    since="2026.3",
    version=1,
    good=[build_drift(), build_drift(listing_change())],
    bad=[
        build_drift(listing_change(signals=["override-1"])),
        build_drift(listing_change(escalations=["asks-for-credential"])),
    ],
)
def definitions_changed_since_approval(drifted: Drifted) -> Iterator[Answer]:
    """A definition that changes after its approval may be an attack on the model.

    Signs are a new instruction to the model and a known tool that may do more. The other rules judge the current
    listing; this one reports only that it differs from the approved one. State in the changelog why a tool needs more.
    """
    for each in drifted.seen.changes:
        signs = [*each.signals, *(one.value for one in each.escalations if one in ALARMING)]
        if signs:
            yield Tolerated(f"{each.what}: {clip_text(', '.join(signs))}", each.at)
