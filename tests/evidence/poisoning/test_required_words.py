"""Required words let every text pass that an expression may match, in whatever listing it is."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence
from itertools import pairwise
from re import _parser as parser

from bench.poisoning_words import derive_table
from evidence.derive.poisoning import fold_text, pattern_matching
from evidence.derive.poisoning.pattern_matching import (
    find_candidate_patterns,
    find_candidates,
    find_pattern,
    list_sentence_ends,
)
from evidence.derive.poisoning.prefilter import relax_expression
from evidence.derive.poisoning.sieve import EXPRESSIONS, list_wordless
from evidence.derive.poisoning.text_folding import TextIndex
from evidence.patterns.poisoning import PATTERNS, SENTENCE
from evidence.patterns.poisoning.required_words import load_required_words
from tests.evidence.poisoning.test_needs import spoken, without


def test_the_words_are_those_of_the_expressions() -> None:
    """After a change of an expression, or of the captures: python -m bench.poisoning_words --write."""
    assert load_required_words() == derive_table()


def test_what_is_searched_near_a_word_is_as_long_as_a_match_with_it_can_be() -> None:
    words = load_required_words()
    assert max(len(word) for each in words.values() for word in each) <= pattern_matching._LONGEST_WORD
    assert [pattern.id for pattern in PATTERNS if pattern.unbroken and words[pattern.id]] == []


def test_the_places_in_a_hostile_listing_take_no_more_memory_than_a_few_times_its_text() -> None:
    texts = [f"{'<@=%' * 5_000}{number}" for number in range(100)]
    find_candidates(TextIndex(texts[:1]))
    tracemalloc.start()
    try:
        find_candidates(TextIndex(texts))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 * sum(map(len, texts))


def test_no_match_of_an_expression_can_do_without_its_words() -> None:
    words = {name: each for name, each in load_required_words().items() if each}
    assert len(words) == len(EXPRESSIONS) - len(list_wordless())
    assert [name for name in words if not _is_required(words[name], EXPRESSIONS[name])] == []


def _is_required(words: Sequence[str], parts: tuple[str, ...]) -> bool:
    return any(without(words, parser.parse(relax_expression(part))) == set() for part in parts)


def test_what_is_searched_in_joined_texts_matches_no_separator() -> None:
    names = list(EXPRESSIONS)
    assert [names[at] for at in list_wordless()] == ["encoded-run", "obfuscation 2"]
    for at in list_wordless():
        (relaxed,) = map(relax_expression, EXPRESSIONS[names[at]])
        assert not any(part in relaxed for part in ("^", "\\b", "(?s:.)", "\\W", "\\S"))


def test_a_text_has_the_same_candidates_alone_and_among_others_and_none_is_lost() -> None:
    chance = random.Random(7)
    samples = [fold_text(text) for text in (*spoken(), *(bad for pattern in PATTERNS for bad in pattern.bad * 4))]
    tried = 0
    for _ in range(80):
        texts = [" ".join(chance.sample(samples, chance.randrange(1, 4))) for _ in range(chance.randrange(1, 9))]
        among = find_candidates(TextIndex(texts))
        alone = [find_candidate_patterns(text) for text in texts]
        assert among == {at: each for at, each in enumerate(alone) if each != find_candidate_patterns("")}
        for text, each in zip(texts, alone, strict=True):
            matching = {pattern for pattern in PATTERNS if find_pattern(pattern, text)}
            assert matching <= set(each.patterns)
            tried += len(matching)
    assert tried > 100


def test_sentences_end_where_those_of_the_patterns_end() -> None:
    chance = random.Random(8)
    for _ in range(3_000):
        text = fold_text("".join(chance.choices(("e.g.", "i.e.", ".", "!", "? ", " ", "a", "b ", "1.5", "é"), k=12)))
        expected = [part.strip() for part in SENTENCE.findall(text)]
        assert [part for part in split_as_examined(text) if part not in ("", ".", "!", "?")] == [
            part for part in expected if part not in ("", ".", "!", "?")
        ]


def split_as_examined(text: str) -> list[str]:
    bounds = [0, *list_sentence_ends(text), len(text)]
    return [text[start:end].strip() for start, end in pairwise(bounds)]
