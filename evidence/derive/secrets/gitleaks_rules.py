"""Reads rule files in the format of gitleaks (its configuration reference, version 8).

Two members have no effect: `commits` of an allow list never match, because a tree has no history, and `required`
companions of a rule are not searched.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from evidence.derive.secrets.rules import LINE, MATCH, SECRET, Allowance, Rule, RuleSet, build_own_rules

MARKERS: Final = ("gitleaks:allow",)
"""gitleaks leaves out lines with such a comment."""

MAX_DEPTH: Final = 2
"""Files that may extend one another, as in gitleaks."""

_ALL: Final = {"and", "&&"}
_GENERIC: Final = "generic"


class RulesInvalid(ValueError):
    """The text is not a valid rule file. The message names the rule, what was expected and what was found."""


def load_rules(text: str, read: Callable[[str], str] | None = None, depth: int = MAX_DEPTH) -> RuleSet:
    """The rules of a file; raise RulesInvalid. `extend.useDefault` adds our own patterns.

    `read` returns the text of the file that `extend.path` names; without `read` such a file is refused.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RulesInvalid(f"expected TOML; {error}") from error
    rules = tuple(_rule(position, table) for position, table in enumerate(_tables(document, "rules")))
    base = _base(document, read, depth)
    known = {rule.id for rule in rules}
    extended = tuple(rule for rule in base.rules if rule.id not in known)
    if not rules and not extended:
        raise RulesInvalid("expected at least one [[rules]] table; found none")
    allowances = (*(_allowance(table) for table in _both(document)), *base.allowances)
    return RuleSet(rules=(*rules, *extended), allowances=allowances, markers=MARKERS)


def _base(document: Mapping[str, Any], read: Callable[[str], str] | None, depth: int) -> RuleSet:
    """The rules that a file extends, without those that it disables."""
    extend = document.get("extend", {})
    if not isinstance(extend, Mapping):
        raise RulesInvalid("expected a table in extend")
    base = RuleSet(rules=())
    if extend.get("useDefault"):
        base = build_own_rules()
    elif path := _text(extend, "path"):
        if read is None or depth <= 0:
            raise RulesInvalid(f"expected rules that can be read; found extend.path {path!r:.200} out of reach")
        base = load_rules(read(path), read, depth - 1)
    disabled = set(_texts(extend, "disabledRules"))
    return replace(base, rules=tuple(rule for rule in base.rules if rule.id not in disabled))


def _rule(position: int, table: Mapping[str, Any]) -> Rule:
    ident = _text(table, "id")
    if not ident:
        raise RulesInvalid(f"expected an id in rule {position + 1}; found none")
    expression, path = _text(table, "regex"), _text(table, "path")
    if not expression and not path:
        raise RulesInvalid(f"expected a regex or a path in rule {ident}; found neither")
    return Rule(
        id=ident,
        provider=ident.split("-", maxsplit=1)[0],
        title=_text(table, "description") or ident,
        expression=expression,
        anchors=tuple(keyword.lower() for keyword in _texts(table, "keywords")),
        entropy=_number(table, "entropy", ident),
        group=int(_number(table, "secretGroup", ident)),
        path=path,
        generic=ident.startswith(_GENERIC),
        allowances=tuple(_allowance(one) for one in _both(table)),
    )


def _allowance(table: Mapping[str, Any]) -> Allowance:
    target = _text(table, "regexTarget").lower()
    return Allowance(
        paths=_texts(table, "paths"),
        expressions=_texts(table, "regexes"),
        stopwords=tuple(word.lower() for word in _texts(table, "stopwords")),
        target=target if target in {MATCH, LINE} else SECRET,
        every=_text(table, "condition").lower() in _ALL,
        unmeetable=bool(_texts(table, "commits")),
        rules=frozenset(_texts(table, "targetRules")),
    )


def _both(table: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """The allow lists of a table, in the older form (`allowlist`) and the newer one (`allowlists`)."""
    older = table.get("allowlist")
    return (*([older] if isinstance(older, Mapping) else []), *_tables(table, "allowlists"))


def _tables(table: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = table.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise RulesInvalid(f"expected [[{name}]] tables; found {type(found).__name__}")
    return found


def _texts(table: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = table.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise RulesInvalid(f"expected a list of strings in {name}; found {found!r:.60}")
    return tuple(found)


def _text(table: Mapping[str, Any], name: str) -> str:
    found = table.get(name, "")
    if not isinstance(found, str):
        raise RulesInvalid(f"expected a string in {name}; found {found!r:.60}")
    return found


def _number(table: Mapping[str, Any], name: str, ident: str) -> float:
    found = table.get(name, 0)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise RulesInvalid(f"expected a number in {name} of rule {ident}; found {found!r:.60}")
    return float(found)
