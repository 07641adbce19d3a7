"""The place of a credential in source stays readable where texts are masked."""

from __future__ import annotations

from evidence.derive.secret_scrubbing import scrub_text
from evidence.derive.secrets.rules import build_own_rules
from scoring.engine.rule import PartialFailure
from scoring.example_builders.source_files import build_secret_scan, leaked_secret
from scoring.rules.secrets.source_holds_secret import source_holds_secret


def test_masking_leaves_the_message_of_every_kind_of_credential_as_it_is() -> None:
    for pattern in (rule.id for rule in build_own_rules().rules):
        for path in ("src/server/index.ts", "dist/index.js"):
            (answer,) = source_holds_secret(build_secret_scan(leaked_secret(pattern=pattern, path=path, line=12)))
            assert isinstance(answer, PartialFailure)
            assert scrub_text(answer.message) == answer.message == f"{path}, line 12 holds {pattern}"
