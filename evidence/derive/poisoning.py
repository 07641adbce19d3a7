"""What a listing says to a model that its user would not expect: pure over the stored listing."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Final, TypeAlias

from evidence.canonical import Json
from evidence.derive.orders import gives_orders, holds_each, is_a_name, places
from evidence.kinds.listing import LISTS, Item, Listing
from evidence.patterns import poisoning as patterns
from evidence.patterns.poisoning import Pattern, Threat

MAX_STRINGS: Final = 20_000
MAX_DEPTH: Final = 64
MAX_HITS: Final = 200

_BETWEEN: Final = "\0"
_STEMS: Final = {
    need: max(need.split(), key=len) for pattern in (*patterns.PATTERNS, *patterns.SECRETS) for need in pattern.needs[0]
}
"""The longest word of each need: where it is missing in all words, the need is."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One suspicious place. `at` is its path; what was said is never repeated, only what kind of thing it is."""

    threat: Threat
    pattern: str
    title: str
    at: str


Place: TypeAlias = "tuple[Place | None, str]"
"""Where a text stands: the place around it and the last segment, so that a path is only written for a hit."""

Said: TypeAlias = tuple[Place, str, str]
"""A place, the name of the tool that it belongs to, and the text there."""


class _Texts:
    """Distinct texts one after the other, in which a word of any of them is found at once."""

    def __init__(self, texts: Sequence[str], words: Iterable[str] = ()) -> None:
        self.texts = texts
        self.whole = _BETWEEN.join(texts)
        self._distinct = set(words)
        self._words = " ".join(self._distinct) or self.whole
        self._starts = [0, *accumulate(len(text) + 1 for text in texts)]

    def holding(self, pattern: Pattern) -> Iterator[int]:
        """Which texts may hold a wording: those with each of its needs in reach of the first, in rising order."""
        found: set[int] = set()
        if pattern.unbroken and self._longest() >= pattern.unbroken:
            found.update(at for at, text in enumerate(self.texts) if _is_unbroken(text, pattern.unbroken))
        first, *others = pattern.needs
        for need in first:
            if _STEMS[need] in self._words:
                found.update(self._near(need, others, pattern.reach))
        return iter(sorted(found))

    def places(self, word: str) -> Iterator[tuple[int, int]]:
        """Each place of a word: the text, and where in the whole."""
        return ((bisect_right(self._starts, at) - 1, at) for at in places(word, self.whole))

    def _longest(self) -> int:
        """Characters of the longest word."""
        long = (
            part
            for word in self._distinct or self.whole.split()
            for part in ((word,) if len(word) < 100 else word.split(_BETWEEN))
        )
        return max(map(len, long), default=0)

    def _near(self, need: str, others: Sequence[Sequence[str]], reach: int) -> Iterator[int]:
        at = self.whole.find(need)
        while at >= 0:
            text = bisect_right(self._starts, at) - 1
            start, end = self._starts[text], self._starts[text + 1]
            near = holds_each(self.whole[max(start, at - reach) : min(end, at + reach)], others)
            if near:
                yield text
            at = self.whole.find(need, end if near else at + 1)


def scan(listing: Listing) -> tuple[Hit, ...]:
    """Every hit in the listing, in its order; at most MAX_HITS."""
    names = tuple(item.name for item in listing.tools.items if item.name)
    return tuple(islice(_hits(_said(listing), names), MAX_HITS))


def scan_text(text: str, *, at: str = "", owner: str = "", names: Sequence[str] = ()) -> Iterator[Hit]:
    """The hits in one text, each pattern once."""
    return _hits([((None, at), owner, text)], names)


def texts(listing: Listing) -> Iterator[tuple[str, str, str]]:
    """Every string that a client may show to a model: its path, the name of the tool that it belongs to, the text."""
    return ((_path(place), owner, text) for place, owner, text in _said(listing))


def _hits(said: Iterable[Said], names: Sequence[str]) -> Iterator[Hit]:
    """The hits in several texts. Most of what a listing says it says often, and a text is read only once."""
    places = list(said)
    distinct = list(dict.fromkeys(text for _, _, text in places))
    sent = [text[: patterns.MAX_TEXT] for text in distinct]
    plain = _Texts(*_fold_all(sent))
    heard = dict(zip(distinct, _heard(sent, plain), strict=True))
    ordered = {distinct[at]: about for at, about in _ordered(plain, names).items()}
    if not ordered and not any(heard.values()):
        return
    for place, owner, text in places:
        for threat, pattern, title in heard[text]:
            yield Hit(threat, pattern, title, _path(place))
        if owner and any(name != owner for name in ordered.get(text, ())):
            yield Hit(Threat.CROSS_TOOL, "named-tool", "Gives orders about another tool of the server", _path(place))


