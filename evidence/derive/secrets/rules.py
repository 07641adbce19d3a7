"""The rules of a scanner in one form, from our patterns or from a rule file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Final

from evidence.patterns.secrets import PATTERNS

SECRET: Final = "secret"  # noqa: S105 - what an allowance looks at
MATCH: Final = "match"
LINE: Final = "line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What is allowed to look like a secret. With `every`, each kind of condition that is given must hold.

    `rules` limits it to some rules; none means all. Expressions are RE2; `target` says what they are searched in.
    """

    paths: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()
    stopwords: tuple[str, ...] = ()
    target: str = SECRET
    every: bool = False
    unmeetable: bool = False
    rules: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. Without an expression the path alone decides; `group` 0 is the first group that matched.

    What a `random` rule finds is not made of words; in the decoded text of an `encoded` one is another secret. The
    anchors of an `initial` rule begin its matches, which begin a word; they are looked at nowhere else. `window` is how
    many bytes before and after an anchor the expression may look at; None is the whole text.
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
    window: tuple[int, int] | None = None
    allowances: tuple[Allowance, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """Rules with what they all allow.

    `own` rules know placeholders, and report each place once. Those of a file do as the file says, and leave out lines
    with one of the `markers`.
    """

    rules: tuple[Rule, ...]
    allowances: tuple[Allowance, ...] = ()
    markers: tuple[str, ...] = ()
    own: bool = False


def build_own_rules() -> RuleSet:
    """Our own patterns as rules."""
    return RuleSet(
        own=True,
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
                window=(pattern.near, pattern.far),
            )
            for pattern in PATTERNS
        ),
    )


def rules_digest(rules: RuleSet) -> str:
    """The SHA-256 of all that rules say, in hexadecimal digits."""
    said = json.dumps(asdict(rules), sort_keys=True, default=sorted)
    return hashlib.sha256(said.encode()).hexdigest()
