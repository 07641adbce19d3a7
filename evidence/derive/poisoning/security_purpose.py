"""Whether a tool or a server is about attacks, so that its texts may quote them.

Words about attacks beside a quotation are not enough: an attacker can write "Example of an attack:" before an order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from evidence.compiled_on_use import compile_on_use
from evidence.derive.poisoning.quotations import ATTACK, hide_quotations
from evidence.derive.poisoning.text_folding import fold_text
from evidence.kinds.listing import Item, Listing
from evidence.patterns.poisoning import MAX_TEXT

_NAMED: Final = compile_on_use(
    r"(?<![a-z])(?:secur|guard|shield|threat|vuln|inject|jailbreak|red[\s_-]?team|poison|malic|malware|phish|spam|scam"
    r"|firewall|lint|sanitiz|sanitis|attack|scan|audit|moderat|safety|detect|hidden|invisible)"
)
_FINDS: Final = compile_on_use(
    r"\b(?:audit|classif|detect|flag|refus|reject|sanitiz|sanitis|scans?\b"
    r"|erkenn|prüf|détect|repère|señala|detecta|rilev|riconosc|wykry|detek|tespit|upptäck|mendeteksi|menandai"
    r"|phát\shiện|обнаруж|выявля|виявля|правила\sищут)|检测|檢測|検出|検知|탐지|감지|كشف|पता\sलग"
)
_HANDLES: Final = compile_on_use(
    r"\b(?:blocks?|marks?|marked|explains?|removes?|strips?|filters?|match(?:es)?|finds?|tells\swhether)\b.{0,60}"
    r"\b(?:messages?|contents?|texts?|documents?|codes?|e-?mails?|strings?|phrases?|instructions|descriptions|prompts?"
    r"|pages?|dangerous)\b"
    r"|\breturns?\s.{0,30}\b(?:training|benchmark|test)\s(?:texts?|data|cases?|strings?)\b"
)
_DISCLAIMED: Final = compile_on_use(
    r"\b(?:never|not|n't)\s(?:run|follow|obey|execute|act\son)\s(?:them|these|those)\b"
    r"|\b(?:no|not)\s(?:an?\s)?(?:instructions?|orders?|commands?)\s(?:to|for)\syou\b|\bnot\sfor\syou\b"
    r"|\bare\s(?:quotes|quotations)\b|\bsind\szitate\b|\bв\sкавычках\sкак\sцитаты\b|\bdane,\snie\spolecenia\b"
)
"""A text that says so takes the force from what it quotes."""
_OPENS_WITH_EXAMPLE: Final = compile_on_use(
    r"\W*(?:(?:an?|the|one|known|typical|possible)\s){0,2}"
    r"(?:examples?|samples?|notes?|attacks?|attackers?|injections?|payloads?|warning|caution|beispiele?|exemples?|ejemplos?)\b"
)
_HUMP: Final = compile_on_use(r"(?<=[a-z0-9])(?=[A-Z])")
_END: Final = compile_on_use(r"(?<!\be\.g)(?<!\bi\.e)[.!?;](?=\s|$)|[。！？；।]|\n")
_OPENING: Final = 2  # sentences that say what a tool is for
_MOST: Final = 600  # characters in which they are looked for


def names_security(name: str) -> bool:
    """Whether a name or a title is that of a security tool."""
    return _NAMED.search(_HUMP.sub("_", name).lower()) is not None


def states_security(text: str) -> bool:
    """Whether the opening of a description, outside of quotations, says that the tool is about attacks."""
    outside = hide_quotations(fold_text(text[:MAX_TEXT]))[:_MOST]
    first, *following = [part for part in _END.split(outside) if part.strip()][:_OPENING] or [""]
    if _OPENS_WITH_EXAMPLE.match(first):
        return False
    is_stated = any(form.search(first) for form in (ATTACK, _FINDS, _HANDLES))
    return is_stated or any(map(_FINDS.search, following))


def disclaims_quotations(text: str) -> bool:
    """Whether a text, outside of quotations, says that what it quotes is not to be followed."""
    return _DISCLAIMED.search(hide_quotations(fold_text(text[:MAX_TEXT]))) is not None


def is_security_server(listing: Listing) -> bool:
    """Whether the name of the server, or those of at least two and half of its tools, are about security."""
    info = listing.server_info
    if names_security(f"{info.get('name')} {info.get('title')}"):
        return True
    tools = [item for item in listing.tools.items if item.name]
    named = sum(names_security(f"{item.name} {item.text('title')}") for item in tools)
    return named >= 2 and 2 * named >= len(tools)


class SecurityPurpose:
    """Says which tools of a listing are about attacks. It examines each tool once."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._known: dict[str, bool] = {}

    @cached_property
    def _is_of_server(self) -> bool:
        return is_security_server(self._listing)

    @cached_property
    def _tools(self) -> Mapping[str, Sequence[Item]]:
        found: dict[str, list[Item]] = {}
        for item in self._listing.tools.items:
            found.setdefault(item.name, []).append(item)
        return found

    def may_quote_attacks(self, owner: str) -> bool:
        """Whether all texts of a tool may quote attacks; those of the server itself when `owner` is empty."""
        if owner not in self._known:
            self._known[owner] = self._is_of_server or any(map(_is_about_attacks, self._tools.get(owner, ())))
        return self._known[owner]


def _is_about_attacks(tool: Item) -> bool:
    return names_security(f"{tool.name} {tool.text('title')}") or states_security(tool.text("description"))
