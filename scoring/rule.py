"""The `@rule` declaration: the one place that knows a rule's id, question, rationale and examples."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, TypeAlias

from scoring.outcome import Level, Severity
from scoring.scope import Scope

Answer: TypeAlias = str | tuple[str, str] | tuple[Scope, str]
"""A message about the thing judged, (suffix of its path, message), or (a thing inside it, message)."""

ParamValue: TypeAlias = str | int | bool | tuple[str, ...]
Judge: TypeAlias = Callable[..., Iterator[Answer]]

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")


class InvalidRule(ValueError):
    """A declaration is incomplete or contradicts itself; the message says what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A question about one scope of the evidence. Calling it yields the answers about one thing."""

    id: str
    title: str
    rationale: str
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

    @property
    def family(self) -> str:
        """The folder of the rule, its chapter in the handbook."""
        return self.module.split(".")[-2]

    def __call__(self, thing: Scope, **params: ParamValue) -> Iterator[Answer]:
        """The answers about one thing."""
        return self.judge(thing, **params)

    def with_defaults(self, params: Mapping[str, ParamValue]) -> tuple[tuple[str, ParamValue], ...]:
        """Every parameter with its value, sorted by name; raise InvalidRule on one that the rule does not have."""
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
    since: str,
    version: int,
    good: Sequence[Scope],
    bad: Sequence[Scope],
    level: Level | None = None,
    spec: str | None = None,
) -> Callable[[Judge], Rule]:
    """Declare a rule; raise InvalidRule at once when it has no rationale (docstring), no good or no bad example."""

    def declare(judge: Judge) -> Rule:
        declared = Rule(
            id=rule_id,
            title=title,
            rationale=inspect.cleandoc(judge.__doc__ or ""),
            scope=scope,
            reads=reads,
            severity=severity,
            since=since,
            version=version,
            good=tuple(good),
            bad=tuple(bad),
            judge=judge,
            params=MappingProxyType(_params(rule_id, judge)),
            module=judge.__module__,
            level=level,
            spec=spec,
        )
        for complaint in _complaints(declared):
            raise InvalidRule(f"rule {rule_id}: {complaint}")
        return declared

    return declare


@cache
def discover(package: str = "scoring.rules") -> Mapping[str, Rule]:
    """All rules declared in the modules below a package, by id and sorted by it; raise InvalidRule on a doubled id."""
    found: dict[str, Rule] = {}
    for name in _modules(package):
        for value in vars(importlib.import_module(name)).values():
            if not isinstance(value, Rule) or value.module != name:
                continue
            if value.id in found:
                raise InvalidRule(f"rule {value.id} is declared in {found[value.id].module} and in {name}")
            found[value.id] = value
    return MappingProxyType(dict(sorted(found.items())))


def _modules(package: str) -> Iterator[str]:
    path = importlib.import_module(package).__path__
    for module in pkgutil.walk_packages(path, prefix=f"{package}."):
        if not module.ispkg:
            yield module.name


def _params(rule_id: str, judge: Judge) -> dict[str, Any]:
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
    if not declared.rationale:
        yield "no docstring; write the rationale for a server's maintainer"
    if not declared.title:
        yield "no title"
    if not declared.good or not declared.bad:
        yield "at least one good and one bad example expected"
    if declared.reads != declared.scope.reads:
        yield f"reads {declared.reads!r}, but {declared.scope.__name__} comes from {declared.scope.reads!r}"
    for example in (*declared.good, *declared.bad):
        if not isinstance(example, declared.scope):
            yield f"an example is a {type(example).__name__}, {declared.scope.__name__} expected"
    if declared.version < 1:
        yield "versions start at 1"
