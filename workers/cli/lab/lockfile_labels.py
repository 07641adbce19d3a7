"""Labels of lockfiles, and how far the readers agree with them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, TypeAlias

from evidence.lockfiles import (
    FORMATS,
    Dependency,
    Ecosystem,
    Format,
    Relation,
    Scope,
    UnknownVersion,
    find_format,
)
from evidence.lockfiles.versions import normalize_package_name, parse_concrete_version

Package: TypeAlias = tuple[str, str, str | None]
"""Ecosystem, name and version; None stands for all that is no version: a commit, a range, a place, nothing."""

_ECOSYSTEMS = {ecosystem.lower(): ecosystem for ecosystem in Ecosystem}
_RELATIONS = {**{relation.value: relation for relation in Relation}, "unknown": Relation.UNSTATED}


class InvalidLabels(ValueError):
    """A row of labels is none; the message says which and why."""


@dataclass(frozen=True, slots=True)
class PackageLabel:
    """What is said of one package beside its version; None where nothing is said."""

    relation: Relation | None = None
    scopes: frozenset[Scope] | None = None


@dataclass(frozen=True, slots=True)
class Labels:
    """The packages of every labelled file, and how files are to be read whose names do not tell."""

    files: Mapping[str, Mapping[Package, PackageLabel]]
    formats: Mapping[str, Format]

    @staticmethod
    def of(text: str) -> Labels:
        """Read JSON lines; raise LabelsInvalid."""
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
                    packages[_package(row)] = _said(row)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise InvalidLabels(f"line {number}: expected file, ecosystem, name and version; {error!r}") from error
        return Labels(files, formats)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One thing in which the labels and the readers differ; `what` is missing, extra, relation or scopes."""

    file: str
    ecosystem: str
    package: str
    version: str | None
    what: str
    labelled: str
    found: str


@dataclass(slots=True)
class FormatTally:
    """The counts of one format. `relations` and `scopes` are of right packages for which they are labelled."""

    files: int = 0
    labelled: int = 0
    found: int = 0
    right: int = 0
    relations: int = 0
    relations_right: int = 0
    scopes: int = 0
    scopes_right: int = 0

    def figures(self) -> dict[str, Any]:
        """Counts and rates; a rate of nothing is None."""
        return {
            "files": self.files,
            "labelled": self.labelled,
            "found": self.found,
            "right": self.right,
            "precision": _rate(self.right, self.found),
            "recall": _rate(self.right, self.labelled),
            "relations": _rate(self.relations_right, self.relations),
            "scopes": _rate(self.scopes_right, self.scopes),
        }


@dataclass(slots=True)
class LockfileQuality:
    """The agreement of what was found with labels, of each format and of all."""

    MAX_TOLD: ClassVar = 1000

    labels: Labels
    formats: dict[str, FormatTally] = field(default_factory=lambda: defaultdict(FormatTally))
    disagreements: list[Disagreement] = field(default_factory=list)
    disagreeing: int = 0
    _seen: set[str] = field(default_factory=set)

    def add(self, file: str, form: Format, dependencies: Iterable[Dependency]) -> None:
        """Compare one file, when it is labelled; an unreadable one has no dependencies."""
        if (labelled := self.labels.files.get(file)) is None:
            return
        self._seen.add(file)
        found = _by_package(dependencies)
        tally = self.formats[form.id]
        tally.files += 1
        tally.labelled += len(labelled)
        tally.found += len(found)
        tally.right += len(labelled.keys() & found.keys())
        for package in sorted(labelled.keys() | found.keys(), key=lambda one: (one[0], one[1], one[2] or "")):
            if package not in found:
                self._tell(file, package, "missing", "yes", "no")
            elif package not in labelled:
                self._tell(file, package, "extra", "no", "yes")
            else:
                self._compare(file, package, tally, labelled[package], found[package])

    def finish(self) -> None:
        """Count the labelled files that were not met: all that they hold was missed."""
        for file in sorted(self.labels.files.keys() - self._seen):
            form = self.labels.formats.get(file) or find_format(file)
            tally = self.formats[form.id if form else "unknown"]
            tally.files += 1
            tally.labelled += len(self.labels.files[file])
            for package in self.labels.files[file]:
                self._tell(file, package, "missing", "yes", "no such file")

    def figures(self) -> dict[str, dict[str, Any]]:
        """The figures of each format, and of `all`."""
        whole = FormatTally()
        for tally in self.formats.values():
            for name, count in asdict(tally).items():
                setattr(whole, name, getattr(whole, name) + count)
        return {**{name: self.formats[name].figures() for name in sorted(self.formats)}, "all": whole.figures()}

    def as_json(self) -> dict[str, Any]:
        """The figures, and the first disagreements of all."""
        figures = self.figures()
        return {
            "all": figures.pop("all"),
            "formats": figures,
            "disagreeing": self.disagreeing,
            "disagreements": [asdict(one) for one in self.disagreements],
        }

    def _compare(
        self, file: str, package: Package, tally: FormatTally, said: PackageLabel, found: PackageLabel
    ) -> None:
        if said.relation is not None and found.relation is not None:
            tally.relations += 1
            tally.relations_right += said.relation is found.relation
            if said.relation is not found.relation:
                self._tell(file, package, "relation", said.relation, found.relation)
        if said.scopes is not None and found.scopes is not None:
            tally.scopes += 1
            tally.scopes_right += said.scopes == found.scopes
            if said.scopes != found.scopes:
                self._tell(file, package, "scopes", _listed(said.scopes), _listed(found.scopes))

    def _tell(self, file: str, package: Package, what: str, labelled: str, found: str) -> None:
        self.disagreeing += 1
        if len(self.disagreements) < self.MAX_TOLD:
            self.disagreements.append(Disagreement(file, *package, what, str(labelled), str(found)))


def _package(row: Mapping[str, Any]) -> Package:
    ecosystem = _ECOSYSTEMS[str(row["ecosystem"]).lower()]
    version = str(row.get("version") or "")
    if ecosystem is Ecosystem.RUBYGEMS:
        version = version.partition("-")[0]  # the rest is a platform
    return _as_package(
        ecosystem, normalize_package_name(ecosystem, str(row["name"])), parse_concrete_version(ecosystem, version)
    )


def _as_package(ecosystem: Ecosystem, name: str, version: str | UnknownVersion) -> Package:
    return ecosystem.value, name, None if isinstance(version, UnknownVersion) else version


def _said(row: Mapping[str, Any]) -> PackageLabel:
    relation, scopes = row.get("relation"), row.get("scopes")
    return PackageLabel(
        None if relation is None else _RELATIONS[str(relation)],
        None if scopes is None else frozenset(Scope(str(scope)) for scope in scopes),
    )


def _by_package(dependencies: Iterable[Dependency]) -> dict[Package, PackageLabel]:
    """What was found, each package once: the same version from two places is direct when one of the two is."""
    found: dict[Package, PackageLabel] = {}
    for item in dependencies:
        package = _as_package(item.ecosystem, item.name, item.version)
        said = PackageLabel(item.relation, item.scopes)
        found[package] = _both(found[package], said) if package in found else said
    return found


def _both(one: PackageLabel, other: PackageLabel) -> PackageLabel:
    relations = {one.relation, other.relation}
    relation = next(kind for kind in (Relation.DIRECT, Relation.UNSTATED, Relation.TRANSITIVE) if kind in relations)
    return PackageLabel(relation, (one.scopes or frozenset()) & (other.scopes or frozenset()))


def _listed(scopes: frozenset[Scope]) -> str:
    return " ".join(sorted(scopes)) or "none"


def _rate(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
