"""Answers of rules about tools, kept by the content of the tool, or by that of all tools for rules about them together.

Many servers list the same tools, and those of one server stay the same from night to night. The caches belong to one
process, whose rules do not change.
"""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from scoring.engine.assessment import Question
from scoring.engine.locate import locate_answer
from scoring.engine.rule import Answer, ParamValue, Rule
from scoring.engine.walk import Walk
from scoring.results.outcome import Finding, Inapplicable, Measured, Skipped, Undecided
from scoring.scopes.base import Param, Scope, Tool, Toolset

CACHE_SIZE: Final = 4_000
"""Tools whose answers are cached; those with many answers are not."""
TOOLSETS: Final = 1_000
"""Lists of tools whose answers are cached; those with many answers or with a tool that is not cached are not."""
_MANY: Final = 100
_LONGEST: Final = 20_000
"""Bytes of a tool that is cached."""
_BATCH: Final = 500
"""Tools that are judged together; the answers about ten thousand tools at once would take 15 MiB."""


class AskedRule(Struct, frozen=True):
    """A question with its rule and the rule's parameters."""

    question: Question
    declared: Rule
    params: Mapping[str, ParamValue]

    @property
    def judge(self) -> Callable[[Scope], Iterable[Answer]]:
        """The rule's function with its parameters. Without any, no call pays for an empty mapping."""
        return partial(self.declared.judge, **self.params) if self.params else self.declared.judge


class ToolQuestions(Struct, frozen=True, eq=False):
    """Questions that are answered from one tool or one parameter alone, and those about all tools `together`."""

    apart: tuple[AskedRule, ...] = ()
    together: tuple[AskedRule, ...] = ()


_Answer: TypeAlias = tuple[int, str, tuple[int, ...], str, bool, Decimal]
"""A finding without what depends on the listing, which is where the subject is in it, and its digest.

The number of the question, path and position below the subject, message, whether it is tolerated, and share.
"""

_Unjudged: TypeAlias = tuple[int, str, str | None]
"""The number of a question that leaves a part of the subject unjudged, path below the subject, and the reason.

The reason is None when the rule does not apply.
"""

_Subject: TypeAlias = Tool | Toolset
"""What answers are kept by: one tool, or all tools of a list."""


class _Judged(Struct, frozen=True):
    """The answers about one subject, and what was left unjudged."""

    answers: list[_Answer] = field(default_factory=list)
    unjudged: list[_Unjudged] = field(default_factory=list)


def answer_about_tools(questions: ToolQuestions, walk: Walk, digest: str) -> dict[Question, Measured]:
    """The outcomes of the questions over all tools of a listing."""
    counts = {Tool: len(walk.tools), Param: walk.parameter_counts.total()}
    apart = _Outcomes(questions.apart, [counts[each.declared.scope] for each in questions.apart], digest)
    is_kept = len(walk.tools) <= CACHE_SIZE  # more tools would push out each other, and those of all other servers
    content = hashlib.sha256()
    for start in range(0, len(walk.tools), _BATCH):
        batch = walk.tools[start : start + _BATCH]
        contents = [_content(tool.item.raw) if is_kept else b"" for tool in batch]
        for tool, judged in zip(batch, _judge_batch(questions, batch, contents, walk), strict=True):
            apart.add(tool, judged)
        is_kept = is_kept and all(contents)
        for one in contents:
            content.update(one)
    if not questions.together:
        return apart.complete(walk)
    together = _Outcomes(questions.together, [1] * len(questions.together), digest)
    toolset = walk.toolset
    together.add(toolset, _judge_toolset(questions, toolset, content.digest() if is_kept else b""))
    return apart.complete(walk) | together.complete(walk)


