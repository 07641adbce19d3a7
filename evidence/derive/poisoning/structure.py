"""Finds sentences that express the concepts of an instruction together, in any language."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from operator import or_
from typing import Final

from msgspec import Struct

from evidence.compiled_on_use import compile_on_use
from evidence.derive.poisoning.concept_words import find_triggered, find_triggers, find_words
from evidence.derive.poisoning.text_folding import TextIndex, fold_text
from evidence.kinds.listing import Item
from evidence.patterns.poisoning.structure import (
    ANY_LANGUAGE,
    ENGLISH,
    SIGNALS,
    Concept,
    Purpose,
    Signal,
    find_purposes,
    is_for_secrets,
)

Concepts = list[int]
"""For each concept, the languages in which a sentence expresses it, one bit each."""

_DATA: Final = {
    Purpose.TALK: Concept.TALK,
    Purpose.FILES: Concept.FILES,
    Purpose.PATH: Concept.PATH,
    Purpose.SECRET: Concept.SECRET,
}
_SIZE: Final = max(Concept) + 1
_SHORT_TEXT: Final = 300
"""Characters up to which all sentences of a text are examined."""
_PURPOSE_LENGTH: Final = 400
"""Characters of a description in which its first sentence is looked for."""
_END: Final = compile_on_use(r"[.!?;](?=\s)(?<!\be\.g[.!?;])(?<!\bi\.e[.!?;])|[。！？；।]|\s[-*•·]\s")
_HUMP: Final = compile_on_use(r"(?<=[a-z0-9])(?=[A-Z])")
_IDENTIFIER: Final = compile_on_use(
    r"(?<![a-z0-9])[a-z0-9]++(?:[_-][a-z0-9]++)+|(?<=[`'\"«“„「])[a-z][a-z0-9]{1,40}(?=[`'\"»”“」])"
)
_QUOTES: Final = frozenset("`'\"«“„「")
_VERBS: Final = (
    *("send", "create", "write", "delete", "place", "charge", "transfer", "pay", "post", "update", "run", "execute"),
    *("add", "book", "order", "upload", "push", "commit", "publish", "deploy", "mail", "gmail", "slack", "submit"),
    *("set", "edit", "modify", "move", "share", "finish", "checkout", "invoke", "git", "sms", "wire", "issue"),
)
"""Verbs in names of tools that change something."""
_TOOL: Final = compile_on_use(rf"(?:{'|'.join(_VERBS)})[_-]\w|\w+_(?:{'|'.join(_VERBS)})$")
_SOME_TOOL: Final = compile_on_use(
    r"\b(?:the|any|whichever|whatever)\s(?!(?:this|that|same|right|given|following|appropriate|relevant|correct)\s)"
    r"(?:[a-z-]{3,14}\s){1,2}tools?\b(?!\s(?:name|call|result|output|list|definition|description)s?)"
)
_VALUE: Final = compile_on_use(r"\d{3,}|\b[a-z]{2}\d{2}\s?\w{4}|\b\d+\s?(?:%|percent|prozent|pour\scent|por\sciento)")
_TOP_DOMAIN: Final = r"(?:test|example|invalid|com|net|org|io|dev|xyz|ru|cn|info|co|app|cloud)\b"
_ADDRESS: Final = (
    r"(?:(?:https?|ftp|wss?)://\S|(?<![\w@])[\w.+-]{1,40}@[\w-]{1,40}\.\w"
    rf"|(?:[a-z0-9-]{{1,40}}\.){{1,4}}{_TOP_DOMAIN}|\d{{1,3}}(?:\.\d{{1,3}}){{3}}\b)"
)
_PART_OF_ADDRESS: Final = compile_on_use(rf"://|@|\.{_TOP_DOMAIN}|\.\d")
"""In every address; found much sooner."""
_ANY_ADDRESS: Final = compile_on_use(_ADDRESS.replace(r"://\S|", r"://\S+|"))
_LINK: Final = compile_on_use(
    r"\b(?:see|visit|go|goes|navigate|sign\sup|log\sin|refer|documented|docs|links?|according|similar|equal"
    r"|defaults?|requests?)\b"
)
"""Precedes an address that is only named."""
_DIRECTION: Final = compile_on_use(
    r"(?:\b(?:to|with|an|zu|nach|auf|à|vers|sur|a|en|hacia|para|em|su|verso|naar|op|aan|do|na|на|в|к|до|ke|kepada|di"
    r"|đến|tới|sang|lên|về|till|på)\s(?:[\w'-]{1,14}\s){0,2}?|(?:إلى|على|في)\s|[到至给往]\s?)[`'\"<(]{0,2}$"
)
"""Precedes an address to which something goes; in some languages a word after it says so."""
_DIRECTION_AFTER: Final = compile_on_use(r"\S{0,40}\s?(?:へ|に|宛|로|으로|에|에게|पर|को|adresine)")
_DIRECTION_LENGTH: Final = 48


class ToolView(Struct, frozen=True):
    """What is known of the tool that a text belongs to."""

    name: str = ""
    purposes: frozenset[Purpose] = frozenset()
    parameters: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    """All tools of the server."""
    description: str = ""


def describe_tool(item: Item, names: frozenset[str]) -> ToolView:
    """The view of a listed tool; names are those of all tools in lower case."""
    schema = item.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    parameters = frozenset(key.lower() for key in properties) if isinstance(properties, Mapping) else frozenset()
    named = _HUMP.sub("_", f"{item.name} {item.text('title')}").lower()
    purposes = {*find_purposes(named), *(Purpose.SECRET for key in parameters if is_for_secrets(key))}
    return ToolView(item.name.lower(), frozenset(purposes), parameters, names, item.text("description"))


def _find_stated_purposes(view: ToolView) -> set[Purpose]:
    """What the first sentence of a description says that the tool is for."""
    description = fold_text(view.description[:_PURPOSE_LENGTH])
    end = _END.search(description)
    first = split_concepts(description[: end.end()] if end else description, view)[0]
    if first[Concept.FIELD] or first[Concept.ABROAD]:
        return set()
    return {purpose for purpose, concept in _DATA.items() if first[concept]}


def find_structure_candidates(folded: TextIndex) -> set[int]:
    """The indexes of texts that may hold a signal. A cheap test."""
    return set(find_triggered(folded, _VERBS))


def find_signals(folded: str, view: ToolView, *, in_field: bool) -> Iterator[Signal]:
    """The signals in a text of a tool, each once. `in_field`: the text describes a parameter."""
    sentences = split_concepts(_select_sentences(folded), view)
    if in_field:
        for sentence in sentences:
            sentence[Concept.SLOT] = ANY_LANGUAGE
    found = list(_find_combined(sentences, view, in_field=in_field))
    if any(signal.foreign_to for signal in found):
        stated = _find_stated_purposes(view)
        found = [signal for signal in found if signal.foreign_to not in stated]
    return iter(found)


def _find_combined(sentences: Sequence[Concepts], view: ToolView, *, in_field: bool) -> Iterator[Signal]:
    whole = _join(sentences)
    for signal in SIGNALS:
        if signal.foreign_to in view.purposes or (signal.after_purpose and in_field):
            continue
        if not _find_common_languages(signal, whole):
            continue
        starts = range(int(signal.after_purpose), len(sentences))
        if any(_matches(signal, _join(sentences[at : at + signal.sentences]), whole) for at in starts):
            yield signal


def _select_sentences(folded: str) -> str:
    """The sentences of a long text that hold a trigger or are beside one. An empty sentence stands for the others."""
    if len(folded) <= _SHORT_TEXT:
        return folded
    ends = [found.end() for found in _END.finditer(folded)]
    if not ends:
        return folded
    triggered = {bisect_right(ends, place) for _, place in find_triggers(folded, _VERBS)}
    wanted = sorted({at + beside for at in triggered for beside in (-1, 0, 1) if 0 <= at + beside <= len(ends)})
    bounds = [0, *ends, len(folded)]
    selected: list[str] = []
    last = -1
    for at in wanted:
        if at != last + 1:
            selected.append("; ")
        selected.append(folded[bounds[at] : bounds[at + 1]])
        last = at
    return "".join(selected)


def split_sentences(folded: str) -> list[str]:
    """The sentences of a folded text, with their ends."""
    bounds = [0, *(found.end() for found in _END.finditer(folded)), len(folded)]
    return [folded[start:end] for start, end in pairwise(bounds)]


def skip_first(folded: str) -> str:
    """A folded text without its first sentence."""
    end = _END.search(folded)
    return folded[end.end() :] if end else ""


def split_concepts(folded: str, view: ToolView) -> list[Concepts]:
    """The concepts of each sentence."""
    ends = [found.end() for found in _END.finditer(folded)]
    sentences: list[Concepts] = [[0] * (_SIZE) for _ in range(len(ends) + 1)]
    for concept, languages, start in _find_concepts(folded, view):
        sentences[bisect_right(ends, start)][concept] |= languages
    return sentences


def _find_concepts(folded: str, view: ToolView) -> Iterator[tuple[Concept, int, int]]:
    prose = folded
    if _PART_OF_ADDRESS.search(folded):
        prose = _ANY_ADDRESS.sub(lambda found: " " * len(found[0]), folded)
    yield from find_words(prose)
    yield from _find_tools(folded, view)
    if prose is not folded and prose != folded:
        yield from _find_addresses(folded)


def _find_tools(folded: str, view: ToolView) -> Iterator[tuple[Concept, int, int]]:
    """Tools and parameters by name, and the values that are prescribed for tools of other servers."""
    strangers = False
    if "_" in folded or "-" in folded or not _QUOTES.isdisjoint(folded):
        for found in _IDENTIFIER.finditer(folded):
            concept, languages = _classify(found[0], view, quoted=folded[found.start() - 1 : found.start()] == "`")
            strangers |= concept is Concept.STRANGER
            if concept is not None:
                yield concept, languages, found.start()
    if " tool" in folded:
        for found in _SOME_TOOL.finditer(folded):
            yield Concept.OTHER, ENGLISH, found.start()
    if strangers:
        for found in _VALUE.finditer(folded):
            yield Concept.VALUE, ANY_LANGUAGE, found.start()


def _find_addresses(folded: str) -> Iterator[tuple[Concept, int, int]]:
    for found in _ANY_ADDRESS.finditer(folded):
        yield Concept.ABROAD, ANY_LANGUAGE, found.start()
        if _is_direction(folded, found):
            yield Concept.TOWARDS, ANY_LANGUAGE, found.start()


def _is_direction(folded: str, address: re.Match[str]) -> bool:
    before = folded[max(0, address.start() - _DIRECTION_LENGTH) : address.start()]
    direction = _DIRECTION.search(before)
    if direction and not _LINK.search(before, max(0, direction.start() - 24)):
        return True
    return _DIRECTION_AFTER.match(folded, address.end()) is not None


def _classify(name: str, view: ToolView, *, quoted: bool) -> tuple[Concept | None, int]:
    """What an identifier names, and in sentences of which languages. English texts name many other things so."""
    if name in view.parameters:
        return Concept.FIELD, ANY_LANGUAGE
    if name == view.name:
        return None, 0
    if name in view.tools:
        return Concept.OTHER, ANY_LANGUAGE
    if _TOOL.match(name):
        return Concept.STRANGER, ANY_LANGUAGE
    if quoted:
        return Concept.FIELD, ANY_LANGUAGE
    return (Concept.STRANGER, ANY_LANGUAGE & ~ENGLISH) if "_" in name and not is_for_secrets(name) else (None, 0)


def _matches(signal: Signal, part: Concepts, whole: Concepts) -> bool:
    languages = _find_common_languages(signal, part)
    for concept in signal.unless:
        languages &= ~part[concept]
    return bool(languages & ~whole[Concept.FREELY] if signal.asks else languages)


def _find_common_languages(signal: Signal, concepts: Concepts) -> int:
    """The languages in which concepts of every group are expressed."""
    languages = ANY_LANGUAGE & ~ENGLISH if signal.translated else ANY_LANGUAGE
    for group in signal.needs:
        expressed = 0
        for concept in group:
            expressed |= concepts[concept]
        languages &= expressed
        if not languages:
            return 0
    return languages


def _join(sentences: Sequence[Concepts]) -> Concepts:
    if len(sentences) == 1:
        return sentences[0]
    joined = [0] * (_SIZE)
    for sentence in sentences:
        joined = list(map(or_, joined, sentence))
    return joined
