"""The examples of a rule as text: what a server would have to send."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from evidence.kinds.listing import UNDEFINED
from scoring import path, scope
from scoring.rule import Rule

MAX_EXAMPLES: Final = 2
MAX_LENGTH: Final = 400


def good(rule: Rule) -> tuple[str, ...]:
    """Examples that the rule has nothing to say about."""
    return _shown(rule.good)


def bad(rule: Rule) -> tuple[str, ...]:
    """Examples that the rule finds fault with."""
    return _shown(rule.bad)


def illustrate(thing: scope.Scope) -> str:
    """A thing as JSON on one line, cut where it gets long."""
    text = json.dumps(_plain(thing), ensure_ascii=False, default=str)
    return path.clip(text, MAX_LENGTH)


def _shown(things: Iterable[scope.Scope]) -> tuple[str, ...]:
    """The shortest examples: they show the point best."""
    return tuple(sorted(map(illustrate, things), key=len)[:MAX_EXAMPLES])


def _plain(thing: scope.Scope) -> Any:
    shown = next((show for kind, show in _FORMS if isinstance(thing, kind)), _members)
    return shown(thing)


def _members(thing: scope.Scope) -> dict[str, Any]:
    """A scope that has no form of its own here, member by member."""
    names = [name for name in getattr(thing, "__dataclass_fields__", ()) if name not in {"at", "position"}]
    return {name: value for name in names if (value := getattr(thing, name)) is not UNDEFINED}


def _asked(thing: scope.AskedList) -> dict[str, Any]:
    items = thing.items
    return {thing.name: {"end": items.end, "pages": len(items.pages), "error": items.error}}


_FORMS: Final[tuple[tuple[type[scope.Scope], Callable[[Any], Any]], ...]] = (
    (scope.Listed, lambda thing: thing.item.raw),
    (scope.Param, lambda thing: {thing.name: thing.raw}),
    (scope.Toolset, lambda thing: [tool.item.raw for tool in thing.tools]),
    (scope.Server, lambda thing: thing.listing.body.get("opening")),
    (scope.AskedList, _asked),
    (scope.Declared, lambda thing: dict(thing.raw)),
    (scope.Registered, lambda thing: [ref.get("entry") for ref in thing.registration.refs]),
)
