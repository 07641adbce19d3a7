"""The examples of a rule as text: what a server would have to send."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, fields, is_dataclass
from typing import Any, Final

from evidence.kinds.exchanges import Exchange
from evidence.kinds.listing import UNDEFINED
from evidence.kinds.source import Source
from scoring import path, scope
from scoring.access_scope import Access
from scoring.conversation import Conversation
from scoring.handouts_scope import Handed
from scoring.project_scope import Project, Published
from scoring.publisher_scope import Publisher
from scoring.rule import Rule
from scoring.samples_scope import Attempt, Encounter
from scoring.source_scope import Code, Readme, Variable
from scoring.supply_scope import Audit, Drifted, Locked, Searched
from scoring.trials_scope import Trial

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


def _said(talk: Conversation) -> dict[str, Any]:
    """What was asked, by its step, and what came back."""
    return {exchange.at.removeprefix("exchanges/"): _exchange(exchange) for exchange in talk.talk.exchanges}


def _exchange(exchange: Exchange) -> dict[str, Any]:
    answer = dict(exchange.answer.members) if exchange.answer else {}
    told = {name: answer[name] for name in ("result", "error") if name in answer}
    kept = {name: value for name, value in exchange.headers.items() if name != "content-type" or not told}
    status = {} if exchange.status in {None, 200} and told else {"status": exchange.status}
    failed = {"failure": exchange.failure} if exchange.failure else {}
    return status | ({"headers": kept} if kept else {}) | failed | told


def _called(trial: Trial) -> dict[str, Any]:
    tried = asdict(trial.tried)
    wanted = ("tool", "kind", "outcome", "code", "reason", "structured", "text", "complaint")
    return {name: tried[name] for name in wanted if tried[name] not in {None, ""}}


def _told(**views: Any) -> dict[str, Any]:
    """What views of evidence hold, without what they leave open."""
    return {name: plain for name, view in views.items() if (plain := _kept(view)) not in _NOTHING}


def _kept(value: Any) -> Any:
    if isinstance(value, Source):
        return dict(value.body)
    if is_dataclass(value):
        return _told(**{part.name: getattr(value, part.name) for part in fields(value)})
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [_kept(part) for part in value]
    return value


_NOTHING: Final[tuple[Any, ...]] = (None, "", (), [], {}, frozenset())

_FORMS: Final[tuple[tuple[type[scope.Scope], Callable[[Any], Any]], ...]] = (
    (scope.Listed, lambda thing: thing.item.raw),
    (scope.Param, lambda thing: {thing.name: thing.raw}),
    (scope.Toolset, lambda thing: [tool.item.raw for tool in thing.tools]),
    (scope.Server, lambda thing: thing.listing.body.get("opening")),
    (Conversation, _said),
    (Access, lambda thing: thing.seen.body),
    (Trial, _called),
    (Handed, lambda thing: thing.handed.text),
    (Attempt, lambda thing: {"failure": thing.failure or None}),
    (Encounter, lambda thing: asdict(thing.seen)),
    (Project, lambda thing: _told(repository=thing.repository, source=thing.source, package=thing.package)),
    (Published, lambda thing: _told(registered=thing.registered, package=thing.package)),
    (Publisher, lambda thing: _told(name=thing.registration.text("name"), repository=thing.repository)),
    (Variable, lambda thing: _told(variable=thing.variable, readme=thing.seen.readme, declared=sorted(thing.declared))),
    (Code, lambda thing: thing.seen.body),
    (Readme, lambda thing: thing.seen.body),
    (Locked, lambda thing: thing.seen.body),
    (Audit, lambda thing: _told(seen=thing.seen)),
    (Searched, lambda thing: _told(seen=thing.seen)),
    (Drifted, lambda thing: _told(seen=thing.seen)),
    (scope.Declared, lambda thing: dict(thing.raw)),
    (scope.Registered, lambda thing: [ref.get("entry") for ref in thing.registration.refs]),
)