def _heard(sent: Sequence[str], plain: _Texts) -> list[list[tuple[Threat, str, str]]]:
    """What each text says wherever it stands."""
    heard: list[list[tuple[Threat, str, str]]] = [[] for _ in sent]
    for at, text in enumerate(sent):
        if not text.isascii():
            heard[at] += (
                (Threat.HIDDEN, "hidden-characters", f"Contains hidden characters: {kind}") for kind in hidden_in(text)
            )
    as_sent = _Texts(sent)
    for each in patterns.SECRETS:
        for at in as_sent.holding(each):
            if _holds_credential(sent[at], each):
                heard[at].append((each.threat, each.id, each.title))
    for each in patterns.PATTERNS:
        for at in plain.holding(each):
            if each.matches(plain.texts[at]):
                heard[at].append((each.threat, each.id, each.title))
    return heard


def _is_unbroken(text: str, length: int) -> bool:
    return len(text) >= length and max(map(len, text.split()), default=0) >= length


def _holds_credential(text: str, pattern: Pattern) -> bool:
    found = pattern.expression.search(text)
    return found is not None and not patterns.is_placeholder(found[0])


def fold(text: str) -> str:
    """The text as it is read: compatibility forms, lower case, single spaces, without hidden characters."""
    plain = patterns.HIDDEN.sub("", text) if not text.isascii() else text
    plain = unicodedata.normalize("NFKC", plain).replace("’", "'") if not plain.isascii() else plain
    return " ".join(f"|{plain.lower()}|".split())[1:-1]


def _fold_all(said: Sequence[str]) -> tuple[list[str], list[str]]:
    """Each text folded, what is ASCII all at once; and all words between spaces, some of different texts as one."""
    ascii_only = [text for text in said if text.isascii() and _BETWEEN not in text]
    words = f"{_BETWEEN}{_BETWEEN.join(ascii_only)}{_BETWEEN}".lower().split()
    plain = iter(" ".join(words).split(_BETWEEN)[1:-1])
    folded = [next(plain) if text.isascii() and _BETWEEN not in text else fold(text) for text in said]
    if len(ascii_only) < len(said):
        others = (each for text, each in zip(said, folded, strict=True) if not text.isascii() or _BETWEEN in text)
        words += (word for text in others for word in text.split())
    return folded, words


def hidden_in(text: str) -> Iterator[str]:
    """Kinds of hidden characters that no script and no emoji explains."""
    if text.isascii() or not patterns.HIDDEN.search(text):
        return
    without = patterns.FLAG.sub("", text)
    for title, run in patterns.SUSPICIOUS_RUNS:
        if run.search(without):
            yield title
    if any(_unexplained(without, found.start()) for found in patterns.ZERO_WIDTH.finditer(without)):
        yield "zero-width character inside a word"


def _unexplained(text: str, at: int) -> bool:
    """Whether a zero-width character stands between two Latin letters or digits, where no script needs it."""
    if text[at] in "\u00ad\ufeff":
        return False
    before, after = text[max(0, at - 1) : at], text[at + 1 : at + 2]
    return before.isascii() and after.isascii() and before.isalnum() and after.isalnum()


def _ordered(plain: _Texts, names: Sequence[str]) -> dict[int, list[str]]:
    """The tools about which a text gives orders, for each text that does, whichever tool the text belongs to."""
    found: dict[int, list[str]] = {}
    for name in dict.fromkeys(names):
        lower = name.lower()
        if len(lower) < 4 or lower not in plain.whole:
            continue
        for at in dict.fromkeys(text for text, _ in plain.places(lower)):
            text = plain.texts[at]
            if is_a_name(lower, text) and gives_orders(lower, text):
                found.setdefault(at, []).append(name)
    return found


def _said(listing: Listing) -> Iterator[Said]:
    yield from (((None, "server/instructions"), "", listing.instructions),) if listing.instructions else ()
    for member, value in listing.server_info.items():
        yield from _strings((None, f"server/{member}"), "", value)
    for name in LISTS:
        for item in listing.list_of(name).items:
            owner = item.name if name == "tools" else ""
            yield from _strings((None, f"{name}/{_label(item)}"), owner, item.raw)


def _strings(place: Place, owner: str, value: Json) -> Iterator[Said]:
    """Strings and keys of a value, breadth first within bounds."""
    level: list[tuple[Place, Json]] = [(place, value)]
    seen = 0
    for _ in range(MAX_DEPTH):
        following: list[tuple[Place, Json]] = []
        for here, part in level:
            seen += 1
            if seen > MAX_STRINGS:
                return
            if isinstance(part, str):
                yield here, owner, part
            elif isinstance(part, dict):
                for key, inner in part.items():
                    if len(key) > 24 or not key.isascii():
                        yield here, owner, key
                    following.append(((here, key), inner))
            elif isinstance(part, list):
                following += [(here, inner) for inner in part]
        level = following


def _path(place: Place) -> str:
    """The place as a path. Its beginning is one already; what was read beneath it is escaped."""
    around, segment = place
    return segment if around is None else f"{_path(around)}/{_segment(segment)}"


def _label(item: Item) -> str:
    return _segment(item.name or item.text("uri") or f"@{item.index}")


def _segment(text: str) -> str:
    return text[:80].replace("~", "~0").replace("/", "~1").replace("@", "~2")
