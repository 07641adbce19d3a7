"""Rule `text-reveals-secret`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.patterns.poisoning import Threat
from scoring.analysis.poisoning_findings import describe_hit
from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.listing import build_texts
from scoring.results.outcome import Severity
from scoring.scopes.base import Said


@rule(
    "text-reveals-secret",
    scope=Said,
    reads="listing",
    severity=Severity.ERROR,
    title="A listing contains a credential",
    remedy="Revoke the credential at its provider, then remove it from the listing. Use placeholders such as "
    "`your-api-key` in defaults and examples.",
    since="2026.1",
    version=2,
    fix=write_snippet(
        Language.JSON,
        "`properties` of the tool's `inputSchema`",
        before="""
        {
          "region": {
            "type": "string",
            "description": "Region, for the account with the key AKIA..."
          }
        }
        """,
        after='{"region": {"type": "string", "description": "Region of the account."}}',
    ),
    good=[build_texts(), build_texts("Key such as AKIAIOSFODNN7EXAMPLE.")],
    bad=[build_texts("Key " + "AKIA" + "Q7RZ2MWX5KPL9TBN.")],
)
def text_reveals_secret(texts: Said) -> Iterator[str]:
    """Every client that connects can read the listing, so a credential in it is public.

    Revoke it, then remove it. Use placeholders in defaults and examples. This is check SEC-008 of the security lane
    that mcptest publishes. False alarms: 0 of 1,491 real tools, 0 of 689 look-alikes.
    """
    for hit in texts.hits:
        if hit.is_grave and hit.threat is Threat.SECRET:
            yield describe_hit(hit)
