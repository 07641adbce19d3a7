"""What a listing says to a model that its user would not expect: pure over the stored listing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from evidence.canonical import Json
from evidence.kinds.listing import LISTS, Item, Listing
from evidence.patterns import poisoning as patterns
from evidence.patterns.poisoning import Pattern, Threat

MAX_STRINGS: Final = 20_000
MAX_DEPTH: Final = 64
MAX_HITS: Final = 200

_SPACE: Final = re.compile(r"\s+")
_NAMED_ORDER: Final = (
    # An order about a tool at the moment another tool is used.
    r"\b(?:before|after|when(?:ever)?|prior\sto|each\stime|every\stime|any\stime|once|if)\s(?:\S{{1,20}}\s){{0,4}}?\S{{0,3}}{name}\b[^.\n]{{0,160}}?\b(?:must|always|mandatory|required|have\sto|shall|never)\b",
    # What to do on the way to another tool.
    r"\b(?:before|when(?:ever)?|prior\sto|while)\s(?:using|calling|invoking|running|executing)\s(?:the\s)?\S{{0,2}}{name}\S{{0,2}}(?:\stool|\sfunction)?,\s(?:you\s)?(?:should\s|first\s|please\s){{0,2}}(?:append|replace|override|call|execute|run|invoke|send|read|write|copy|export|change|set|add|skip)\b",
    # An order to the other tool itself.
    r"\b{name}\S{{0,3}}\s(?:tool\s|function\s)?(?:must|shall|should|has\sto|is\srequired\sto|needs\sto)\s(?:\w{{1,10}}\s){{0,2}}(?:send|use|pass|route|redirect|include|forward|go|bcc|add|set|copy|append|change|be)\b",
    # Another tool is talked down, or forbidden.
    r"\b(?:do\snot|don'?t|never|stop|avoid|instead\sof)\s(?:ever\s)?(?:us|call|invok|run|trust)\w{{0,4}}\s(?:the\s)?\S{{0,2}}{name}\b[^.\n]{{0,120}}?\b(?:always|must|only|never|instead)\b",
    r"\b{name}\S{{0,3}}\s(?:tool\s|function\s)?(?:is|has\sbeen)\s(?:\w{{1,8}}\s)?(?:deprecated|disabled|broken|unsafe|insecure|compromised|obsolete|unavailable|replaced)\b",
)
_ORDER_NEEDS: Final = (
    ("must", "always", "mandatory", "required", "have to", "shall", "never"),
    (", ",),
    ("must ", "shall ", "should ", "has to ", "is required to ", "needs to "),
    ("do not ", "don't ", "dont ", "never ", "stop ", "avoid ", "instead of "),
    ("deprecated", "disabled", "broken", "unsafe", "insecure", "compromised", "obsolete", "unavailable", "replaced"),
)
"""For each order words of which it holds at least one."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One suspicious place. `at` is its path; what was said is never repeated, only what kind of thing it is."""

    threat: Threat
    pattern: str
    title: str
    at: str


@dataclass(frozen=True, slots=True)
class _Heard:
    """What one text says wherever it stands, and which orders about a tool its folded form may give."""

    found: tuple[tuple[Threat, str, str], ...]
    folded: str
    orders: tuple[int, ...]


def scan(listing: Listing) -> tuple[Hit, ...]:
    """Every hit in the listing, in its order; at most MAX_HITS."""
    names = tuple(item.name for item in listing.tools.items if item.name)
    return tuple(islice(_hits(texts(listing), names), MAX_HITS))


def _hits(said: Iterable[tuple[str, str, str]], names: Sequence[str]) -> Iterator[Hit]:
    """The hits in several texts. Most of what a listing says it says often, and a text is read only once."""
    places = list(said)
    distinct = list(dict.fromkeys(text for _, _, text in places))
    heard = dict(zip(distinct, _hear(distinct), strict=True))
    for at, owner, text in places:
        for threat, pattern, title in heard[text].found:
            yield Hit(threat, pattern, title, at)
        if owner and heard[text].orders and _orders_about(heard[text], owner, names):
            yield Hit(Threat.CROSS_TOOL, "named-tool", "Gives orders about another tool of the server", at)


