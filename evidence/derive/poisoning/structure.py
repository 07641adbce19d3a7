"""Finds sentences that express the concepts of an instruction together, in any language.

Words are found in one pass. A text without a word of private data, of the user or of other tools is not examined.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from ahocorasick_rs import AhoCorasick, MatchKind

from evidence.derive.poisoning.text_folding import TextIndex, fold_text, replace_surrogates
from evidence.kinds.listing import Item
from evidence.patterns.poisoning.structure import (
    ANY_LANGUAGE,
    SIGNALS,
    WORDS,
    Concept,
    Purpose,
    Signal,
    Word,
    find_purposes,
    is_for_secrets,
)

Concepts = Mapping[Concept, int]
"""The languages in which a sentence expresses a concept, one bit each."""

_TRIGGERS: Final = frozenset(
    {
        Concept.TALK,
        Concept.SECRET,
        Concept.PATH,
        Concept.FILES,
        Concept.OTHER,
        Concept.USER,
        Concept.IGNORE,
        Concept.DECEIVE,
        Concept.PROMPT,
        Concept.ABROAD,
    }
)
_DATA: Final = {
    Purpose.TALK: Concept.TALK,
    Purpose.FILES: Concept.FILES,
    Purpose.PATH: Concept.PATH,
    Purpose.SECRET: Concept.SECRET,
}
_END: Final = re.compile(r"(?<!\be\.g)(?<!\bi\.e)[.!?;](?=\s)|[。！？；।]|\s[-*•·]\s")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_IDENTIFIER: Final = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)+|(?<=[`'\"«“„「])[a-z][a-z0-9]{1,40}(?=[`'\"»”“」])")
_VERBS: Final = (
    *("send", "create", "write", "delete", "place", "charge", "transfer", "pay", "post", "update", "run", "execute"),
    *("add", "book", "order", "upload", "push", "commit", "publish", "deploy", "mail", "gmail", "slack", "submit"),
    *("set", "edit", "modify", "move", "share", "finish", "checkout", "invoke", "git", "sms", "wire", "issue"),
)
"""Verbs in names of tools that change something."""
_TOOL: Final = re.compile(rf"(?:{'|'.join(_VERBS)})[_-]\w|\w+_(?:{'|'.join(_VERBS)})$")
_SOME_TOOL: Final = re.compile(
    r"\b(?:the|any|whichever|whatever)\s(?!(?:this|that|same|right|given|following|appropriate|relevant|correct)\s)"
    r"(?:[a-z-]{3,14}\s){1,2}tools?\b(?!\s(?:name|call|result|output|list|definition|description)s?)"
)
_VALUE: Final = re.compile(r"\d{3,}|\b[a-z]{2}\d{2}\s?\w{4}|\b\d+\s?(?:%|percent|prozent|pour\scent|por\sciento)")
_ONLY_NAMED: Final = re.compile(r"'?s?[\s_-]?(?:ids?|identifiers?|uuid|names?|titles?|urls?|links?|keys?|handles?)\b")
"""Follows a conversation that is only named, not passed on."""
_AS_A_PLACE: Final = re.compile(
    r"(?<!everything\s)(?<!all\s)(?<!said\s)\b(?:in|within|during|per|across|throughout|(?:id|start|end|beginning|language|tone)\sof)\s"
    r"(?:(?:the|this|a|an|your|each|every|our|one|same|current|whole|entire)\s){0,2}$"
)
"""Precedes a conversation that is only the place or time of something."""
_ADDRESS: Final = (
    r"(?:(?:https?|ftp|wss?)://\S|(?<![\w@])[\w.+-]{1,40}@[\w-]{1,40}\.\w|(?:[a-z0-9-]{1,40}\.){1,4}"
    r"(?:test|example|invalid|com|net|org|io|dev|xyz|ru|cn|info|co|app|cloud)\b|\d{1,3}(?:\.\d{1,3}){3}\b)"
)
_ANY_ADDRESS: Final = re.compile(_ADDRESS.replace(r"://\S|", r"://\S+|"))
_LINK: Final = re.compile(
    r"\b(?:see|visit|go|goes|navigate|sign\sup|log\sin|refer|documented|docs|links?|according|similar|equal"
    r"|defaults?|requests?)\b"
)
"""Precedes an address that is only named."""
_TOWARDS: Final = re.compile(
    r"(?:\b(?:to|with|an|zu|nach|auf|à|vers|sur|a|en|hacia|para|em|su|verso|naar|op|aan|do|na|на|в|к|до|ke|kepada|di"
    r"|đến|tới|sang|lên|về|till|på)\s(?:[\w'-]{1,14}\s){0,2}?|(?:إلى|على|في)\s|[到至给往]\s?)[`'\"<(]{0,2}"
    rf"{_ADDRESS}|{_ADDRESS}\S{{0,40}}\s?(?:へ|に|宛|로|으로|에|에게|पर|को|adresine)"
)
_ENGLISH: Final = 1
_ENGLISH_WORD: Final = re.compile(r"\b(?:the|of|and|to|for|with|or|is|whether|from|by|that|are)\b")


@dataclass(frozen=True, slots=True)
class ToolView:
    """What is known of the tool that a text belongs to."""

    name: str = ""
    purposes: frozenset[Purpose] = frozenset()
    parameters: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    """The other tools of the server."""


def describe_tool(item: Item, names: frozenset[str]) -> ToolView:
    """The view of a listed tool; names are those of all tools in lower case."""
    schema = item.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    parameters = frozenset(key.lower() for key in properties) if isinstance(properties, Mapping) else frozenset()
    named = _HUMP.sub("_", f"{item.name or ''} {item.text('title') or ''}").lower()
    name = item.name.lower()
    purposes = {*find_purposes(named), *(Purpose.SECRET for key in parameters if is_for_secrets(key))}
    view = ToolView(name, frozenset(purposes), parameters, names - {name})
    first = next(split_concepts(fold_text(item.text("description") or ""), view))
    if Concept.FIELD in first or Concept.ABROAD in first:
        return view
    stated = {purpose for purpose, concept in _DATA.items() if concept in first}
    return replace(view, purposes=view.purposes | stated)


def find_structure_candidates(folded: TextIndex) -> set[int]:
    """The indexes of texts that hold a word without which no signal is found. A cheap test."""
    finder, words = _trigger_words()
    candidates: set[int] = set()
    for index, start, end in finder.find_matches_as_indexes(replace_surrogates(folded.whole)):
        if any(_stands(word, folded.whole, start, end) for word in words[index]):
            candidates.add(folded.find_text_at(start))
    return candidates


def find_signals(folded: str, view: ToolView, *, in_field: bool) -> Iterator[Signal]:
    """The signals in a text of a tool, each once. `in_field`: the text describes a parameter."""
    sentences = list(split_concepts(folded, view))
    if in_field:
        sentences = [{**sentence, Concept.SLOT: ANY_LANGUAGE} for sentence in sentences]
    for signal in SIGNALS:
        if signal.foreign_to in view.purposes or (signal.after_purpose and in_field):
            continue
        starts = range(int(signal.after_purpose), len(sentences))
        if any(_matches(signal, sentences[at : at + signal.sentences], sentences) for at in starts):
            yield signal


def split_concepts(folded: str, view: ToolView) -> Iterator[Concepts]:
    """The concepts of each sentence."""
    ends = [found.end() for found in _END.finditer(folded)]
    sentences: list[dict[Concept, int]] = [defaultdict(int) for _ in range(len(ends) + 1)]
    finder, words = _all_words()
    prose = replace_surrogates(_ANY_ADDRESS.sub(lambda found: " " * len(found[0]), folded))
    found_words = [
        (word, start)
        for index, start, end in finder.find_matches_as_indexes(prose, overlapping=True)
        for word in words[index]
        if _stands(word, folded, start, end)
    ]
    spoken = _find_languages((word for word, _ in found_words), len(_ENGLISH_WORD.findall(prose)))
    for word, start in found_words:
        languages = word.language if word.language == ANY_LANGUAGE else word.language & spoken
        if languages:
            sentences[bisect_right(ends, start)][word.concept] |= languages
    for found in _IDENTIFIER.finditer(folded):
        concept, languages = _classify(found[0], view, quoted=folded[found.start() - 1 : found.start()] == "`")
        if concept is not None:
            sentences[bisect_right(ends, found.start())][concept] = languages
    for found in _SOME_TOOL.finditer(folded):
        sentences[bisect_right(ends, found.start())][Concept.OTHER] |= _ENGLISH
    for found in _ANY_ADDRESS.finditer(folded):
        sentences[bisect_right(ends, found.start())][Concept.ABROAD] = ANY_LANGUAGE
    for found in _TOWARDS.finditer(folded):
        if not _LINK.search(folded[max(0, found.start() - 24) : found.end()]):
            sentences[bisect_right(ends, found.start())][Concept.TOWARDS] = ANY_LANGUAGE
    for found in _VALUE.finditer(folded):
        sentences[bisect_right(ends, found.start())][Concept.VALUE] = ANY_LANGUAGE
    return iter(sentences)


def _find_languages(words: Iterable[Word], english: int) -> int:
    """The languages that a text may be written in: English when no other has more words, else those of most words."""
    counts = Counter(word.language for word in words if word.language != ANY_LANGUAGE)
    counts[_ENGLISH] += english
    most = max(counts.values())
    if counts[_ENGLISH] == most:
        return _ENGLISH
    return sum(language for language, count in counts.items() if count > most / 2 and language != _ENGLISH)


def _classify(name: str, view: ToolView, *, quoted: bool) -> tuple[Concept | None, int]:
    """What an identifier names, and in sentences of which languages. English texts name many other things so."""
    if name in view.parameters:
        return Concept.FIELD, ANY_LANGUAGE
    if name in view.others:
        return Concept.OTHER, ANY_LANGUAGE
    if name == view.name:
        return None, 0
    if _TOOL.match(name):
        return Concept.STRANGER, ANY_LANGUAGE
    if quoted:
        return Concept.FIELD, ANY_LANGUAGE
    return (Concept.STRANGER, ANY_LANGUAGE & ~_ENGLISH) if "_" in name and not is_for_secrets(name) else (None, 0)


def _matches(signal: Signal, sentences: Sequence[Concepts], whole: Sequence[Concepts]) -> bool:
    languages = ANY_LANGUAGE & ~_ENGLISH if signal.translated else ANY_LANGUAGE
    for concepts in signal.needs:
        languages &= _join_languages(sentences, concepts)
        if not languages:
            return False
    languages &= ~_join_languages(sentences, signal.unless)
    return bool(languages and not (signal.asks and _join_languages(whole, (Concept.FREELY,)) & languages))


def _join_languages(sentences: Sequence[Concepts], concepts: Sequence[Concept]) -> int:
    joined = 0
    for sentence in sentences:
        for concept in concepts:
            joined |= sentence.get(concept, 0)
    return joined


def _stands(word: Word, text: str, start: int, end: int) -> bool:
    """Whether a word stands alone, not inside another one."""
    if word.joined:
        return word.text != "@" or (text[start - 1 : start].isalnum() and text[end : end + 1].isalnum())
    if start and text[start - 1].isalnum():
        return False
    if word.concept is Concept.TALK and (
        _ONLY_NAMED.match(text, end) or _AS_A_PLACE.search(text[max(0, start - 32) : start])
    ):
        return False
    return word.open_end or not text[end : end + 1].isalnum()


def _is_only_named(text: str, start: int, end: int) -> bool:
    return _ONLY_NAMED.match(text, end) is not None or _AS_A_PLACE.search(text[max(0, start - 32) : start]) is not None


_Finder = tuple[AhoCorasick, list[list[Word]]]


@lru_cache(maxsize=1)
def _all_words() -> _Finder:
    return _build_finder(WORDS, MatchKind.Standard)


@lru_cache(maxsize=1)
def _trigger_words() -> _Finder:
    tools = (Word(f"{verb}_", Concept.STRANGER, ANY_LANGUAGE, open_end=True, joined=False) for verb in _VERBS)
    return _build_finder([*(word for word in WORDS if word.concept in _TRIGGERS), *tools], MatchKind.LeftmostLongest)


def _build_finder(words: Sequence[Word], kind: MatchKind) -> _Finder:
    by_text: dict[str, list[Word]] = defaultdict(list)
    for word in words:
        by_text[fold_text(word.text) if word.text.strip() == word.text else word.text].append(word)
    return AhoCorasick(list(by_text), matchkind=kind), list(by_text.values())
