"""The `@rule` declaration: the one place that knows a rule's id, question, rationale and examples."""

from __future__ import annotations

import importlib
import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from evidence.kinds.exchanges import REVISIONS, Exchange
from scoring.engine.snippet import Snippet
from scoring.results.outcome import Level, PartialFailure, Severity, Tolerated, Undecided
from scoring.scopes.base import Scope
from scoring.scopes.conversation import Conversation
from scoring.scopes.server_access import Access

Answer: TypeAlias = str | tuple[str | Scope | Exchange, str] | Tolerated | PartialFailure
"""A message about the thing judged, (suffix of its path or a thing inside it, message), or a special failure."""

ParamValue: TypeAlias = str | int | bool | tuple[str, ...]
Judge: TypeAlias = Callable[..., Iterator[Answer]]
Fix: TypeAlias = tuple[Scope, Scope] | Snippet
"""A bad example and what it becomes by the fix, or their text where the evidence does not show what to edit."""

SPECIFICATION = "https://modelcontextprotocol.io/specification"

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
_MODULE: Final = re.compile(r"(?!__init__)\w+\.py")
_REMEDY_LENGTHS: Final = (40, 220)


class InvalidRule(ValueError):
    """A declaration is incomplete or contradicts itself; the message names the problem."""


class Requirement(Struct, frozen=True, kw_only=True):
    """A requirement of the specification that a rule checks: id in the table of checks, level and revisions.

    `revisions` are letters of `evidence.kinds.exchanges.REVISIONS`; `section` is the path of the page below a revision,
    with its anchor. `params` are the rule's parameters for this check.
    """

    id: str
    level: Level
    revisions: str
    section: str
    params: Mapping[str, ParamValue] = field(default_factory=dict)

    @property
    def link(self) -> str:
        """The page of the newest revision with the requirement; empty when the specification does not have it."""
        newest = REVISIONS[max(self.revisions)]
        return f"{SPECIFICATION}/{newest}/{self.section}" if self.section else ""


def must(check: str, revisions: str, section: str, **params: ParamValue) -> Requirement:
    """A MUST or MUST NOT requirement."""
    return Requirement(id=check, level=Level.MUST, revisions=revisions, section=section, params=params)


def should(check: str, revisions: str, section: str, **params: ParamValue) -> Requirement:
    """A SHOULD or SHOULD NOT requirement."""
    return Requirement(id=check, level=Level.SHOULD, revisions=revisions, section=section, params=params)


def info(check: str, revisions: str, section: str = "", **params: ParamValue) -> Requirement:
    """No requirement, or a requirement that cannot be checked reliably; the rationale of the rule says which."""
    return Requirement(id=check, level=Level.INFO, revisions=revisions, section=section, params=params)


class Rule(Struct, frozen=True, kw_only=True):
    """A question about one scope of the evidence. Calling it yields the answers about one thing."""

    id: str
    title: str
    rationale: str
    remedy: str
    scope: type[Scope]
    reads: str
    severity: Severity
    since: str
    version: int
    good: tuple[Scope, ...]
    bad: tuple[Scope, ...]
    judge: Judge
    params: Mapping[str, ParamValue]
    module: str
    level: Level | None = None
    spec: str | None = None
    checks: tuple[Requirement, ...] = ()
    unjudged: tuple[Scope, ...] = ()
    to_the_end: bool = False
    fix: Fix | None = None

    @property
    def family(self) -> str:
        """Name of the rule's folder, which is its chapter in the handbook."""
        return self.module.split(".")[-2]

    def __call__(self, thing: Scope, **params: ParamValue) -> Iterator[Answer]:
        """The answers about one thing; a conversation is limited to the revisions of the rule's checks.

        The iterator raises Inapplicable or Undecided, at the latest after the last answer.
        """
        if self.checks and isinstance(thing, Conversation | Access):
            thing = thing.under_revisions("".join(check.revisions for check in self.checks))
        answers = self.judge(thing, **params)
        if self.to_the_end and isinstance(thing, Conversation):
            return _decide_at_the_end(answers, thing)
        return answers

    def with_defaults(self, params: Mapping[str, ParamValue]) -> tuple[tuple[str, ParamValue], ...]:
        """Every parameter with its value, sorted by name; raise InvalidRule for an unknown parameter."""
        unknown = sorted(set(params) - set(self.params))
        if unknown:
            raise InvalidRule(f"{self.id} has no parameter {', '.join(unknown)}; it has {sorted(self.params)}")
        return tuple(sorted({**self.params, **params}.items()))


