"""Answers of rules about single tools, kept by the content of the tool.

Many servers list the same tools, and those of one server stay the same from night to night. The cache belongs to one
process, whose rules do not change.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from scoring.engine.assessment import Question
from scoring.engine.locate import locate_answer
from scoring.engine.rule import Answer, ParamValue, Rule
from scoring.engine.walk import Walk
from scoring.results.outcome import Finding, Inapplicable, Measured, Skipped, Undecided
from scoring.scopes.base import Param, Scope, Tool

CACHE_SIZE: Final = 4_000
"""Tools whose answers are cached; those with many answers are not."""
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
    """Questions that are answered from one tool or one parameter alone."""

    asked: tuple[AskedRule, ...]


_Answer: TypeAlias = tuple[int, str, tuple[int, ...], str, bool, Decimal]
"""A finding without what depends on the listing, which is where the tool is in it, and its digest.

The number of the question, path and position below the tool, message, whether it is tolerated, and share.
"""

_Unjudged: TypeAlias = tuple[int, str, str | None]
"""The number of a question that leaves a part of the tool unjudged, path below the tool, and the reason; None when the
rule does not apply.
"""


class _Judged(Struct, frozen=True):
    """The answers about one tool, and what was left unjudged."""

    answers: list[_Answer] = field(default_factory=list)
    unjudged: list[_Unjudged] = field(default_factory=list)


def answer_about_tools(questions: ToolQuestions, walk: Walk, digest: str) -> dict[Question, Measured]:
    """The outcomes of the questions over all tools of a listing."""
    counts = {Tool: len(walk.tools), Param: walk.parameter_counts.total()}
    checked = [counts[each.declared.scope] for each in questions.asked]
    findings: list[list[Finding]] = [[] for _ in questions.asked]
    undecided: dict[int, list[Skipped]] = {}
    for tool, judged in _judged_tools(questions, walk):
        for number, below, position, message, tolerated, share in judged.answers:
            rule = questions.asked[number].declared.id
            place = (*tool.position, *position) if position else tool.position
            findings[number].append(Finding(rule, tool.at + below, message, digest, place, tolerated, share))
        for number, below, reason in judged.unjudged:
            checked[number] -= 1
            if reason is not None:
                undecided.setdefault(number, []).append(Skipped(tool.at + below, reason))
    return {
        each.question: Measured(
            checked[number],
            tuple(findings[number]),
            (*walk.skipped(each.declared.scope), *undecided.get(number, ())),
        )
        for number, each in enumerate(questions.asked)
    }


def _judged_tools(questions: ToolQuestions, walk: Walk) -> Iterator[tuple[Tool, _Judged]]:
    """Every tool with the answers about it, in the order of the questions."""
    for start in range(0, len(walk.tools), _BATCH):
        batch = walk.tools[start : start + _BATCH]
        yield from zip(batch, _judge_batch(questions, batch, walk), strict=True)


def _judge_batch(questions: ToolQuestions, tools: Sequence[Tool], walk: Walk) -> list[_Judged]:
    """The answers about each of some tools."""
    is_kept = len(walk.tools) <= CACHE_SIZE  # more tools would push out each other, and those of all other servers
    contents = [_content(tool.item.raw) if is_kept else b"" for tool in tools]
    known = [_known(questions, content) if content else [] for content in contents]
    new = [tool for tool, cached in zip(tools, known, strict=True) if not cached]
    judged = iter(_judge(questions.asked, new, walk) if new else ())
    found = [cached[0] if cached else next(judged) for cached in known]
    for content, cached, one in zip(contents, known, found, strict=True):
        if content and not cached and len(one.answers) + len(one.unjudged) <= _MANY:
            cached.append(one)
    return found


@lru_cache(CACHE_SIZE)
def _known(_questions: ToolQuestions, _content: bytes) -> list[_Judged]:
    """The cached answers in a list of one element; an empty list before the tool is judged for the first time."""
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
    of_tools = [(tool, tool.at, judged) for tool, judged in zip(tools, found, strict=True)]
    of_params = [(each, at, judged) for tool, at, judged in of_tools for each in walk.list_parameters(tool)]
    for number, each in enumerate(asked):
        things = of_tools if each.declared.scope is Tool else of_params
        try:
            _ask(number, each.judge, things)
        except Exception as error:
            error.add_note(f"raised by rule {each.declared.id}")
            raise
    return found


def _ask(number: int, judge: Callable[[Scope], Iterable[Answer]], things: Iterable[tuple[Scope, str, _Judged]]) -> None:
    """Add the answers of one rule about each thing. A thing that it does not judge to the end has none."""
    same: dict[_Answer, _Answer] = {}  # many tools have the same flaw
    for thing, above, judged in things:
        answers = judged.answers
        known = len(answers)
        try:
            for answer in judge(thing):
                at, message, position, tolerated, share = locate_answer(thing, answer)
                found = (number, at.removeprefix(above), position[1:], message, tolerated, share)
                answers.append(same.setdefault(found, found))
        except (Inapplicable, Undecided) as why:
            del answers[known:]
            reason = str(why) if isinstance(why, Undecided) else None
            judged.unjudged.append((number, thing.at.removeprefix(above), reason))
