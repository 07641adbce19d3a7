"""Labels of lockfiles, and the agreement of the lockfile readers with them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from msgspec import Struct, field
from msgspec.structs import asdict

from evidence.lockfiles import FORMATS, Dependency, Ecosystem, Format, Relation, Scope, UnknownVersion, find_format
from evidence.lockfiles.versions import normalize_package_name, parse_concrete_version
from workers.cli.lab.quality import compute_rate

Package: TypeAlias = tuple[str, str, str | None]
"""Ecosystem, name and version. The version is None for a commit, a range, a URL or no version at all."""

MAX_DISAGREEMENTS: Final = 1000
"""Disagreements that are kept; all are counted."""

_ECOSYSTEMS: Final = {ecosystem.lower(): ecosystem for ecosystem in Ecosystem}
_RELATIONS: Final = {**{relation.value: relation for relation in Relation}, "unknown": Relation.UNSTATED}


class InvalidLabels(ValueError):
    """A line of the label file is invalid; the message has its number and the error."""


class PackageLabel(Struct, frozen=True):
    """Relation and scopes of one package; None where they are not labelled."""

    relation: Relation | None = None
    scopes: frozenset[Scope] | None = None


class Labels(Struct, frozen=True):
    """The packages of every labelled file, and the formats of files whose names do not show it."""

    files: Mapping[str, Mapping[Package, PackageLabel]]
    formats: Mapping[str, Format]

    @staticmethod
    def parse(text: str) -> Labels:
        """Parse JSON Lines; raise InvalidLabels."""
        files: dict[str, dict[Package, PackageLabel]] = defaultdict(dict)
        formats: dict[str, Format] = {}
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                name = str(row["file"]).replace("\\", "/").removeprefix("./")
                if row.get("format") is not None:
                    formats[name] = FORMATS[row["format"]]
                packages = files[name]
                if row.get("name") is not None:
                    packages[_package(row)] = _label(row)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise InvalidLabels(f"line {number}: expected file, ecosystem, name and version; {error!r}") from error
        return Labels(files, formats)


class Disagreement(Struct, frozen=True):
    """One difference between the labels and a reader; `what` is missing, extra, relation or scopes."""

    file: str
    ecosystem: str
    package: str
    version: str | None
    what: str
    labelled: str
    found: str


class LockfileQuality(Struct):
    """Counts the agreement of parsed dependencies with labels, per format."""

    labels: Labels
    formats: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    disagreements: list[Disagreement] = field(default_factory=list)
    disagreeing: int = 0
    _seen: set[str] = field(default_factory=set)

    def add(self, file: str, form: Format, dependencies: Iterable[Dependency]) -> None:
        """Compare one file with its labels, if it has any; pass no dependencies for an unreadable file."""
        if (labelled := self.labels.files.get(file)) is None:
            return
        self._seen.add(file)
        found = _group_by_package(dependencies)
        tally = self.formats[form.id]
        both = labelled.keys() & found.keys()
        tally.update(files=1, labelled=len(labelled), found=len(found), right=len(both))
        for package in sorted(labelled.keys() | found.keys(), key=lambda one: (one[0], one[1], one[2] or "")):
            if package in both:
                self._compare(file, package, tally, labelled[package], found[package])
            elif package in labelled:
                self._record(file, package, "missing", "yes", "no")
            else:
                self._record(file, package, "extra", "no", "yes")

    def finish(self) -> None:
        """Count the labelled files that were not passed to `add`: all their packages are missing."""
        for file in sorted(self.labels.files.keys() - self._seen):
            form = self.labels.formats.get(file) or find_format(file)
            self.formats[form.id if form else "unknown"].update(files=1, labelled=len(self.labels.files[file]))
            for package in self.labels.files[file]:
                self._record(file, package, "missing", "yes", "no such file")

    def figures(self) -> dict[str, dict[str, Any]]:
        """The figures of each format, and of `all` formats together."""
        named = {name: self.formats[name] for name in sorted(self.formats)}
        return {name: _figures(tally) for name, tally in (*named.items(), ("all", sum(named.values(), Counter())))}

    def to_json(self) -> dict[str, Any]:
        figures = self.figures()
        return {
            "all": figures.pop("all"),
            "formats": figures,
            "disagreeing": self.disagreeing,
            "disagreements": [asdict(one) for one in self.disagreements],
        }

    def _compare(
        self, file: str, package: Package, tally: Counter[str], labelled: PackageLabel, found: PackageLabel
    ) -> None:
        if labelled.relation is not None and found.relation is not None:
            tally.update(relations=1, relations_right=labelled.relation is found.relation)
            if labelled.relation is not found.relation:
                self._record(file, package, "relation", labelled.relation, found.relation)
        if labelled.scopes is not None and found.scopes is not None:
            tally.update(scopes=1, scopes_right=labelled.scopes == found.scopes)
            if labelled.scopes != found.scopes:
                self._record(file, package, "scopes", _join(labelled.scopes), _join(found.scopes))

    def _record(self, file: str, package: Package, what: str, labelled: str, found: str) -> None:
        self.disagreeing += 1
        if len(self.disagreements) < MAX_DISAGREEMENTS:
            self.disagreements.append(Disagreement(file, *package, what, str(labelled), str(found)))


def _figures(tally: Counter[str]) -> dict[str, Any]:
    """Counts and rates. Relations and scopes are rated over the right packages that have such a label."""
    return {
        **{name: tally[name] for name in ("files", "labelled", "found", "right")},
        "precision": compute_rate(tally["right"], tally["found"]),
        "recall": compute_rate(tally["right"], tally["labelled"]),
        "relations": compute_rate(tally["relations_right"], tally["relations"]),
        "scopes": compute_rate(tally["scopes_right"], tally["scopes"]),
    }


def _package(row: Mapping[str, Any]) -> Package:
    ecosystem = _ECOSYSTEMS[str(row["ecosystem"]).lower()]
    version = str(row.get("version") or "")
    if ecosystem is Ecosystem.RUBYGEMS:
        version = version.partition("-")[0]  # the rest is a platform
    name = normalize_package_name(ecosystem, str(row["name"]))
    return _make_package(ecosystem, name, parse_concrete_version(ecosystem, version))


def _make_package(ecosystem: Ecosystem, name: str, version: str | UnknownVersion) -> Package:
    return ecosystem.value, name, None if isinstance(version, UnknownVersion) else version


def _label(row: Mapping[str, Any]) -> PackageLabel:
    relation, scopes = row.get("relation"), row.get("scopes")
    return PackageLabel(
        None if relation is None else _RELATIONS[str(relation)],
        None if scopes is None else frozenset(Scope(str(scope)) for scope in scopes),
    )


def _group_by_package(dependencies: Iterable[Dependency]) -> dict[Package, PackageLabel]:
    """Each package once; of two entries of one version, direct wins and only shared scopes count."""
    found: dict[Package, PackageLabel] = {}
    for item in dependencies:
        package = _make_package(item.ecosystem, item.name, item.version)
        label = PackageLabel(item.relation, item.scopes)
        found[package] = _merge(found[package], label) if package in found else label
    return found


def _merge(one: PackageLabel, other: PackageLabel) -> PackageLabel:
    relations = {one.relation, other.relation}
    relation = next(kind for kind in (Relation.DIRECT, Relation.UNSTATED, Relation.TRANSITIVE) if kind in relations)
    return PackageLabel(relation, (one.scopes or frozenset()) & (other.scopes or frozenset()))


def _join(scopes: frozenset[Scope]) -> str:
    return " ".join(sorted(scopes)) or "none"
