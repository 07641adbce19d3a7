"""Rule `package-release-long-ago`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring import upkeep, weighing
from scoring.outcome import Inapplicable, NotMeasured, Partly, Severity
from scoring.project_examples import ago, published
from scoring.project_scope import Published
from scoring.rule import Answer, rule


@rule(
    "package-release-long-ago",
    scope=Published,
    reads="package",
    severity=Severity.WARNING,
    title="The last version of the package is long ago",
    since="2026.3",
    version=1,
    good=[
        published(),
    ],
    bad=[
        published(latest_published=ago(900)),
    ],
    unjudged=[
        published(latest_published=None),
    ],
)
def package_release_long_ago(published: Published) -> Iterator[Answer]:
    """Users get what is published. Of a project without a known repository the index alone tells when that was last.

    Publish what has changed, with its version.
    """
    days = published.days_since(published.package.latest_published)
    left = upkeep.points(days, upkeep.RELEASES, published.size)
    if isinstance(left, NotMeasured):
        raise Inapplicable(left.detail)
    if left < weighing.FULL:
        yield Partly(f"the latest version is {days} days old", 1 - left / weighing.FULL)
