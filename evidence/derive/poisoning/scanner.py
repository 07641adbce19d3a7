"""Scans a listing for texts that instruct the model in ways a user would not expect. Pure: a listing in, hits out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.derive.poisoning.decoding import decode_texts, find_encoded
from evidence.derive.poisoning.hidden_characters import find_hidden_candidates, find_hidden_characters
from evidence.derive.poisoning.instruction_matching import find_instructed_tools
from evidence.derive.poisoning.listing_texts import (
    ListingText,
    TextPlace,
    describes_parameter,
    describes_tool,
    format_path,
    iterate_texts,
)
from evidence.derive.poisoning.obfuscation import deobfuscate_text, find_obfuscation_candidates
from evidence.derive.poisoning.pattern_matching import (
    CandidatePatterns,
    find_candidates,
    find_pattern,
    find_plain_instructions,
    match_patterns,
)
from evidence.derive.poisoning.quotations import hide_quotations
from evidence.derive.poisoning.resemblance import (
    ToolText,
    differs_from_orders,
    find_resemblance,
    limit_texts,
    may_resemble,
)
from evidence.derive.poisoning.security_purpose import (
    SecurityPurpose,
    disclaims_quotations,
    names_security,
    states_security,
)
from evidence.derive.poisoning.structure import ToolView, describe_tool, find_signals, find_structure_candidates
from evidence.derive.poisoning.text_folding import TextIndex, fold_text, fold_texts
from evidence.derive.poisoning.tool_context import ToolContext, build_tool_contexts
from evidence.kinds.listing import Item, Listing
from evidence.patterns.poisoning import (
    MAX_TEXT,
    PATTERNS_BY_ID,
    SECRETS,
    UNCERTAIN,
    Category,
    Confidence,
    Pattern,
    PatternMatch,
    Threat,
    is_placeholder,
)
from evidence.patterns.poisoning.encoded_payloads import COMMAND
from evidence.patterns.poisoning.hidden_characters import MARKDOWN_COMMENT
from evidence.patterns.poisoning.resemblance import PATTERN as RESEMBLANCE
from evidence.patterns.poisoning.structure import SIGNALS, Purpose

MAX_HITS: Final = 200

_DOUBTED: Final = UNCERTAIN | {signal.id for signal in SIGNALS}
"""Patterns that find combinations of usual words."""
_ABOUT_CONVERSATIONS: Final = frozenset({"passes-conversation", "talk-leaves"})


class Hit(Struct, frozen=True):
    """One suspicious place. `at` is its path. The text itself is never repeated, only its category."""

    category: Category
    pattern: str
    title: str
    at: str
    confidence: Confidence = Confidence.HIGH

    @property
    def threat(self) -> Threat:
        """The published threat id of the category."""
        return self.category.threat

    @property
    def is_grave(self) -> bool:
        """Whether it costs points, which only hits with high confidence do."""
        return self.confidence is Confidence.HIGH

    @property
    def is_certain(self) -> bool:
        """Whether it caps a grade: its pattern accused no honest text of the corpora."""
        return self.is_grave and self.pattern not in UNCERTAIN


class _TextMatch(Struct, frozen=True):
    """A match in a text, independent of the places where the text occurs. `found` decides whether the text's owner
    matters.
    """

    category: Category
    pattern: str
    title: str
    found: PatternMatch


class _DescribedTool(Struct, frozen=True):
    """The descriptions of a tool and of its parameters as sent and as examined, and the place of the first."""

    first: TextPlace
    sent: tuple[str, ...]
    texts: list[ToolText]


class _KnownTools(Struct, frozen=True):
    """What is known of the tools that own texts; made only for those whose texts may have a hit."""

    contexts: Callable[[Iterable[str]], Mapping[str, ToolContext]]
    views: Callable[[Iterable[str]], Mapping[str, ToolView]]
    are_about_attacks: Callable[[str], bool]
    """Whether a tool, or the server for an empty name, is about attacks."""

    def is_about_attacks(self, owner: str, text: str) -> bool:
        """Whether a tool, its server or its text is about attacks."""
        return self.are_about_attacks(owner) or states_security(text)

    def may_quote(self, owner: str, text: str) -> bool:
        """Whether quotations in a text may be attacks: it is about them, or says that they are not to be followed."""
        return self.is_about_attacks(owner, text) or disclaims_quotations(text)


def scan_listing(listing: Listing) -> tuple[Hit, ...]:
    """All hits in a listing in its order; at most MAX_HITS."""
    names = tuple(item.name for item in listing.tools.items if item.name)
    known = _KnownTools(
        partial(build_tool_contexts, listing),
        partial(_describe_tools, listing),
        SecurityPurpose(listing).may_quote_attacks,
    )
    return tuple(islice(_hits(iterate_texts(listing), names, known), MAX_HITS))


def scan_text(text: str, *, at: str = "", owner: str = "", names: Sequence[str] = ()) -> Iterator[Hit]:
    """The hits in one text of the tool `owner`, or of the server when `owner` is empty; each pattern once."""
    alone = ToolContext(frozenset([owner.lower()]), frozenset(name.lower() for name in names))
    tool = describe_tool(Item({"name": owner}, 0), alone.tools)
    known = _KnownTools(
        lambda owners: dict.fromkeys(owners, alone),
        lambda owners: dict.fromkeys(owners, tool),
        lambda owner: not owner or names_security(owner),
    )
    return _hits([((None, at), owner, text)], names, known)


def list_shown_texts(listing: Listing) -> Iterator[tuple[str, str, str]]:
    """Path, name of the owning tool, and text, of every string that a client may show to a model."""
    return ((format_path(place), owner, text) for place, owner, text in iterate_texts(listing))


def _hits(
    listed: Iterable[ListingText],
    names: Sequence[str],
    tools: _KnownTools,
) -> Iterator[Hit]:
    """The hits in several texts. Listings repeat many texts, so each distinct text is scanned once."""
    places = list(listed)
    distinct = list(dict.fromkeys(text for _, _, text in places))
    sent = [text[:MAX_TEXT] for text in distinct]
    folded, words = fold_texts(sent)
    index = TextIndex(folded)
    candidates = find_candidates(index)
    matches = dict(zip(distinct, _match_texts(sent, index, words, candidates), strict=True))
    about = find_instructed_tools(
        list(dict.fromkeys(folded[at] for at, each in candidates.items() if each.may_instruct)), names
    )
    instructed = {text: about[plain] for text, plain in zip(distinct, folded, strict=True) if plain in about}
    structured = {distinct[at] for at in find_structure_candidates(index)}
    plain = dict(zip(distinct, folded, strict=True))
    described = _list_described(places, plain)
    resembling = _find_resembling(described, tools)
    if not instructed and not structured and not resembling and not any(matches.values()):
        return
    places = [each for each in places if matches[each[2]] or each[2] in structured or each[2] in instructed]
    known = tools.contexts(
        {owner for _, owner, text in places if owner and any(each.found.others for each in matches[text])}
    )
    views = tools.views({owner for _, owner, text in places if owner and (text in structured or matches[text])})
    for place, owner, text in places:
        hits = [
            hit
            for each in matches[text]
            for hit in _hits_at(_settle_quoted(each, owner, text, tools), known.get(owner), text, place)
        ]
        if owner and text in structured:
            hits = [_excuse(hit, views[owner]) for hit in hits]
            hits += _find_structure(plain[text], views[owner], place, partial(tools.may_quote, owner, text))
        if owner and any(name != owner for name in instructed.get(text, ())):
            hits.append(
                Hit(
                    Category.SHADOWING,
                    "named-tool",
                    "Gives instructions about another tool of the server",
                    format_path(place),
                    Confidence.MEDIUM,
                )
            )
        hits += _combine_signs(hits)
        if place[1] == "description" and owner in described:
            hits = _doubt(hits, described[owner].texts, views.get(owner))
        if any(hit.is_grave for hit in hits):
            resembling.pop(owner, None)
        yield from hits
    yield from resembling.values()


def _list_described(places: Iterable[ListingText], plain: Mapping[str, str]) -> dict[str, _DescribedTool]:
    """The described tools by name."""
    found: dict[str, list[tuple[TextPlace, str]]] = {}
    for place, owner, text in places:
        if owner and place[1] == "description" and (describes_tool(place) or describes_parameter(place)):
            found.setdefault(owner, []).append((place, text))
    return {
        owner: _DescribedTool(
            each[0][0],
            tuple(text for _, text in each),
            limit_texts((plain[text], not describes_tool(place)) for place, text in each),
        )
        for owner, each in found.items()
    }


def _find_resembling(described: Mapping[str, _DescribedTool], tools: _KnownTools) -> dict[str, Hit]:
    """By tool, the hit of those whose texts as a whole resemble an order; none for tools about attacks."""
    promising = {owner: each for owner, each in described.items() if may_resemble(each.texts)}
    views = tools.views(promising)
    hits: dict[str, Hit] = {}
    for owner, each in promising.items():
        words = find_resemblance(each.texts, views[owner])
        if words and not any(tools.is_about_attacks(owner, text) for text in each.sent):
            title = f"Resembles an order to the agent, by its words: {', '.join(words)}"
            hits[owner] = Hit(Category.COMBINED, RESEMBLANCE, title, format_path(each.first), Confidence.MEDIUM)
    return hits


def _doubt(hits: list[Hit], texts: Sequence[ToolText], tool: ToolView | None) -> list[Hit]:
    """The hits of a described tool; those by words that have accused honest texts inform if the tool's wording as a
    whole differs from orders.
    """
    doubted = [hit.is_grave and hit.pattern in _DOUBTED for hit in hits]
    if tool is None or not any(doubted) or not differs_from_orders(texts, tool):
        return hits
    return [
        replace(hit, confidence=Confidence.MEDIUM) if doubt else hit for hit, doubt in zip(hits, doubted, strict=True)
    ]


def _describe_tools(listing: Listing, owners: Iterable[str]) -> dict[str, ToolView]:
    wanted = set(owners)
    names = frozenset(item.name.lower() for item in listing.tools.items if item.name)
    return {item.name: describe_tool(item, names) for item in listing.tools.items if item.name in wanted}


def _excuse(hit: Hit, tool: ToolView) -> Hit:
    """A tool that works on conversations may ask for one."""
    if hit.pattern in _ABOUT_CONVERSATIONS and Purpose.CONVERSATION in tool.purposes:
        return replace(hit, confidence=Confidence.LOW)
    return hit


def _find_structure(folded: str, tool: ToolView, place: TextPlace, may_quote: Callable[[], bool]) -> Iterator[Hit]:
    in_field = describes_parameter(place)
    found = list(find_signals(folded, tool, in_field=in_field))
    if found and (outside := hide_quotations(folded)) != folded and may_quote():
        found = list(find_signals(outside, tool, in_field=in_field))
    for signal in found:
        yield Hit(signal.category, signal.id, signal.title, format_path(place), signal.confidence)


def _hits_at(match: _TextMatch, context: ToolContext | None, text: str, place: TextPlace) -> Iterator[Hit]:
    """A pattern about tools counts only in a tool's text: instructions of a server legitimately order its tools."""
    confidence: Confidence | None = match.found.confidence
    if match.found.others is not None:
        confidence = context.confidence(match.found, text) if context else None
    if confidence is not None:
        yield Hit(match.category, match.pattern, match.title, format_path(place), confidence)


