"""The facts that only REST has: contributors, statistics, health, published advisories, Dependabot's alerts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final
from urllib.parse import unquote

from crawler.collectors.repository.parsing.contributors import TOP, compute_bus_factor, is_bot, list_commit_counts
from crawler.collectors.repository.parsing.json_values import as_count, as_object, as_text, as_timestamp, list_objects
from crawler.collectors.repository.parsing.responsiveness import YEAR
from evidence.canonical import Json

PAGE: Final = 100
MAX_PAGES: Final = 10
"""Pages of one list that are read."""

_NEXT: Final = re.compile(r'<[^>]*[?&]after=([^&>]+)[^>]*>;\s*rel="next"')


def find_next_cursor(link: str) -> str | None:
    """The cursor of the next page in a header `Link`; None on the last page."""
    return unquote(found[1]) if (found := _NEXT.search(link)) else None


def read_contributors(listed: Json, *, more: bool, year: int | None) -> dict[str, Json]:
    """Members `contributors` and `bus_factor` of the body from a page of GitHub's list; null when it is no list."""
    if not isinstance(listed, list):
        return {"contributors": None, "bus_factor": None}
    shares = list_commit_counts(list_objects(listed))
    return {
        "contributors": {"count": len(shares), "capped": more, "year": year, "shares": shares[:TOP]},
        "bus_factor": compute_bus_factor(shares),
    }


def count_committers_by_statistics(listed: Json, now: datetime) -> int | None:
    """How many persons committed in the last year, by GitHub's weekly statistics (at most the 100 most active)."""
    if not isinstance(listed, list):
        return None
    since = (now - YEAR).timestamp()
    return sum(_committed_since(entry, since) for entry in list_objects(listed))


def _committed_since(entry: Mapping[str, Json], since: float) -> bool:
    author = as_object(entry.get("author"))
    login = as_text(author.get("login"))
    if login is None or is_bot(login, author.get("type")):
        return False
    return any(
        (as_count(week.get("c")) or 0) > 0 and (as_count(week.get("w")) or 0) >= since
        for week in list_objects(entry.get("weeks"))
    )


def read_health_percentage(profile: Json) -> int | None:
    percentage = as_count(as_object(profile).get("health_percentage"))
    return percentage if percentage is not None and percentage <= 100 else None


def read_advisories(listed: Json) -> Json:
    """Published advisories, one entry per affected package; null when it is no list."""
    if not isinstance(listed, list):
        return None
    entries = [entry for advisory in list_objects(listed) for entry in _per_package(advisory)]
    entries.sort(key=_order)
    return entries


def _per_package(advisory: Mapping[str, Json]) -> list[dict[str, Json]]:
    ghsa = as_text(advisory.get("ghsa_id"))
    if ghsa is None or advisory.get("state", "published") not in {"published", "withdrawn"}:
        return []
    common: dict[str, Json] = {
        "id": ghsa,
        "cve": as_text(advisory.get("cve_id")),
        "severity": as_text(advisory.get("severity")),
        "published_at": as_timestamp(advisory.get("published_at")),
        "withdrawn_at": as_timestamp(advisory.get("withdrawn_at")),
    }
    return [common | _package(affected) for affected in list_objects(advisory.get("vulnerabilities")) or [{}]]


def _package(affected: Mapping[str, Json]) -> dict[str, Json]:
    package = as_object(affected.get("package"))
    return {
        "package": as_text(package.get("name")),
        "ecosystem": as_text(package.get("ecosystem")),
        "vulnerable": as_text(affected.get("vulnerable_version_range")),
        "patched": as_text(affected.get("patched_versions")),
    }


def read_alerts(listed: Json) -> list[dict[str, Json]]:
    """Dependabot's alerts of one page, without the texts."""
    return [alert for entry in list_objects(listed) if (alert := _alert(entry)) is not None]


def _alert(entry: Mapping[str, Json]) -> dict[str, Json] | None:
    dependency, advisory = as_object(entry.get("dependency")), as_object(entry.get("security_advisory"))
    affected = as_object(entry.get("security_vulnerability"))
    package = as_object(affected.get("package")) or as_object(dependency.get("package"))
    ghsa = as_text(advisory.get("ghsa_id"))
    if ghsa is None:
        return None
    return {
        "id": ghsa,
        "cve": as_text(advisory.get("cve_id")),
        "ecosystem": as_text(package.get("ecosystem")),
        "package": as_text(package.get("name")),
        "range": as_text(affected.get("vulnerable_version_range")),
        "fixed": as_text(as_object(affected.get("first_patched_version")).get("identifier")),
        "severity": as_text(affected.get("severity")) or as_text(advisory.get("severity")),
        "state": as_text(entry.get("state")),
        "scope": scope if (scope := dependency.get("scope")) in {"runtime", "development"} else None,
        "manifest": as_text(dependency.get("manifest_path")),
    }


def alerts_body(entries: list[dict[str, Json]], *, complete: bool) -> dict[str, Json]:
    """The body of kind `alerts`, in an order that does not depend on GitHub's."""
    ordered: list[Json] = [*sorted(entries, key=_order)]
    return {"alerts": ordered, "complete": complete}


def _order(entry: Mapping[str, Json]) -> tuple[str, ...]:
    return tuple(str(value) for value in entry.values())
