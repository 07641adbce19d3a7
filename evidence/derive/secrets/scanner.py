"""Searches secrets in linear time: the anchors of all rules in one pass, then each expression near its anchors.

After FAST_FROM bytes, hyperscan, where it is installed, first selects the rules that a text can match. The engine is
google-re2 because scanned trees are hostile: a backtracking engine can spend seconds on one crafted line.
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from itertools import accumulate, islice
from typing import Any, Final

import re2
from msgspec import Struct
from msgspec.structs import replace

from evidence.derive.secrets.finding import MASK, Finding, Lines, digest_secret, mask_context
from evidence.derive.secrets.gitleaks_rules import RulesInvalid
from evidence.derive.secrets.joined_literals import join_literals
from evidence.derive.secrets.match_context import is_cut, is_inside_blob, is_reference
from evidence.derive.secrets.match_windows import Anchors, Span, find_matches, merge_spans
from evidence.derive.secrets.path_discounts import find_path_discount
from evidence.derive.secrets.placeholders import holds_sequence, is_placeholder, is_word_sequence
from evidence.derive.secrets.prefilter import (
    EVERYTHING,
    Candidates,
    PrefilterUnsupported,
    RulePrefilter,
    is_hyperscan_installed,
)
from evidence.derive.secrets.rules import LINE, MATCH, Allowance, Rule, RuleSet, rules_digest
from evidence.derive.secrets.value_decoding import decode_base64, decode_value
from evidence.kinds.secrets import Discount
from evidence.patterns.secrets.services import find_service

MAX_FINDINGS: Final = 500
"""Findings of one text; a file with more is a list of secrets, and the first findings show it."""

MAX_DEPTH: Final = 2
"""Encodings around a secret that are seen through. Each decoded text is at most three quarters of its encoding."""

FAST_FROM: Final = 80_000_000
"""Bytes; compiling the rules for hyperscan takes as long as scanning this many without it."""

_APART: Final = b"\n" + b"\0" * 24 + b"\n"
"""Separates texts that are scanned together: no pattern reaches across."""
_BEFORE: Final = 24  # bytes: the rest of a name
_MAX_MATCHES: Final = 5_000
_MAX_EXAMINED: Final = 50_000


class _Hit(Struct, frozen=True):
    rule: Rule
    order: int
    span: tuple[int, int]
    provider: str
    example: bool = False  # with letters or digits in their order, as people write them


class _Allowed(Struct, frozen=True):
    paths: tuple[Any, ...]
    expressions: tuple[Any, ...]
    allowance: Allowance


class Scanner:
    """Scans texts by the rules of one set; raises RulesInvalid for an expression that is not RE2. Built once.

    `fast` selects hyperscan; None selects it after FAST_FROM bytes where it is installed. It never changes a finding.
    """

    def __init__(self, rules: RuleSet, *, fast: bool | None = None) -> None:
        self._set = rules
        self._rules = rules.rules
        self._expressions: dict[int, Any] = {}
        if not rules.own:  # ours are compiled on first use, since most texts have anchors of a few rules only
            for order in range(len(self._rules)):
                self._expression(order)
        self._paths = [_compiled(rule.path, rule) if rule.path else None for rule in self._rules]
        self._allowed = [tuple(_allowed(one, rule) for one in rule.allowances) for rule in self._rules]
        self._allowed_everywhere = tuple(_allowed(one, None) for one in rules.allowances)
        self._by_path = [
            (rule, expression, allowed)
            for rule, expression, allowed in zip(self._rules, self._paths, self._allowed, strict=True)
            if not rule.expression and expression is not None
        ]
        self._anchors = Anchors(self._rules)
        self._fast = fast
        self._seen = 0

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the rules in hexadecimal digits."""
        return rules_digest(self._set)

    def scan(self, text: str | bytes, path: str, *, salt: bytes) -> tuple[Finding, ...]:
        """The findings in the text of a file in their order; at most MAX_FINDINGS. `data` is UTF-8 and may contain
        errors.
        """
        data = text.encode("utf-8", "replace") if isinstance(text, str) else text
        candidates = self._find_candidates(data)
        hits = self._resolved(self._hits(data, path, candidates))
        places = list(join_literals(data, path)) if self._set.own and candidates.joins else []
        joined, parts = self._joined_findings(data, path, places, hits, salt)
        spans = merge_spans(hit.span for hit in hits)
        lines = Lines(data)
        found = [
            self._finding(hit, data, spans, path=path, line=lines.at(hit.span[0]), salt=salt)
            for hit in islice(hits, MAX_FINDINGS)
            if hit.span not in parts
        ]
        found = sorted((*found, *joined), key=lambda finding: finding.line)[:MAX_FINDINGS]
        return (*self._path_findings(path, salt), *found)

    def _finding(self, hit: _Hit, data: bytes, spans: Sequence[Span], *, path: str, line: int, salt: bytes) -> Finding:
        secret = data[slice(*hit.span)]
        return Finding(
            pattern=hit.rule.id,
            provider=hit.provider,
            title=hit.rule.title,
            path=path,
            line=line,
            digest=digest_secret(secret, salt),
            context=mask_context(data, hit.span, spans),
            generic=hit.rule.generic,
            discount=self._find_discount(hit, path, secret),
        )

    def _joined_findings(
        self, data: bytes, path: str, places: Sequence[tuple[int, bytes]], known: Sequence[_Hit], salt: bytes
    ) -> tuple[list[Finding], AbstractSet[Span]]:
        """The findings that show only when the literals of a program are joined, and the generic ones they replace."""
        if not places:
            return [], set()
        text = _APART.join(joined for _, joined in places)
        starts = list(accumulate((len(joined) + len(_APART) for _, joined in places), initial=0))
        hits = self._resolved(self._hits(text, path))
        spans = merge_spans(hit.span for hit in hits)
        found: list[Finding] = []
        parts: set[Span] = set()
        for hit in hits:
            secret = text[slice(*hit.span)]
            inside = [one for one in known if data[slice(*one.span)] in secret]
            if secret in data or not all(one.rule.generic for one in inside):
                continue
            parts |= {one.span for one in inside}
            start, _ = places[bisect_right(starts, hit.span[0]) - 1]
            line = data.count(b"\n", 0, start) + 1
            found.append(self._finding(hit, text, spans, path=path, line=line, salt=salt))
        return found, parts

    def spans(self, data: bytes) -> list[tuple[int, int]]:
        """The places of all secrets, sorted and without overlap: also what does not count, but no example values."""
        return merge_spans(hit.span for hit in self._hits(data, "", bounded=False) if not hit.example)

    def scrub(self, text: str) -> str:
        """The text with every secret masked, discounted ones included."""
        data = text.encode("utf-8", "surrogatepass")
        spans = self.spans(data)
        if not spans:
            return text
        parts, at = [], 0
        for start, end in spans:
            parts += [data[at:start], MASK.encode()]
            at = end
        return b"".join((*parts, data[at:])).decode("utf-8", "surrogatepass")

    def _path_findings(self, path: str, salt: bytes) -> Iterator[Finding]:
        for rule, expression, allowed in self._by_path:
            if not expression.search(path):
                continue
            if not any(_is_path_allowed(one, path) for one in (*allowed, *self._for(rule))):
                yield Finding(
                    pattern=rule.id,
                    provider=rule.provider,
                    title=rule.title,
                    path=path,
                    line=0,
                    digest=digest_secret(path.encode("utf-8", "replace"), salt),
                    context="",
                    discount=find_path_discount(path),
                )

    def _hits(
        self, data: bytes, path: str, candidates: Candidates | None = None, *, bounded: bool = True, depth: int = 0
    ) -> list[_Hit]:
        if any(_is_path_allowed(one, path) for one in self._allowed_everywhere if not one.allowance.rules):
            return []
        return [
            hit
            for order, windows in self._anchors.windows(data, (candidates or self._find_candidates(data)).rules).items()
            if self._holds_for(order, path)
            for hit in self._matches(order, data, path, windows, bounded=bounded)
            for hit in self._seen_through(hit, data, depth)
        ]

    def _holds_for(self, order: int, path: str) -> bool:
        """Whether a rule holds for a file; of our own, each holds for a text without a path, which is only masked."""
        path_of = self._paths[order]
        return path_of is None or (self._set.own and not path) or path_of.search(path) is not None

    def _seen_through(self, hit: _Hit, data: bytes, depth: int) -> Iterator[_Hit]:
        """The hit; of encoded text the one that counts most inside of it, up to MAX_DEPTH encodings deep."""
        if not hit.rule.encoded:
            yield hit
        elif depth < MAX_DEPTH and (text := decode_base64(data[slice(*hit.span)].decode("ascii", "replace"))):
            inner = self._resolved(self._hits(text.encode(), "", depth=depth + 1))
            if best := min(inner, key=lambda one: (one.example, one.rule.generic), default=None):
                rule = replace(hit.rule, generic=best.rule.generic, title=f"{best.rule.title}, in Base64")
                yield replace(hit, rule=rule, provider=best.provider, example=best.example)

    def _find_candidates(self, data: bytes) -> Candidates:
        self._seen += len(data)
        if self._fast is False or (self._fast is None and self._seen < FAST_FROM):
            return EVERYTHING
        return self._sieve.find_candidates(data) if self._sieve else EVERYTHING

    @cached_property
    def _sieve(self) -> RulePrefilter | None:
        try:
            return RulePrefilter(self._rules) if self._fast or is_hyperscan_installed() else None
        except PrefilterUnsupported:
            return None

    def _expression(self, order: int) -> Any:
        if order not in self._expressions:
            rule = self._rules[order]
            self._expressions[order] = _compiled(rule.expression, rule) if rule.expression else None
        return self._expressions[order]

    def _matches(
        self, order: int, data: bytes, path: str, windows: Sequence[tuple[int, int]], *, bounded: bool
    ) -> Iterator[_Hit]:
        rule, expression = self._rules[order], self._expression(order)
        if expression is None:
            return
        everything = find_matches(expression, data, windows, named=rule.named)
        hits = (
            self._hit(order, data, match, span)
            for match in islice(everything, _MAX_EXAMINED if bounded else None)
            if (span := _secret(match, rule.group))[0] < span[1] and self._is_secret(order, data, path, match, span)
        )
        yield from islice(hits, _MAX_MATCHES if bounded else None)

    def _hit(self, order: int, data: bytes, match: Any, span: tuple[int, int]) -> _Hit:
        rule = self._rules[order]
        before = data[max(0, match.start() - _BEFORE) : match.start()].decode("utf-8", "replace") if rule.named else ""
        provider = find_service(before) or rule.provider
        example = self._set.own and holds_sequence(data[slice(*span)].decode("utf-8", "replace"))
        return _Hit(rule, order, span, provider, example)

    def _is_secret(self, order: int, data: bytes, path: str, match: Any, span: tuple[int, int]) -> bool:
        rule = self._rules[order]
        secret = data[slice(*span)].decode("utf-8", "replace")
        if rule.entropy and shannon_entropy(secret) <= rule.entropy:
            return False
        if self._set.own and self._is_innocent(rule, data, match, span, secret):
            return False
        allowed = (*self._allowed[order], *self._for(rule))
        if not allowed and not self._set.markers:
            return True
        line = _line(data, match.start(), match.end())
        if any(marker in line for marker in self._set.markers):
            return False
        whole = match.group().decode("utf-8", "replace")
        return not any(
            _is_allowed(one, path, {MATCH: whole, LINE: line}.get(one.allowance.target, secret), secret)
            for one in allowed
        )

    def _is_innocent(self, rule: Rule, data: bytes, match: Any, span: tuple[int, int], secret: str) -> bool:
        """Whether a match of one of our own rules is not a secret."""
        if rule.random and any(is_word_sequence(text) for text in decode_value(secret)):
            return True
        before = data[max(0, match.start() - _BEFORE) : span[0]].decode("utf-8", "replace")
        if rule.generic and is_reference(before, secret, of_service=rule.named):
            return True
        if is_placeholder(secret) or (rule.generic and not rule.named and holds_sequence(secret)):
            return True
        return is_cut(data, span[1]) or (rule.initial and is_inside_blob(data, span))

    def _find_discount(self, hit: _Hit, path: str, secret: bytes) -> Discount | None:
        """Why a finding does not count; None when it counts."""
        if hashlib.sha256(secret).hexdigest() in self._set.public:
            return Discount.PUBLIC
        if hit.example:
            return Discount.SEQUENCE
        return find_path_discount(path) or (Discount.GENERIC if hit.rule.generic else None)

    def _for(self, rule: Rule) -> Iterator[_Allowed]:
        return (one for one in self._allowed_everywhere if not one.allowance.rules or rule.id in one.allowance.rules)

    def _resolved(self, hits: Iterable[_Hit]) -> list[_Hit]:
        """One hit for each place: the most specific rule. Of the rules of a file only generic ones give way."""
        kept: list[_Hit] = []
        starts: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for hit in sorted(hits, key=lambda hit: (hit.rule.generic, hit.order)):
            near = [span for block in range(hit.span[0] >> 12, (hit.span[1] >> 12) + 1) for span in starts[block]]
            taken = any(first < hit.span[1] and hit.span[0] < last for first, last in near)
            if taken and (self._set.own or hit.rule.generic):
                continue
            kept.append(hit)
            for block in range(hit.span[0] >> 12, (hit.span[1] >> 12) + 1):
                starts[block].append(hit.span)
        return sorted(kept, key=lambda hit: (hit.span, hit.order))


