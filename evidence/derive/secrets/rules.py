"""The common form of scanner rules, built from our own patterns or from a rule file."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from evidence.patterns.secrets import PATTERNS
from evidence.patterns.secrets.public_keys import PUBLIC_KEYS

SECRET: Final = "secret"  # noqa: S105 - what an allowance looks at
MATCH: Final = "match"
LINE: Final = "line"


class Allowance(Struct, frozen=True, kw_only=True):
    """Values that are allowed although they look like secrets. With `every`, all given kinds of conditions must hold.

    `rules` limits it to some rules; an empty set means all. Expressions are RE2; `target` names the text they are
    searched in.
    """

    paths: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()
    stopwords: tuple[str, ...] = ()
    target: str = SECRET
    every: bool = False
    unmeetable: bool = False
    rules: frozenset[str] = frozenset()


class Rule(Struct, frozen=True, kw_only=True):
    """One rule. Without an expression the path alone decides. `group` 0 is the first group that matched.

    A match of a `random` rule is not made of words. The decoded text of an `encoded` match contains another secret.
    Matches
    of an `initial` rule begin with an anchor, which begins a word. The anchors of a `named` rule are names of services;
    a match begins after one. What follows an anchor, in lower case, begins with `then`: an expression of bounded length
    for `re`, which is much cheaper than a window. `window` is the number of bytes before and after an
    anchor that the expression may examine; None is the whole text.
    """

    id: str
    provider: str
    title: str
    expression: str
    anchors: tuple[str, ...] = ()
    entropy: float = 0.0
    group: int = 0
    path: str = ""
    generic: bool = False
    random: bool = False
    encoded: bool = False
    initial: bool = False
    named: bool = False
    then: str = ""
    window: tuple[int, int] | None = None
    allowances: tuple[Allowance, ...] = ()


class RuleSet(Struct, frozen=True, kw_only=True):
    """Rules with their common allowances.

    With `own` rules, placeholders are recognised and each place is reported once. Rules of a file behave as the file
    states and skip lines with one of the `markers`. `public` has the SHA-256 of keys that their provider publishes.
    """

    rules: tuple[Rule, ...]
    allowances: tuple[Allowance, ...] = ()
    markers: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    own: bool = False


def build_own_rules() -> RuleSet:
    return RuleSet(
        own=True,
        public=tuple(PUBLIC_KEYS),
        rules=tuple(
            Rule(
                id=pattern.id,
                provider=pattern.provider,
                title=pattern.title,
                expression=pattern.expression,
                anchors=pattern.anchors,
                entropy=pattern.entropy,
                generic=pattern.generic,
                random=pattern.random or pattern.generic,
                encoded=pattern.encoded,
                initial=pattern.initial,
                named=pattern.named,
                then=pattern.then,
                path=_ending(pattern.files),
                window=(pattern.near, pattern.far),
            )
            for pattern in PATTERNS
        ),
    )


def _ending(files: tuple[str, ...]) -> str:
    """An expression for paths that end so; empty for any path."""
    return f"(?i)(?:{'|'.join(map(re.escape, files))})$" if files else ""


def rules_digest(rules: RuleSet) -> str:
    """The SHA-256 of the content of the rules, in hexadecimal digits."""
    content = json.dumps(rules, sort_keys=True, default=_plain)
    return hashlib.sha256(content.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """A part of the rules as JSON has it; `asdict` would copy every text and take ten times as long."""
    return sorted(value) if isinstance(value, frozenset) else asdict(value)
