"""`enterprise@2`: our corrected reading. Pots, points, bands and the other checks are those of version 1.

Deviations from version 1, each with its reason:

- A1 to A3: code that serves HTTP counts before an entry that declares stdio only, because the framework reads the code.
- A3 on a server whose code serves HTTP: a declared secret variable, or one that the code reads if none is declared.
- M1 is decided wherever an account or a domain is known to publish: nothing that ties it to the service deducts.
- P3: a description has to bound what the name or the parameters name, in a sentence of its own: padding says nothing.
- L2: passages of eight words that a description repeats or shares with another tool do not count.
- P3 fails with L3, because a text that instructs the model says nothing reliable about what the tool can reach.
- The sentence of the framework for the letter stands on the receipt.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from scoring.engine.assessment import Assessment
from scoring.engine.rubric import Criterion, Rubric
from scoring.results.scorecard import Scorecard
from scoring.rubrics.enterprise import (
    BANDS,
    CRITERIA,
    ENTERPRISE_1,
    FAILED,
    IN_SOURCE,
    EnterpriseVersion,
    judge_enterprise,
    list_source_criteria,
)

SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "A": "Enterprise-ready. Supports per-user OAuth, strong schemas, granular permissions. "
        "Deploy with standard review.",
        "B": "Good baseline. Has HTTP transport or strong schemas but gaps in one area. "
        "Deployable with platform-level controls.",
        "C": "Significant gaps. Likely stdio-only with weak schemas. Needs compensating controls and restricted scope.",
        "D": "Major concerns. Shared credentials, missing schemas, mixed permissions. "
        "Requires substantial remediation.",
        "F": "Critical issues. Not ready for enterprise deployment without a complete security wrapper.",
    }
)
"""The published meaning of each letter, word for word."""


def _correct(part: Criterion) -> Criterion:
    if part.cites == "L2":
        return replace(part, rule="tool-description-padded")
    if part.cites == "P3":
        return replace(part, rule="tool-scope-undescribed")
    return replace(part, params={"known_account": True}) if part.cites == "M1" else part


CORRECTED: Final = tuple(map(_correct, CRITERIA))
VERSION: Final = EnterpriseVersion(
    criteria=CORRECTED, code_decides=True, implied=MappingProxyType({"P3": "L3"}), sentences=SENTENCES
)


def _score(assessment: Assessment) -> Scorecard:
    return judge_enterprise(assessment, ENTERPRISE_2, VERSION)


ENTERPRISE_2: Final = Rubric(
    id="enterprise",
    version=2,
    source_version=ENTERPRISE_1.source_version,
    title=ENTERPRISE_1.title,
    summary="100 points in six pots; each of 17 checks deducts once per server. Our corrected reading.",
    source=ENTERPRISE_1.source,
    criteria=(*CORRECTED, *IN_SOURCE, *list_source_criteria(CORRECTED)),
    settled=tuple(line[2:] for line in (__doc__ or "").splitlines() if line.startswith("- ")),
    judge=_score,
    bands=(*BANDS, (Decimal(0), FAILED)),
)
