"""Handbook pages about evidence: one page per kind with the text of its module and the rules that read it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

from msgspec import Struct

import evidence.kinds
from evidence.model import Reason
from publish.views.absence_advice import advise_on_absence
from scoring.engine import catalogue
from scoring.engine.rule import Rule


class EvidenceKind(Struct, frozen=True):
    """One kind of evidence as its module declares it."""

    name: str
    schema: int
    module: str
    text: str

    @property
    def summary(self) -> str:
        """The first sentence of its description."""
        return self.text.partition("\n")[0].partition(": ")[2]


def render_evidence_pages() -> Iterator[tuple[str, Iterator[str]]]:
    """File name and lines of every page."""
    known = list_kinds()
    yield "README.md", _index(known)
    for kind in known:
        yield f"{kind.name}.md", _page(kind)


def list_kinds() -> list[EvidenceKind]:
    names = [f"evidence.kinds.{found.name}" for found in pkgutil.iter_modules(evidence.kinds.__path__)]
    modules = [module for module in map(importlib.import_module, names) if hasattr(module, "SCHEMA")]
    found = [EvidenceKind(it.KIND, it.SCHEMA, it.__name__, inspect.cleandoc(it.__doc__ or "")) for it in modules]
    return sorted(found, key=lambda kind: kind.name)


def _index(known: list[EvidenceKind]) -> Iterator[str]:
    yield from ("# Evidence", "")
    yield "What is recorded of a server, one record per kind and run: a payload, or the reason why there is none."
    yield "[Rules](../rules/README.md) ask questions about it."
    yield from ("", "| kind | schema | what it holds | rules |", "|---|---|---|---|")
    for kind in known:
        yield f"| [`{kind.name}`]({kind.name}.md) | {kind.schema} | {kind.summary} | {len(_rules(kind.name))} |"
    yield from ("", "## Reasons of absence", "")
    yield "`ours` marks a limit or failure of Hallmark, not of the server."
    yield from ("", "| reason | ours | meaning |", "|---|---|---|")
    for reason in Reason:
        advice = advise_on_absence(reason)
        yield f"| `{reason.value}` | {'yes' if advice.ours else ''} | {advice.means} |"


def _page(kind: EvidenceKind) -> Iterator[str]:
    yield from (f"# Evidence: {kind.name}", "", f"Schema {kind.schema}, declared in `{kind.module}`.", "", kind.text)
    rules = _rules(kind.name)
    if rules:
        yield from ("", "## Rules that read it", "")
        yield from (f"- [`{rule.id}`](../rules/{rule.family}.md#{rule.id})" for rule in rules)


def _rules(kind: str) -> list[Rule]:
    return [rule for rule in catalogue.list_rules() if rule.reads == kind]
