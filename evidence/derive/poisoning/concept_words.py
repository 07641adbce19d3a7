"""Finds the words of concepts in texts, in one pass over the words of all languages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from ahocorasick_rs import AhoCorasick, MatchKind

from evidence.compiled_on_use import compile_on_use
from evidence.derive.poisoning.text_folding import TextIndex, replace_surrogates
from evidence.patterns.poisoning.structure import ANY_LANGUAGE, ENGLISH, Concept, Word, list_words

_DATA: Final = (Concept.TALK, Concept.SECRET, Concept.PATH, Concept.FILES, Concept.PROMPT, Concept.DECEIVE)
_TRIGGERS: Final = frozenset({*_DATA, Concept.OTHER, Concept.ABROAD})
_TRANSLATED_TRIGGERS: Final = frozenset({Concept.USER, Concept.IGNORE})
"""Too frequent in English, whose signals of these concepts need a step as well."""

_ONLY_NAMED: Final = compile_on_use(
    r"'?s?[\s_-]?(?:ids?|identifiers?|uuid|names?|titles?|urls?|links?|keys?|handles?)\b"
)
"""Follows a conversation that is only named, not passed on."""
_AS_A_PLACE: Final = compile_on_use(
    r"(?<!everything\s)(?<!all\s)(?<!said\s)\b(?:in|within|during|per|across|throughout|(?:id|start|end|beginning|language|tone)\sof)\s"
    r"(?:(?:the|this|a|an|your|each|every|our|one|same|current|whole|entire)\s){0,2}$"
)
"""Precedes a conversation that is only the place or time of something."""
_ENGLISH_WORD: Final = compile_on_use(r"\b(?:the|of|and|to|for|with|or|is|whether|from|by|that|are)\b")
_CERTAINLY_ENGLISH: Final = (" the ", " of ", " is ", " to ")

FoundWord = tuple[Concept, int, int]
"""A concept, its languages, and the place."""


def find_triggered(folded: TextIndex, tool_verbs: Iterable[str]) -> Iterator[int]:
    """The indexes of texts that hold a word without which no signal is found, in their language. A cheap test."""
    languages: dict[int, int] = defaultdict(int)
    for language, place in find_triggers(folded.whole, tool_verbs):
        languages[folded.find_text_at(place)] |= language
    for at, spoken in languages.items():
        text = folded.texts[at]
        is_name = text.isascii() and " " not in text
        if not is_name and (spoken & ENGLISH or not is_certainly_english(text)):
            yield at


def find_triggers(folded: str, tool_verbs: Iterable[str]) -> Iterator[tuple[int, int]]:
    """The languages and places of words of which each signal needs one."""
    finder, words = _trigger_words(tuple(tool_verbs))
    for index, start, end in finder.find_matches_as_indexes(replace_surrogates(folded)):
        for word in words[index]:
            if _stands(word, folded, start, end):
                yield word.language, start


def is_certainly_english(text: str) -> bool:
    return text.isascii() and any(word in text for word in _CERTAINLY_ENGLISH)


def find_words(folded: str) -> Iterator[FoundWord]:
    """The words of concepts in a text, of the languages that it may be written in."""
    finder, words = _english_words() if is_certainly_english(folded) else _all_words()
    found = [
        (word, start)
        for index, start, end in finder.find_matches_as_indexes(replace_surrogates(folded), overlapping=True)
        for word in words[index]
        if _stands(word, folded, start, end)
    ]
    spoken = _find_languages((word for word, _ in found), len(_ENGLISH_WORD.findall(folded)))
    for word, start in found:
        languages = word.language if word.language == ANY_LANGUAGE else word.language & spoken
        if languages:
            yield word.concept, languages, start


def _find_languages(words: Iterable[Word], english: int) -> int:
    """The languages that a text may be written in: English when no other has more words, else those of most words."""
    counts = Counter(word.language for word in words if word.language != ANY_LANGUAGE)
    counts[ENGLISH] += english
    most = max(counts.values())
    if counts[ENGLISH] == most:
        return ENGLISH
    return sum(language for language, count in counts.items() if count > most / 2 and language != ENGLISH)


def _stands(word: Word, text: str, start: int, end: int) -> bool:
    """Whether a word stands alone, not inside another one."""
    if word.joined:
        return True
    if start and text[start - 1].isalnum():
        return False
    if not word.open_end and text[end : end + 1].isalnum():
        return False
    return word.concept is not Concept.TALK or not _is_only_named(text, start, end)


def _is_only_named(text: str, start: int, end: int) -> bool:
    return _ONLY_NAMED.match(text, end) is not None or _AS_A_PLACE.search(text[max(0, start - 32) : start]) is not None


_Finder = tuple[AhoCorasick, list[list[Word]]]


@lru_cache(maxsize=1)
def _all_words() -> _Finder:
    return _build_finder(list_words(lambda _concept, _language: True), MatchKind.Standard)


@lru_cache(maxsize=1)
def _english_words() -> _Finder:
    return _build_finder(list_words(lambda _concept, language: bool(language & ENGLISH)), MatchKind.Standard)


@lru_cache(maxsize=1)
def _trigger_words(tool_verbs: tuple[str, ...]) -> _Finder:
    tools = (Word(f"{verb}_", Concept.STRANGER, ANY_LANGUAGE, open_end=True, joined=False) for verb in tool_verbs)
    return _build_finder([*list_words(_is_trigger), *tools], MatchKind.LeftmostLongest)


def _is_trigger(concept: Concept, language: int) -> bool:
    if concept in _TRIGGERS:
        return True
    return concept is Concept.STEP if language == ENGLISH else concept in _TRANSLATED_TRIGGERS


def _build_finder(words: Iterable[Word], kind: MatchKind) -> _Finder:
    by_text: dict[str, list[Word]] = defaultdict(list)
    for word in words:
        by_text[word.text].append(word)
    return AhoCorasick(list(by_text), matchkind=kind), list(by_text.values())
