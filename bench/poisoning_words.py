"""Derives, for each expression of the poisoning scan, words of which every match contains one, from the expression.

    python -m bench.poisoning_words [--write]

The words decide which expressions are tried on which texts (`evidence.derive.poisoning.sieve`). Of several groups of
words the rarest is chosen, counted in the captured listings. `--write` replaces the table.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from re import _constants as op
from re import _parser as parser
from typing import Any, Final

from evidence.derive.poisoning import fold_text, list_shown_texts
from evidence.derive.poisoning.prefilter import relax_expression, spell_in_ascii
from evidence.derive.poisoning.sieve import EXPRESSIONS
from evidence.kinds.listing import Listing
from evidence.model import Observed
from evidence.patterns.poisoning.required_words import TABLE
from tests.dossiers import captures

MOST_WORDINGS: Final = 64
"""Wordings up to which a part of an expression is spelt out."""
MOST_MEMBERS: Final = 10

TOO_USUAL: Final = 1_500
"""Occurrences from which words tell nothing."""
_ANY_SPACE: Final = (op.CATEGORY, op.CATEGORY_SPACE)
_SPACE: Final = (op.LITERAL, ord(" "))
"""The only white space of a folded text."""

Words = frozenset[str]
Count = Callable[[Words], float]
Parts = tuple[Words | None, list[Words]]
"""All wordings of a part of an expression, or None for too many and then groups of which each match contains a word."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--write", action="store_true")
    table = format_table(derive_table())
    if arguments.parse_args().write:
        TABLE.write_text(table, encoding="utf-8")
    print("written or as derived" if TABLE.read_text(encoding="utf-8") == table else "differs: --write replaces it")


def format_table(words: Mapping[str, Sequence[str]]) -> str:
    """The table as a file, a line for each expression."""
    lines = (f"{json.dumps(name)}:{json.dumps(each, separators=(',', ':'))}" for name, each in words.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def derive_table() -> dict[str, list[str]]:
    """Words for each expression; none for those of which matches have no words."""
    count = _count_in_captures()
    groups = {
        name: [group for part in parts for group in derive_groups(part, count)] for name, parts in EXPRESSIONS.items()
    }
    rarest = {
        name: min(each, key=lambda group: (count(group), sorted(group)), default=Words())
        for name, each in groups.items()
    }
    return {name: sorted(words) if count(words) < TOO_USUAL else [] for name, words in rarest.items()}


def derive_groups(verbose: str, count: Count) -> list[Words]:
    """Groups of words for one expression, in the ASCII form of texts; each match contains one of each group."""
    wordings, groups = _read(parser.parse(relax_expression(verbose)), count)
    return [_without_longer(group) for group in _as_groups(wordings, groups)]


def _as_groups(wordings: Words | None, groups: list[Words]) -> list[Words]:
    if wordings is None:
        return groups
    return [] if "" in wordings else [wordings]


def _count_in_captures() -> Count:
    contents = (dossier.read("listing") for dossier in captures().values())
    listings = [Listing.parse(content.body) for content in contents if isinstance(content, Observed)]
    said = [dict.fromkeys(text for _, _, text in list_shown_texts(listing)) for listing in listings]
    whole = "\0".join(spell_in_ascii(fold_text(text)) for texts in said for text in texts)
    occurrences = cache(whole.count)
    return lambda group: round(sum(occurrences(word) + 0.3 for word in sorted(_without_longer(group))), 1)


def _without_longer(group: Iterable[str]) -> Words:
    """The words that contain no other one."""
    words = sorted(group, key=len)
    return frozenset(word for at, word in enumerate(words) if not any(other in word for other in words[:at]))


def _read(tokens: Any, count: Count) -> Parts:
    groups: list[Words] = []
    run: Words = frozenset({""})
    is_whole = True
    for kind, argument in tokens:
        wordings, inner = _read_one(kind, argument, count)
        if wordings is not None and len(run) * len(wordings) <= MOST_WORDINGS:
            run = frozenset(first + second for first in run for second in wordings)
            continue
        is_whole = False
        groups += _as_groups(run, [])
        groups += inner
        run = frozenset({""}) if wordings is None else wordings
    if is_whole:
        return run, []
    return None, groups + _as_groups(run, [])


def _read_one(kind: Any, argument: Any, count: Count) -> Parts:
    if kind is op.LITERAL:
        return frozenset({chr(argument)}), []
    if kind in (op.AT, op.ASSERT, op.ASSERT_NOT):
        return frozenset({""}), []
    if kind is op.IN:
        return _list_members(argument), []
    if kind is op.SUBPATTERN:
        return _read(argument[-1], count)
    if kind is op.BRANCH:
        return _read_branches([_read(branch, count) for branch in argument[1]], count)
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
        least, most, body = argument
        return _repeat(least, most, _read(body, count))
    return None, []


def _list_members(members: Any) -> Words | None:
    signs = [_SPACE if member == _ANY_SPACE else member for member in members]
    if len(signs) > MOST_MEMBERS or any(kind is not op.LITERAL for kind, _ in signs):
        return None
    return frozenset(chr(code) for _, code in signs)


def _read_branches(parts: Sequence[Parts], count: Count) -> Parts:
    """One of several parts: groups are joined, the rarest of each part with the rarest of the others."""
    wordings = [each for each, _ in parts if each is not None]
    if len(wordings) == len(parts) and len(joined := frozenset[str]().union(*wordings)) <= MOST_WORDINGS:
        return joined, []
    choices = [sorted(_as_groups(*part), key=lambda group: (count(group), sorted(group))) for part in parts]
    if not all(choices):
        return None, []
    most = max(map(len, choices))
    return None, [frozenset[str]().union(*(each[min(at, len(each) - 1)] for each in choices)) for at in range(most)]


def _repeat(least: int, most: int, body: Parts) -> Parts:
    wordings, groups = body
    if least == 0:
        return (wordings | {""} if wordings is not None and most == 1 else None), []
    if wordings is None:
        return None, groups
    run: Words = frozenset({""})
    for _ in range(least):
        longer = frozenset(first + second for first in run for second in wordings)
        if len(longer) > MOST_WORDINGS:
            return None, _as_groups(run, [])
        run = longer
    return (run, []) if least == most else (None, _as_groups(run, []))


if __name__ == "__main__":
    main()
