"""Rule `package-version-outdated`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from scoring import dating
from scoring.outcome import Partly, Severity
from scoring.path import clip
from scoring.project_examples import ago, published
from scoring.project_scope import Published
from scoring.rule import Answer, rule

_PATIENCE_DAYS: Final = 30
_HALF: Final = Decimal("0.5")


@rule(
    "package-version-outdated",
    scope=Published,
    reads="package",
    severity=Severity.SUGGESTION,
    title="The registration names an old version",
    since="2026.3",
    version=1,
    good=[
        published(),
        published(declared="2.0.0-beta", version="2.0.0-beta", published=ago(1)),
        published(declared=None),
    ],
    bad=[
        published(latest="2.0.0", published=ago(200), latest_published=ago(60)),
    ],
)
def package_version_outdated(published: Published) -> Iterator[Answer]:
    """Clients install the version that is registered, without what was mended since.

    Register each version that you publish; a month is enough time for it.
    """
    package = published.package
    declared, latest = package.published or "", package.latest_published or ""
    if not package.declared or package.version in {None, package.latest} or not dating.is_before(declared, latest):
        return
    days = published.days_since(latest)
    if days is not None and days >= _PATIENCE_DAYS:
        yield Partly(
            f"{clip(package.version or '')} is registered, {clip(package.latest or '')} is {days} days old", _HALF
        )
