"""Rule `text-hides-characters`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.patterns.poisoning import Threat
from scoring.analysis.poisoning_findings import describe_hit
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_texts
from scoring.results.outcome import Severity
from scoring.scopes.base import Said


@rule(
    "text-hides-characters",
    scope=Said,
    reads="listing",
    severity=Severity.ERROR,
    title="A text contains invisible characters",
    remedy="Retype each word in one script with visible characters only. Remove control, zero-width, direction, tag "
    "and private-use characters, stray variation selectors, and long runs of blanks or empty lines.",
    since="2026.1",
    version=2,
    fix=(
        build_texts("Reads \u202enotes\u202c of one day.", inputSchema={"type": "object"}),
        build_texts(inputSchema={"type": "object"}),
    ),
    good=[build_texts(), build_texts("Notes \U0001f469\u200d\U0001f4bb with emoji.")],
    bad=[build_texts("Reads notes\U000e0061\U000e0062."), build_texts("Reads \u202enotes\u202c.")],
)
def text_hides_characters(texts: Said) -> Iterator[str]:
    """Remove invisible characters, because a model reads their text and a reviewer does not.

    They are tag characters, direction overrides, and runs of zero-width characters and variation selectors. Emoji,
    flags and the joiners that scripts need are accepted. Invisible characters are often copied by accident. This is
    check SEC-005 of the security lane that mcptest publishes. False alarms: 0 of 1,491 real tools, 0 of 689 look-
    alikes.
    """
    for hit in texts.hits:
        if hit.is_grave and hit.threat is Threat.HIDDEN:
            yield describe_hit(hit)
