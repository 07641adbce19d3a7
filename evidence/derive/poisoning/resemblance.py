"""Judges whether the texts of a tool resemble an order to an agent, by the weights of their words and concepts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations, pairwise, repeat
from math import sqrt
from typing import Final

from evidence.compiled_on_use import compile_on_use
from evidence.derive.poisoning.structure import ToolView, skip_first, split_concepts, split_sentences
from evidence.patterns.poisoning.resemblance import ADDRESS, USUAL_WORDS, WordingModel, load_wording_model
from evidence.patterns.poisoning.structure import Concept

MAX_LENGTH: Final = 4_000
"""Characters of one text that are examined."""
MAX_TOTAL: Final = 20_000
"""Characters of all texts of one tool that are examined."""
MAX_SHORT: Final = 800
"""Characters of all texts of one tool up to which they can differ from orders."""

_WHOLE_WORD: Final = 7
_STEM: Final = 6
_SHOWN: Final = 3
_MARKS: Final = r"\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0dff\u0e00-\u0eff"
"""Signs within words, such as vowels of Hindi, that are no letters."""
_WORD: Final = compile_on_use(rf"@|[^\W\d_]+(?:[{_MARKS}]+[^\W\d_]*)*(?:'[^\W\d_]+)?|\d+")
_TOP_DOMAIN: Final = r"(?:test|example|invalid|com|net|org|io|dev|xyz|ru|cn|info|co|app|cloud)\b"
_SIGNS: Final = compile_on_use(rf"[^\w\x00-\x7f{_MARKS}]+")
"""What is in no word, beyond ASCII."""
_DIGIT: Final = compile_on_use("[0-9]")
_SPACED: Final = {code: " " for code in range(128) if not chr(code).isalpha() and chr(code) != "'"}
"""What is in no ASCII word becomes a space."""
_ADDRESS: Final = compile_on_use(
    r"(?:https?|ftp|wss?)://\S+|(?<![\w.+-])[\w.+-]{1,40}@[\w-]{1,40}\.\w+"
    rf"|\b[a-z0-9-]{{1,40}}(?:\.[a-z0-9-]{{1,40}}){{0,3}}\.{_TOP_DOMAIN}|\b\d{{1,3}}(?:\.\d{{1,3}}){{3}}\b"
)
_DOT_OF_ADDRESS: Final = compile_on_use(rf"\.(?:(?<=\d\.)\d{{1,3}}\.\d|{_TOP_DOMAIN})")
"""In every address without a scheme or an at sign; found much sooner, as it begins with a point."""
_UNSPACED: Final = compile_on_use(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")

ToolText = tuple[str, bool]
"""A folded text of a tool, and whether it describes a parameter."""


def limit_texts(texts: Iterable[ToolText]) -> list[ToolText]:
    """The texts, cut to what is examined."""
    selected: list[ToolText] = []
    left = MAX_TOTAL
    for folded, in_field in texts:
        text = folded[: min(MAX_LENGTH, left)]
        left -= len(text)
        selected.append((text, in_field))
    return selected


def may_resemble(texts: Iterable[ToolText]) -> bool:
    """Whether single words have enough weight for the rest to matter. A cheap test."""
    model = load_wording_model()
    statements = "\n".join(folded if in_field else skip_first(folded) for folded, in_field in texts)
    distinct = list_distinct_words(statements)
    weight = sum(map(model.weights.get, distinct, repeat(0)))
    return model.bias + weight / _scale(len(distinct)) > model.promising


def differs_from_orders(texts: Sequence[ToolText], view: ToolView) -> bool:
    """Whether short texts, first sentences included, are worded unlike an order. False for long ones: in them, many
    honest words could outweigh an order.
    """
    if sum(len(folded) for folded, _ in texts) > MAX_SHORT:
        return False
    model = load_wording_model()
    return _weigh(list_tool_features([(folded, True) for folded, _ in texts], view), model) < model.unlike


def find_resemblance(texts: Sequence[ToolText], view: ToolView) -> tuple[str, ...]:
    """What has most weight in texts that resemble an order; empty when they do not. At most _SHOWN words or pairs."""
    model = load_wording_model()
    features = list_tool_features(texts, view)
    if _weigh(features, model) <= model.threshold:
        return ()
    words = (feature for feature in features if feature[0] not in (ADDRESS, "#") and feature in model.weights)
    return tuple(sorted(words, key=lambda word: (-model.weights[word], word))[:_SHOWN])


def _weigh(features: Collection[str], model: WordingModel) -> float:
    weight = sum(model.weights.get(feature, 0) for feature in features)
    return model.bias + weight / measure_scale(features)


def list_tool_features(texts: Sequence[ToolText], view: ToolView) -> set[str]:
    """All features of the texts of a tool."""
    words = [list_words(sentence) for sentence in _list_statements(texts)]
    return list_features(words, _list_concepts(texts, view))


def list_features(words: Iterable[Sequence[str]], concepts: Iterable[Sequence[str]]) -> set[str]:
    """Words and pairs of neighbours of each sentence, and the concepts that each expresses, alone and in pairs."""
    features: set[str] = set()
    for sentence in words:
        features.update(sentence)
        features.update(f"{one} {other}" for one, other in pairwise(sentence))
    for expressed in concepts:
        features.update(expressed)
        features.update(f"{one} {other}" for one, other in combinations(expressed, 2))
    return features


def measure_scale(features: Iterable[str]) -> float:
    """What a sum of weights is divided by, for the number of distinct words."""
    return _scale(sum(" " not in feature and feature[0] != "#" for feature in features))


def list_words(folded: str) -> list[str]:
    """The cut words of a folded text in their order."""
    return _cut_words(_find_words(folded))


def list_distinct_words(folded: str) -> set[str]:
    """The distinct cut words of a text. Most texts are ASCII and are cut without an expression."""
    plain = _hide_addresses(folded)
    if not plain.isascii():
        plain = _SIGNS.sub(" ", plain)
    if not plain.isascii():
        return set(_cut_words(set(_WORD.findall(plain))))
    words = set(plain.translate(_SPACED).split())
    joined = {word for word in words if "'" in word} if "'" in plain else set[str]()
    words -= joined
    distinct = {word if len(word) <= _WHOLE_WORD else word[:_STEM] for word in words if len(word) > 1}
    distinct.update(_cut_words(part for word in joined for part in _WORD.findall(word)))
    if ADDRESS in plain:
        distinct.add(ADDRESS)
    if _DIGIT.search(plain):
        distinct.add("0")
    return distinct


def _find_words(folded: str) -> list[str]:
    return _WORD.findall(_hide_addresses(folded))


def _hide_addresses(folded: str) -> str:
    may_hold = "://" in folded or "@" in folded or _DOT_OF_ADDRESS.search(folded)
    return _ADDRESS.sub(f" {ADDRESS} ", folded) if may_hold else folded


def _cut_words(words: Iterable[str]) -> list[str]:
    """Words without their ends, and without single Latin letters: "e" is a word of orders in Italian and part of "e.g."
    in honest English.
    """
    return [
        part
        for word in words
        if not (len(word) == 1 and word.isalpha() and word.isascii())
        for part in ((word,) if len(word) <= _WHOLE_WORD and word.isascii() and word[0] > "9" else _cut(word))
    ]


def _cut(word: str) -> Sequence[str]:
    if word[0].isdigit():
        return ("0",)
    if word.isascii() or not _UNSPACED.search(word):
        return (word if len(word) <= _WHOLE_WORD else word[:_STEM],)
    return [word[at : at + 2] for at in range(max(1, len(word) - 1))]


def _scale(distinct: int) -> float:
    return max(1.0, sqrt(distinct / USUAL_WORDS))


def _list_statements(texts: Iterable[ToolText]) -> Iterator[str]:
    for folded, in_field in texts:
        yield from split_sentences(folded)[0 if in_field else 1 :]


def _list_concepts(texts: Iterable[ToolText], view: ToolView) -> Iterator[list[str]]:
    for folded, in_field in texts:
        for sentence in split_concepts(folded, view)[0 if in_field else 1 :]:
            yield [f"#{concept.name}" for concept in Concept if sentence[concept]]
