"""Rule `source-holds-secret`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from scoring.engine.rule import Answer, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.source_files import build_secret_scan, leaked_secret
from scoring.results.outcome import PartialFailure, Severity
from scoring.scopes.supply_chain import Searched
from scoring.text.evidence_path import clip_text

_SHARE: Final = Decimal("0.8")
"""One credential leaves little, a second nothing."""


@rule(
    "source-holds-secret",
    scope=Searched,
    reads="secrets",
    severity=Severity.ERROR,
    title="The source contains a credential",
    remedy="Revoke the credential at its provider, then remove it from the source. Read it from an environment "
    "variable.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.TYPESCRIPT,
        "Source code",
        before='const token = "ghp_...";',
        after="const token = process.env.GITHUB_TOKEN;",
    ),
    good=[
        build_secret_scan(),
        build_secret_scan(leaked_secret(counts=False, why="test")),
        build_secret_scan(leaked_secret(confidence="generic")),
        build_secret_scan(leaked_secret(counts=False, why="public by design")),
    ],
    bad=[
        build_secret_scan(leaked_secret()),
        build_secret_scan(leaked_secret(), leaked_secret(path="src/b.ts", hash="01")),
        build_secret_scan(leaked_secret(path="", line=0, hash="1", context="")),
    ],
)
def source_holds_secret(searched: Searched) -> Iterator[Answer]:
    """Every reader of the source can use the credential, and it stays in the history after its removal.

    Only formats that a provider issues count, and not those in tests, examples, documentation and vendored code. A key
    that its provider publishes itself, for instance for browsers, does not count. Revoke the credential first, then
    remove it, and read it from the environment. False alarms: none that counts in 33 popular packages of 173 MB
    (docs/secrets.md).
    """
    for found in searched.leaked:
        if found.path:
            place, at = f"{clip_text(found.path)}, line {found.line}", (*found.path.split("/"), str(found.line))
        else:
            place, at = "a file that this evidence does not name", ()
        # The place first: a text that is masked would lose what follows a name such as `aws-secret-access-key`.
        yield PartialFailure(f"{place} holds {found.pattern}", _SHARE, at)
