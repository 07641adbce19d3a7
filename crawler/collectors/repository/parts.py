"""What only REST says of a repository: contributors, statistics, health, published advisories, Dependabot's alerts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from crawler.collectors.repository.people import TOP, bus_factor, commits_of_persons, is_bot
from crawler.collectors.repository.responsiveness import YEAR
from crawler.collectors.repository.values import count, members, objects, text, time
from evidence.canonical import Json

PAGE: Final = 100


def contributors(listed: Json, *, more: bool, year: int | None) -> dict[str, Json]:
    """Members `contributors` and `bus_factor` of the body from a page of GitHub's list; null when it is no list."""
    if not isinstance(listed, list):
        return {"contributors": None, "bus_factor": None}
    shares = commits_of_persons(objects(listed))
    return {
        "contributors": {"count": len(shares), "capped": more, "year": year, "shares": shares[:TOP]},
        "bus_factor": bus_factor(shares),
    }


def persons_by_statistics(listed: Json, now: datetime) -> int | None:
    """How many persons committed in the last year, by GitHub's weekly statistics (at most the 100 most active)."""
    if not isinstance(listed, list):
        return None
    since = (now - YEAR).timestamp()
    return sum(_committed_since(entry, since) for entry in objects(listed))


def _committed_since(entry: Mapping[str, Json], since: float) -> bool:
    author = members(entry.get("author"))
    login = text(author.get("login"))
    if login is None or is_bot(login, author.get("type")):
        return False
    return any(
        (count(week.get("c")) or 0) > 0 and (count(week.get("w")) or 0) >= since for week in objects(entry.get("weeks"))
    )


def health(profile: Json) -> int | None:
    """GitHub's percentage of recommended community files."""
    percentage = count(members(profile).get("health_percentage"))
    return percentage if percentage is not None and percentage <= 100 else None


def advisories(listed: Json) -> Json:
    """Published advisories, one entry per affected package; null when it is no list."""
    if not isinstance(listed, list):
        return None
    entries = [entry for advisory in objects(listed) for entry in _per_package(advisory)]
    entries.sort(key=_order)
    return entries


def _per_package(advisory: Mapping[str, Json]) -> list[dict[str, Json]]:
    ghsa = text(advisory.get("ghsa_id"))
    if ghsa is None or advisory.get("state", "published") not in {"published", "withdrawn"}:
        return []
    common: dict[str, Json] = {
        "id": ghsa,
        "cve": text(advisory.get("cve_id")),
        "severity": text(advisory.get("severity")),
        "published_at": time(advisory.get("published_at")),
        "withdrawn_at": time(advisory.get("withdrawn_at")),
    }
    return [common | _package(affected) for affected in objects(advisory.get("vulnerabilities")) or [{}]]


def _package(affected: Mapping[str, Json]) -> dict[str, Json]:
    package = members(affected.get("package"))
    return {
        "package": text(package.get("name")),
        "ecosystem": text(package.get("ecosystem")),
        "vulnerable": text(affected.get("vulnerable_version_range")),
        "patched": text(affected.get("patched_versions")),
    }


def alerts(listed: Json) -> list[dict[str, Json]]:
    """Dependabot's alerts of one page, without the texts."""
    return [alert for entry in objects(listed) if (alert := _alert(entry)) is not None]


def _alert(entry: Mapping[str, Json]) -> dict[str, Json] | None:
    dependency, advisory = members(entry.get("dependency")), members(entry.get("security_advisory"))
    affected = members(entry.get("security_vulnerability"))
    package = members(affected.get("package")) or members(dependency.get("package"))
    ghsa = text(advisory.get("ghsa_id"))
    if ghsa is None:
        return None
    return {
        "id": ghsa,
        "cve": text(advisory.get("cve_id")),
        "ecosystem": text(package.get("ecosystem")),
        "package": text(package.get("name")),
        "range": text(affected.get("vulnerable_version_range")),
        "fixed": text(members(affected.get("first_patched_version")).get("identifier")),
        "severity": text(affected.get("severity")) or text(advisory.get("severity")),
        "state": text(entry.get("state")),
        "scope": scope if (scope := dependency.get("scope")) in {"runtime", "development"} else None,
        "manifest": text(dependency.get("manifest_path")),
    }


def body_of_alerts(entries: list[dict[str, Json]], *, complete: bool) -> dict[str, Json]:
    """The body of kind `alerts`, in an order that does not depend on GitHub's."""
    ordered: list[Json] = [*sorted(entries, key=_order)]
    return {"alerts": ordered, "complete": complete}


def _order(entry: Mapping[str, Json]) -> tuple[str, ...]:
    return tuple(str(value) for value in entry.values())
