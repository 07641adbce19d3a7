"""Views the project of a server: package, repository, source and dependencies.

Facts are pairs of words, the same on a page and on a terminal. A fact that is not known is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from evidence.canonical import NotJson
from evidence.kinds import dependencies, listing, package, repository, source
from evidence.kinds.dependencies import Dependencies
from evidence.kinds.listing import Listing
from evidence.kinds.package import Package
from evidence.kinds.repository import Repository, Threads
from evidence.kinds.source import Source
from evidence.model import Absent, Dossier, Reason
from publish.views.evidence.observations import EvidenceSection

FactPair = tuple[str, str]

MAX_NAMES: Final = 20

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?=[T ]|$)")
_STEPS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def view_package(dossier: Dossier) -> EvidenceSection | None:
    """Facts from the package index; None if the package was not collected."""
    return view_section(dossier, package.KIND, lambda body: _package(Package.parse(body)))


def view_repository(dossier: Dossier) -> EvidenceSection | None:
    """Facts about the repository; None if it was not collected."""
    return view_section(dossier, repository.KIND, lambda body: _repository(Repository.parse(body)))


def view_source(dossier: Dossier) -> EvidenceSection | None:
    """Facts from the source files, compared with the listed tools; None if the source was not collected."""
    return view_section(dossier, source.KIND, lambda body: _source(Source.parse(body), _listed(dossier)))


def view_dependencies(dossier: Dossier) -> EvidenceSection | None:
    """Number of dependencies and how they were found; None if they were not collected."""
    return view_section(dossier, dependencies.KIND, lambda body: _dependencies(Dependencies.parse(body)))


def view_section(dossier: Dossier, kind: str, facts: Callable[[bytes], Iterable[FactPair]]) -> EvidenceSection | None:
    """The section for a kind, with facts from its body; None if it was not collected or cannot be parsed."""
    content = dossier.read(kind)
    if isinstance(content, Absent):
        return None if content.reason is Reason.NOT_COLLECTED else EvidenceSection(content)
    try:
        return EvidenceSection(facts=tuple((name, value) for name, value in facts(content.body) if value))
    except NotJson:
        return None


def _package(seen: Package) -> Iterator[FactPair]:
    yield "Package", f"{seen.name} on {seen.ecosystem}"
    if not seen.exists:
        yield "State", "it is not in the index, or it was unpublished"
        return
    yield "Version", _version(seen)
    yield "Versions", _dated(format_count(seen.versions), seen.first_published, "since")
    yield "Deprecated", "" if seen.deprecated is None else seen.deprecated or "yes, without a reason"
    yield "Withdrawn", "" if seen.yanked is None else seen.yanked or "yes, without a reason"
    yield "Runs when installed", "" if seen.install_scripts is None else _names(seen.install_scripts) or "nothing"
    yield "Provenance", _provenance(seen)
    yield "Repository", seen.repository.url if seen.repository else ""
    yield "Names itself", seen.mcp_name or ""
    yield "Maintainers", _names(seen.maintainers or ())
    yield "Licence", seen.licence or ""
    yield "Requires", seen.requires or ""


def _version(seen: Package) -> str:
    if not seen.version_exists:
        return f"{seen.declared} is declared and not in the index" if seen.declared else ""
    newest = (
        "" if seen.latest in {None, seen.version} else _dated(f", newest {seen.latest}", seen.latest_published, "of")
    )
    return _dated(seen.version or "", seen.published, "of") + newest


def _provenance(seen: Package) -> str:
    if seen.provenance is None:
        return ""
    if not seen.provenance.attested:
        return "no attestation is published"
    built = f", built from {seen.provenance.repository}" if seen.provenance.repository else ""
    return f"an attestation is published{built}; it was not verified"


def _repository(seen: Repository) -> Iterator[FactPair]:
    yield "Repository", f"{seen.name} on {seen.host}" + (f", declared as {seen.asked}" if seen.asked else "")
    flags = {"archived": seen.archived, "disabled": seen.disabled, "a fork": seen.fork, "a template": seen.template}
    yield "State", ", ".join(word for word, on in flags.items() if on) or ("active" if seen.archived is False else "")
    kind = {"Organization": "organisation", "User": "user"}.get(seen.owner.type or "", "")
    notes = [kind, "verified by the host" if seen.owner.verified else ""]
    yield "Owner", " ".join([seen.owner.login, *(f"({word})" for word in notes if word)]).strip()
    year = "" if seen.commits_year is None else f"; {format_count(seen.commits_year)} commits in the last year"
    yield "Last commit by a person", f"{_day(seen.last_commit_at)}{year}" if seen.last_commit_at else ""
    yield "Exists since", _day(seen.created_at)
    yield "Contributors", _contributors(seen)
    yield "Releases", _releases(seen)
    yield "Issues", _threads(seen.issues)
    yield "Pull requests", _threads(seen.pulls)
    yield "Licence", seen.licence or ""
    yield from _community_files(seen)
    counts = {"stars": seen.stars, "forks": seen.forks, "open issues": seen.open_issues}
    yield "Numbers", ", ".join(f"{format_count(count)} {name}" for name, count in counts.items() if count is not None)
    yield "Topics", _names(seen.topics)


def _community_files(seen: Repository) -> Iterator[FactPair]:
    files = {
        "README": seen.readme,
        "changelog": seen.changelog,
        "CI": seen.ci,
        "security policy": seen.community.security,
        "guide for contributors": seen.community.contributing,
        "code of conduct": seen.community.code_of_conduct,
    }
    yield "Has", ", ".join(name for name, there in files.items() if there)
    yield "Has not", ", ".join(name for name, there in files.items() if there is False)


def _contributors(seen: Repository) -> str:
    if seen.contributors is None:
        return ""
    count = f"{'at least ' if seen.contributors.capped else ''}{format_count(seen.contributors.count)}"
    year = (
        "" if seen.contributors.year is None else f", {format_count(seen.contributors.year)} of them in the last year"
    )
    half = "" if seen.bus_factor is None else f"; {format_count(seen.bus_factor)} made half of the commits"
    return count + year + half


def _releases(seen: Repository) -> str:
    if seen.releases is None:
        return ""
    if seen.releases.count == 0:
        tags = format_count(seen.tags.count) if seen.tags else "no"
        return f"none; {tags} tags"
    return _dated(
        f"{format_count(seen.releases.count)}, newest {seen.releases.latest_tag}", seen.releases.latest_at, "of"
    )


def _threads(seen: Threads | None) -> str:
    if seen is None:
        return ""
    if seen.sampled == 0:
        return "none from outside in the last year"
    answer = f", median answer after {_duration(seen.median_response_s)}" if seen.median_response_s is not None else ""
    close = f", closed after {_duration(seen.median_close_s)}" if seen.median_close_s is not None else ""
    return f"{seen.answered} of {seen.sampled} from outside were answered{answer}{close}"


def _source(seen: Source, listed: frozenset[str] | None) -> Iterator[FactPair]:
    folder = f", folder {seen.subfolder}" if seen.subfolder else ""
    yield "Read", f"{seen.name} at {seen.ref}{folder}, {format_count(seen.count('files'))} files"
    yield "Not read", "" if seen.complete else "the rest: a limit was reached, or an entry was refused"
    yield from _readme(seen)
    yield "Transports in code", ", ".join(sorted(seen.transports))
    yield "OAuth in code", _names(sorted({marker.marker for marker in seen.oauth}))
    secret = [one.name for one in seen.environment if one.secret]
    yield "Settings from the environment", _names(dict.fromkeys(one.name for one in seen.environment))
    yield "Secret among them", _names(dict.fromkeys(secret))
    yield from _tools(frozenset(tool.name for tool in seen.tools if tool.name), listed)
    named = {"changelog": "changelog", "licence": "licence", "security_policy": "security policy"}
    named |= {"contributing": "guide for contributors", "dockerfile": "Dockerfile"}
    parts = [words for member, words in named.items() if seen.path(member)]
    parts += [f"{format_count(seen.count('tests'))} tests"] if seen.count("tests") else []
    parts += ["CI"] if seen.paths("ci") else []
    yield "Has", ", ".join(parts)
    yield "Lockfiles", _names(one.path for one in seen.lockfiles)


def _readme(seen: Source) -> Iterator[FactPair]:
    readme = seen.readme
    if readme is None:
        yield "README", "none"
        return
    parts = {
        "how to install": readme.install,
        "a client's configuration": readme.snippet,
        "environment": readme.environment,
        "examples": readme.examples,
        "tools": readme.tools,
    }
    yield "README", f"{format_count(readme.words)} words"
    yield "README says", ", ".join(name for name, text in parts.items() if text)
    yield "README does not say", ", ".join(name for name, text in parts.items() if not text)


def _tools(declared: frozenset[str], listed: frozenset[str] | None) -> Iterator[FactPair]:
    """Code often computes its tools, so "only listed" says little; a tool that is only in code may be hidden."""
    yield "Tools in code", format_count(len(declared)) if declared else ""
    if listed is None or not declared:
        return
    yield "Of these listed", f"{len(declared & listed)} of {len(declared)}"
    yield "Only in code", _names(sorted(declared - listed))
    yield "Only listed", _names(sorted(listed - declared))


def _listed(dossier: Dossier) -> frozenset[str] | None:
    seen = dossier.parsed(listing.KIND, Listing.parse)
    return None if seen is None else frozenset(item.name for item in seen.tools.items if item.name)


def _dependencies(seen: Dependencies) -> Iterator[FactPair]:
    words = {"lockfile": "lockfiles", "sbom": "the list of the repository's host", "installed": "the installed package"}
    yield "Known from", words.get(seen.taken_from, seen.taken_from)
    relations = Counter(one.relation for one in seen.dependencies)
    relation_counts = ", ".join(
        f"{format_count(relations[name])} {name}" for name in ("direct", "transitive", "unknown") if relations[name]
    )
    yield "Packages", f"{format_count(len(seen.dependencies))}" + (f": {relation_counts}" if relation_counts else "")
    yield "For development only", format_count(sum("dev" in one.scopes for one in seen.dependencies))
    ecosystems = Counter(one.ecosystem for one in seen.dependencies)
    yield "Ecosystems", ", ".join(f"{name} {format_count(count)}" for name, count in sorted(ecosystems.items()))
    yield "Versions not known", format_count(sum(one.version is None for one in seen.dependencies))
    yield "Has a lockfile", "yes" if seen.lockfile else "no"
    yield "Complete", "" if seen.complete else "no"
    yield "Could not be read", _names(f"{path} ({why})" for path, why in seen.unread)


def _names(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - MAX_NAMES} more" if len(known) > MAX_NAMES else ""
    return ", ".join(known[:MAX_NAMES]) + more


def format_count(value: int | None) -> str:
    """A count with thousands separators; empty for None."""
    return "" if value is None else f"{value:,}"


def _day(moment: str | None) -> str:
    found = _DAY.match(moment or "")
    return found[0] if found else moment or ""


def _dated(text: str, moment: str | None, word: str) -> str:
    return f"{text} {word} {_day(moment)}" if text and moment else text


def _duration(seconds: int) -> str:
    for name, size in _STEPS:
        if seconds >= size:
            number = round(seconds / size)
            return f"{number} {name}{'' if number == 1 else 's'}"
    return "a minute"