def rule(
    rule_id: str,
    *,
    scope: type[Scope],
    reads: str,
    severity: Severity,
    title: str,
    remedy: str,
    since: str,
    version: int,
    good: Sequence[Scope] = (),
    bad: Sequence[Scope] = (),
    fix: Fix | None = None,
    level: Level | None = None,
    spec: str | None = None,
    checks: Requirement | Sequence[Requirement] = (),
    unjudged: Sequence[Scope] = (),
    to_the_end: bool = False,
) -> Callable[[Judge], Rule]:
    """Declare a rule; raise InvalidRule when the rationale (docstring), the remedy or an example is missing.

    The remedy says in one or two sentences what to do; Markdown's backticks mark code. The examples of the `fix` are
    the first bad and the first good example.

    `unjudged` are examples for which the rule raises Inapplicable or Undecided. A rule `to_the_end` judges whatever a
    server sends: without a finding it is Undecided when the conversation stopped before its last question.
    """

    before, after = (fix[:1], fix[1:]) if isinstance(fix, tuple) else ((), ())

    def declare(judge: Judge) -> Rule:
        declared = Rule(
            id=rule_id,
            title=title,
            rationale=inspect.cleandoc(judge.__doc__ or ""),
            remedy=remedy,
            scope=scope,
            reads=reads,
            severity=severity,
            since=since,
            version=version,
            good=(*after, *good),
            bad=(*before, *bad),
            judge=judge,
            params=MappingProxyType(_read_params(rule_id, judge)),
            module=judge.__module__,
            level=level,
            spec=spec,
            checks=(checks,) if isinstance(checks, Requirement) else tuple(checks),
            unjudged=tuple(unjudged),
            to_the_end=to_the_end,
            fix=fix,
        )
        for complaint in _complaints(declared):
            raise InvalidRule(f"rule {rule_id}: {complaint}")
        return declared

    return declare


@cache
def discover_rules(package: str = "scoring.rules") -> Mapping[str, Rule]:
    """All rules declared in the modules below a package, by id, sorted; raise InvalidRule for a repeated id."""
    found: dict[str, Rule] = {}
    for name in _list_module_names(package):
        for value in vars(importlib.import_module(name)).values():
            if not isinstance(value, Rule) or value.module != name:
                continue
            if value.id in found:
                raise InvalidRule(f"rule {value.id} is declared in {found[value.id].module} and in {name}")
            found[value.id] = value
    return MappingProxyType(dict(sorted(found.items())))


def _decide_at_the_end(answers: Iterator[Answer], conversation: Conversation) -> Iterator[Answer]:
    failed = False
    for answer in answers:
        failed = failed or not isinstance(answer, Tolerated)
        yield answer
    if not failed and (stop := conversation.stopped_at):
        raise Undecided(f"nothing was answered from {stop.at} on")


def _list_module_names(package: str) -> Iterator[str]:
    """The modules below a package. `pkgutil` takes several times as long for the folders of all rules."""
    for root in importlib.import_module(package).__path__:
        for folder, _, files in os.walk(root):
            parents = Path(folder).relative_to(root).parts
            yield from (".".join((package, *parents, name[:-3])) for name in files if _MODULE.fullmatch(name))


def _read_params(rule_id: str, judge: Judge) -> dict[str, Any]:
    parameters = list(inspect.signature(judge).parameters.values())
    if not parameters:
        raise InvalidRule(f"rule {rule_id}: the function takes no argument, the thing to judge was expected")
    for parameter in parameters[1:]:
        if parameter.default is inspect.Parameter.empty:
            raise InvalidRule(f"rule {rule_id}: parameter {parameter.name} has no default")
    return {parameter.name: parameter.default for parameter in parameters[1:]}


def _complaints(declared: Rule) -> Iterator[str]:
    if not _ID.fullmatch(declared.id):
        yield "the id is not kebab-case with at least two words"
    yield from _text_complaints(declared)
    if not declared.good or not declared.bad:
        yield "at least one good and one bad example expected"
    if declared.reads != declared.scope.reads:
        yield f"reads {declared.reads!r}, but {declared.scope.__name__} comes from {declared.scope.reads!r}"
    for example in (*declared.good, *declared.bad, *declared.unjudged):
        if not isinstance(example, declared.scope):
            yield f"an example is a {type(example).__name__}, {declared.scope.__name__} expected"
    for check in declared.checks:
        if not set(check.revisions) <= set(REVISIONS) or not check.revisions:
            yield f"{check.id} names revisions {check.revisions!r}, letters of {''.join(REVISIONS)} expected"
        if unknown := sorted(set(check.params) - set(declared.params)):
            yield f"{check.id} sets {', '.join(unknown)}, which the rule does not have"
    if declared.version < 1:
        yield "versions start at 1"


def _text_complaints(declared: Rule) -> Iterator[str]:
    shortest, longest = _REMEDY_LENGTHS
    if not declared.rationale:
        yield "no docstring; write the rationale for a server's maintainer"
    if not declared.title:
        yield "no title"
    if not shortest <= len(declared.remedy) <= longest or not declared.remedy.endswith("."):
        yield f"the remedy is not one or two sentences of {shortest} to {longest} characters"