def _hear(said: Sequence[str]) -> Iterator[_Heard]:
    """What each text says. Wordings that all the texts together cannot hold are not looked for in any of them."""
    sent = [text[: patterns.MAX_TEXT] for text in said]
    folded = [fold(text) for text in sent]
    secrets, wordings = _within(sent, patterns.SECRETS), _within(folded, patterns.PATTERNS)
    for text, plain in zip(sent, folded, strict=True):
        hidden = (
            (Threat.HIDDEN, "hidden-characters", f"Contains hidden characters: {kind}") for kind in hidden_in(text)
        )
        matched = [each for each in secrets if _holds_credential(text, each)]
        matched += [each for each in wordings if each.possible(plain) and each.matches(plain)]
        named = ((each.threat, each.id, each.title) for each in matched)
        yield _Heard((*hidden, *named), plain, _possible_orders(plain))


def _within(said: Sequence[str], wordings: Iterable[Pattern]) -> list[Pattern]:
    together = "\n".join(said)
    return [found for found in (each.within(together) for each in wordings) if found]


def texts(listing: Listing) -> Iterator[tuple[str, str, str]]:
    """Every string that a client may show to a model: its path, the name of the tool that it belongs to, the text."""
    yield from (("server/instructions", "", listing.instructions),) if listing.instructions else ()
    for member, value in listing.server_info.items():
        yield from _strings(f"server/{member}", "", value)
    for name in LISTS:
        for item in listing.list_of(name).items:
            owner = item.name if name == "tools" else ""
            yield from _strings(f"{name}/{_label(item)}", owner, item.raw)


def scan_text(text: str, *, at: str = "", owner: str = "", names: Sequence[str] = ()) -> Iterator[Hit]:
    """The hits in one text, each pattern once."""
    return _hits([(at, owner, text)], names)


def _holds_credential(text: str, pattern: Pattern) -> bool:
    found = pattern.expression.search(text) if pattern.possible(text) else None
    return found is not None and not patterns.is_placeholder(found[0])


def fold(text: str) -> str:
    """The text as it is read: compatibility forms, lower case, single spaces, without hidden characters."""
    plain = patterns.HIDDEN.sub("", text) if not text.isascii() else text
    plain = unicodedata.normalize("NFKC", plain).replace("’", "'") if not plain.isascii() else plain
    return _SPACE.sub(" ", plain.lower())


def hidden_in(text: str) -> Iterator[str]:
    """Kinds of hidden characters that no script and no emoji explains."""
    if text.isascii():
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


def _possible_orders(folded: str) -> tuple[int, ...]:
    """Which orders the text may give, whichever tool they are about: each holds a space and one of its needs."""
    if " " not in folded:
        return ()
    return tuple(index for index, needs in enumerate(_ORDER_NEEDS) if any(map(folded.__contains__, needs)))


def _orders_about(heard: _Heard, owner: str, names: Sequence[str]) -> bool:
    for name in names:
        plain = name.lower()
        if name == owner or len(plain) < 4 or plain not in heard.folded or not _is_a_name(plain, heard.folded):
            continue
        orders = _orders(plain)
        if any(orders[index].search(heard.folded) for index in heard.orders):
            return True
    return False


@lru_cache(maxsize=4096)
def _orders(name: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(order.format(name=re.escape(name))) for order in _NAMED_ORDER)


def _is_a_name(name: str, folded: str) -> bool:
    """Whether the text means the tool: names of one common word only count in quotes or before "tool"."""
    if any(mark in name for mark in "_-./") or any(mark.isdigit() for mark in name):
        return True
    return _meant(name).search(folded) is not None


@lru_cache(maxsize=4096)
def _meant(name: str) -> re.Pattern[str]:
    return re.compile(rf"[`'\"]{re.escape(name)}[`'\"]|\b{re.escape(name)}\s(?:tool|function)\b")


def _strings(at: str, owner: str, value: Json) -> Iterator[tuple[str, str, str]]:
    """Strings and keys of a value, breadth first within bounds."""
    level: list[tuple[str, Json]] = [(at, value)]
    seen = 0
    for _ in range(MAX_DEPTH):
        following: list[tuple[str, Json]] = []
        for path, part in level:
            seen += 1
            if seen > MAX_STRINGS:
                return
            if isinstance(part, str):
                yield path, owner, part
            elif isinstance(part, Mapping):
                for key, inner in part.items():
                    if len(key) > 24 or not key.isascii():
                        yield path, owner, key
                    following.append((f"{path}/{_segment(key)}", inner))
            elif isinstance(part, list):
                following += [(path, inner) for inner in part]
        level = following


def _label(item: Item) -> str:
    return _segment(item.name or item.text("uri") or f"@{item.index}")


def _segment(text: str) -> str:
    return text[:80].replace("~", "~0").replace("/", "~1").replace("@", "~2")