def shannon_entropy(text: str) -> float:
    """Shannon's entropy in bits per character."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values())


@lru_cache
def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    return options


def _compiled(expression: str, rule: Rule | None) -> Any:
    try:
        return re2.compile(expression.encode(), _options())
    except re2.error as error:
        where = f"rule {rule.id}" if rule else "the allow list"
        raise RulesInvalid(f"expected an RE2 expression in {where}; {error}") from error


def _allowed(allowance: Allowance, rule: Rule | None) -> _Allowed:
    return _Allowed(
        tuple(_compiled(one, rule) for one in allowance.paths),
        tuple(_compiled(one, rule) for one in allowance.expressions),
        allowance,
    )


def _is_path_allowed(allowed: _Allowed, path: str) -> bool:
    """Whether the path alone satisfies the allowance."""
    one = allowed.allowance
    others = one.expressions or one.stopwords or one.unmeetable
    return bool(path) and not (one.every and others) and _holds(allowed.paths, path)


def _is_allowed(allowed: _Allowed, path: str, target: str, secret: str) -> bool:
    one = allowed.allowance
    checks = [
        _holds(expressions, text)
        for expressions, text in ((allowed.paths, path), (allowed.expressions, target))
        if expressions
    ]
    if one.stopwords:
        lower = secret.lower()
        checks.append(any(word in lower for word in one.stopwords))
    if one.unmeetable:
        checks.append(False)
    return bool(checks) and (all(checks) if one.every else any(checks))


def _holds(expressions: Iterable[Any], text: str) -> bool:
    data = text.encode("utf-8", "replace")
    return any(expression.search(data) for expression in expressions)


def _secret(match: Any, group: int) -> tuple[int, int]:
    """The span of the secret in a match: the given group, else the first group that matched, else the whole match."""
    spans: list[tuple[int, int]] = [match.span(one) for one in range(match.re.groups + 1)]
    if group:
        return spans[group] if group < len(spans) else spans[0]
    return next((span for span in spans[1:] if span[0] < span[1]), spans[0])


def _line(data: bytes, start: int, end: int) -> str:
    last = data.find(b"\n", end)
    return data[data.rfind(b"\n", 0, start) + 1 : last if last >= 0 else len(data)].decode("utf-8", "replace")
