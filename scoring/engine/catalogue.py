"""Finds all rules and rubrics and pins their versions."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import chain
from types import MappingProxyType

from evidence.canonical import canonical_json, sha256
from scoring.engine.assessment import Question
from scoring.engine.rubric import Rubric
from scoring.engine.rule import Rule, discover_rules
from scoring.engine.walk import ENGINE_VERSION


def list_rules() -> tuple[Rule, ...]:
    """All rules, sorted by id."""
    return tuple(discover_rules().values())


def get_rule(rule_id: str) -> Rule:
    """A rule by id; the LookupError for an unknown id says how to list the ids."""
    found = discover_rules().get(rule_id)
    if found is None:
        raise LookupError(f"no rule {rule_id!r}; `hallmark explain` without an id lists them")
    return found


@cache
def list_rubrics() -> tuple[Rubric, ...]:
    """All rubrics, every version, sorted by id and version."""
    path = importlib.import_module("scoring.rubrics").__path__
    modules = [importlib.import_module(f"scoring.rubrics.{found.name}") for found in pkgutil.iter_modules(path)]
    found = {value.name: value for module in modules for value in vars(module).values() if isinstance(value, Rubric)}
    return tuple(sorted(found.values(), key=lambda rubric: (rubric.id, rubric.version)))


def get_rubric(name: str, version: int | None = None) -> Rubric:
    """A rubric by id (newest version unless given) or by name such as `lint@1`; the LookupError lists the names."""
    wanted, _, suffix = name.partition("@")
    if suffix.isdecimal() and version is None:
        version = int(suffix)
    candidates = [known for known in list_rubrics() if known.id == wanted and version in {None, known.version}]
    if not candidates:
        known = ", ".join(known.name for known in list_rubrics())
        raise LookupError(f"no rubric {name!r}; there are {known}")
    return candidates[-1]


def list_cited_questions(cited_by: Iterable[Rubric]) -> tuple[Question, ...]:
    """The distinct questions of some rubrics, questions over all pages first so that their outcomes can be shared."""
    return _merge_questions(tuple(rubric.questions for rubric in cited_by))


@lru_cache(maxsize=16)
def _merge_questions(cited: tuple[tuple[Question, ...], ...]) -> tuple[Question, ...]:
    """Cached, since a process scores every server under the same rubrics."""
    return order_questions(dict.fromkeys(chain.from_iterable(cited)))


def order_questions(questions: Iterable[Question]) -> tuple[Question, ...]:
    """Questions in the order in which they are asked: those over all pages first."""
    return tuple(sorted(questions, key=lambda question: (question.pages, question.rule, question.params)))


@cache
def list_questions() -> tuple[Question, ...]:
    return list_cited_questions(list_rubrics())


@cache
def compute_ruleset_fingerprint() -> str:
    """Sixteen hexadecimal digits over the rule ids, the rule versions and the engine version."""
    return sha256(
        canonical_json({"engine": ENGINE_VERSION, "rules": {rule.id: rule.version for rule in list_rules()}})
    )[:16]


@cache
def pinned_versions() -> Mapping[str, str]:
    """The versions that a run pins: engine, ruleset and the source versions of the rubrics."""
    known = {f"rubric.{rubric.name}": rubric.source_version for rubric in list_rubrics()}
    return MappingProxyType({"engine": str(ENGINE_VERSION), "ruleset": compute_ruleset_fingerprint(), **known})