def _combine_signs(hits: Sequence[Hit]) -> Iterator[Hit]:
    """Several medium signs in one text together count as one hit with high confidence."""
    signs = {hit.pattern for hit in hits if hit.confidence is Confidence.MEDIUM}
    if len(signs) > 1 and not any(hit.is_grave for hit in hits):
        yield Hit(
            Category.COMBINED, "several-signs", "Contains several signs of an instruction to the model", hits[0].at
        )


def _match_texts(
    sent: Sequence[str], folded: TextIndex, words: str, candidates: Mapping[int, CandidatePatterns]
) -> list[list[_TextMatch]]:
    """The matches in each text, independent of its places."""
    matches: list[list[_TextMatch]] = [[] for _ in sent]
    as_sent = TextIndex(sent)
    for at in find_hidden_candidates(as_sent):
        matches[at] += _match_hidden(sent[at])
    for at in find_encoded(as_sent):
        matches[at] += _match_encoded(sent[at])
    for each in SECRETS:
        for at in as_sent.find_matching(each):
            if _holds_credential(sent[at], each):
                matches[at].append(_TextMatch(each.category, each.id, each.title, PatternMatch(each.confidence)))
    may_be_obfuscated = find_obfuscation_candidates(folded.whole, words)
    for at, found in candidates.items():
        text = folded.texts[at]
        matches[at] += _mark_quoted(_match_patterns(found.examined), text)
        if may_be_obfuscated and found.may_be_obfuscated:
            matches[at] += _match_obfuscated(text)
    return matches