class _Outcomes:
    """The outcomes of some questions, to which the answers about one subject after the other are added."""

    def __init__(self, asked: Sequence[AskedRule], checked: list[int], digest: str) -> None:
        self._asked, self._checked, self._digest = asked, checked, digest
        self._findings: list[list[Finding]] = [[] for _ in asked]
        self._undecided: dict[int, list[Skipped]] = {}

    def add(self, subject: _Subject, judged: _Judged) -> None:
        at, place, digest, findings = subject.at, subject.position, self._digest, self._findings
        for number, below, position, message, tolerated, share in judged.answers:
            rule = self._asked[number].declared.id
            inside = (*place, *position) if position else place
            findings[number].append(Finding(rule, at + below, message, digest, inside, tolerated, share))
        for number, below, reason in judged.unjudged:
            self._checked[number] -= 1
            if reason is not None:
                self._undecided.setdefault(number, []).append(Skipped(at + below, reason))

    def complete(self, walk: Walk) -> dict[Question, Measured]:
        return {
            each.question: Measured(
                self._checked[number],
                tuple(self._findings[number]),
                (*walk.skipped(each.declared.scope), *self._undecided.get(number, ())),
            )
            for number, each in enumerate(self._asked)
        }


def _judge_batch(
    questions: ToolQuestions, tools: Sequence[Tool], contents: Sequence[bytes], walk: Walk
) -> list[_Judged]:
    """The answers about each of some tools."""
    known = [_known(questions, content) if content else [] for content in contents]
    new = [tool for tool, cached in zip(tools, known, strict=True) if not cached]
    judged = iter(_judge(questions.apart, new, walk) if new else ())
    found = [cached[0] if cached else next(judged) for cached in known]
    for content, cached, one in zip(contents, known, found, strict=True):
        if content and not cached:
            _keep(cached, one)
    return found


def _judge_toolset(questions: ToolQuestions, toolset: Toolset, content: bytes) -> _Judged:
    """The answers about all tools together; `content` is a digest of them, empty when answers are not kept."""
    known = _known_together(questions, content) if content else []
    if known:
        return known[0]
    judged = _Judged()
    for number, each in enumerate(questions.together):
        _ask(number, each, [(toolset, toolset, judged)])
    if content:
        _keep(known, judged)
    return judged


def _keep(cached: list[_Judged], judged: _Judged) -> None:
    if len(judged.answers) + len(judged.unjudged) <= _MANY:
        cached.append(judged)


@lru_cache(CACHE_SIZE)
def _known(_questions: ToolQuestions, _content: bytes) -> list[_Judged]:
    """The cached answers in a list of one element; an empty list before the tool is judged for the first time."""
    return []


@lru_cache(TOOLSETS)
def _known_together(_questions: ToolQuestions, _content: bytes) -> list[_Judged]:
    """The same for all tools of a list together."""
    return []


def _content(raw: Any) -> bytes:
    """Bytes that no other tool has: the order of members counts, and 1 is not 1.0. Empty when it is too large."""
    try:
        content = marshal.dumps(raw, 2)
    except ValueError:  # nested too deeply
        return b""
    return content if len(content) <= _LONGEST else b""


def _judge(asked: Sequence[AskedRule], tools: Sequence[Tool], walk: Walk) -> list[_Judged]:
    """The answers about each tool. One rule after the other, since a processor repeats the same code faster."""
    found = [_Judged() for _ in tools]
    of_tools = [(tool, tool, judged) for tool, judged in zip(tools, found, strict=True)]
    of_params = [(each, tool, judged) for tool, _, judged in of_tools for each in walk.list_parameters(tool)]
    for number, each in enumerate(asked):
        _ask(number, each, of_tools if each.declared.scope is Tool else of_params)
    return found


def _ask(number: int, asked: AskedRule, things: Iterable[tuple[Scope, _Subject, _Judged]]) -> None:
    """Add the answers of one rule about each thing of a subject. A thing that it does not judge to the end has none."""
    judge = asked.judge
    same: dict[_Answer, _Answer] = {}  # many tools have the same flaw
    try:
        for thing, subject, judged in things:
            answers = judged.answers
            known = len(answers)
            try:
                for answer in judge(thing):
                    at, message, position, tolerated, share = locate_answer(thing, answer)
                    below, inside = at.removeprefix(subject.at), position[len(subject.position) :]
                    found = (number, below, inside, message, tolerated, share)
                    answers.append(same.setdefault(found, found))
            except (Inapplicable, Undecided) as why:
                del answers[known:]
                reason = str(why) if isinstance(why, Undecided) else None
                judged.unjudged.append((number, thing.at.removeprefix(subject.at), reason))
    except Exception as error:
        error.add_note(f"raised by rule {asked.declared.id}")
        raise