def _match_patterns(examined: Iterable[tuple[Pattern, str]]) -> Iterator[_TextMatch]:
    for each, part in examined:
        found = each.find(part)
        if found is not None:
            yield _TextMatch(each.category, each.id, each.title, found)


def _mark_quoted(found: Iterable[_TextMatch], folded: str) -> Iterator[_TextMatch]:
    """The matches; one that is only in a quotation of an attack informs, unless that is disputed."""
    outside: str | None = None
    for match in found:
        outside = hide_quotations(folded) if outside is None else outside
        if outside == folded or find_pattern(PATTERNS_BY_ID[match.pattern], outside) is not None:
            yield match
            continue
        disputed = match.found.disputed or match.found.confidence
        yield replace(match, found=replace(match.found, confidence=Confidence.LOW, disputed=disputed))


def _settle_quoted(match: _TextMatch, owner: str, text: str, tools: _KnownTools) -> _TextMatch:
    """The match; a quoted one counts where neither the text, the tool nor the server is about attacks."""
    disputed = match.found.disputed
    if disputed is None or tools.may_quote(owner, text):
        return match
    return replace(match, found=replace(match.found, confidence=disputed))


def _match_obfuscated(folded: str) -> Iterator[_TextMatch]:
    """Instructions with an obfuscated spelling that has no other explanation."""
    for reading in deobfuscate_text(folded):
        for each in find_plain_instructions(reading):
            found = each.find(reading)
            if found is not None and found.confidence is Confidence.HIGH and not each.matches(folded):
                title = "Spells an instruction to the model so that filters do not detect it"
                yield _TextMatch(Category.OVERRIDE, "disguised-order", title, found)
                return


def _match_hidden(text: str) -> Iterator[_TextMatch]:
    """Matches of content that a reader does not see."""
    for kind in find_hidden_characters(text):
        title = f"Contains hidden characters: {kind}"
        yield _TextMatch(Category.HIDDEN, "hidden-characters", title, PatternMatch(Confidence.HIGH))
    if "]:" in text and MARKDOWN_COMMENT.search(text):
        yield _TextMatch(
            Category.HIDDEN, "comment", "Contains a comment that is not displayed", PatternMatch(Confidence.MEDIUM)
        )


def _match_encoded(text: str) -> Iterator[_TextMatch]:
    """Encoded parts that contain an instruction once they are decoded; other readable ones only inform."""
    readable = False
    for inner in decode_texts(text):
        readable = True
        folded = fold_text(inner)
        if COMMAND.search(folded) or any(each.category is not Category.ENCODED for each in match_patterns(folded)):
            yield _TextMatch(
                Category.ENCODED,
                "encoded-order",
                "Contains an encoded instruction to the model",
                PatternMatch(Confidence.HIGH),
            )
            return
    if readable:
        yield _TextMatch(Category.ENCODED, "encoded-text", "Contains encoded text", PatternMatch(Confidence.LOW))


def _holds_credential(text: str, pattern: Pattern) -> bool:
    found = pattern.expression.regex.search(text)
    return found is not None and not is_placeholder(found[0])
