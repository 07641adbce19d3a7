"""Renders the examples of a rule as JSON text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from evidence.kinds.exchanges import Exchange
from evidence.kinds.listing import LISTS, UNDEFINED
from evidence.kinds.source import Source
from scoring.engine.rule import Rule
from scoring.scopes import base
from scoring.scopes.conversation import Conversation
from scoring.scopes.handout_texts import HandedOutText
from scoring.scopes.project import Project, Published
from scoring.scopes.publisher import Publisher
from scoring.scopes.samples import Attempt, Encounter, Survival
from scoring.scopes.server_access import Access
from scoring.scopes.source_files import Code, Readme, Variable, Workflow
from scoring.scopes.supply_chain import Audit, Drifted, Locked, Searched
from scoring.scopes.trials import Trial
from scoring.text import evidence_path

MAX_EXAMPLES: Final = 2
MAX_LENGTH: Final = 400


def list_good_examples(rule: Rule) -> tuple[str, ...]:
    return _shown(rule.good)


def list_bad_examples(rule: Rule) -> tuple[str, ...]:
    return _shown(rule.bad)


def render_example(thing: base.Scope) -> str:
    """A thing as JSON on one line, at most MAX_LENGTH characters."""
    text = json.dumps(_plain(thing), ensure_ascii=False, default=str)
    return evidence_path.clip_text(text, MAX_LENGTH)


def _shown(things: Iterable[base.Scope]) -> tuple[str, ...]:
    """The MAX_EXAMPLES shortest examples, which are the clearest."""
    return tuple(sorted(map(render_example, things), key=len)[:MAX_EXAMPLES])


def _plain(thing: base.Scope) -> Any:
    shown = next((show for kind, show in _FORMS if isinstance(thing, kind)), _members)
    return shown(thing)


def _members(thing: base.Scope) -> dict[str, Any]:
    """The members of a scope without an entry in _FORMS."""
    names = [name for name in getattr(thing, "__struct_fields__", ()) if name not in {"at", "position"}]
    return {name: _plain_value(value) for name in names if (value := getattr(thing, name)) is not UNDEFINED}


def _exchanges_by_step(conversation: Conversation) -> dict[str, Any]:
    """The exchanges by step."""
    return {exchange.at.removeprefix("exchanges/"): _exchange(exchange) for exchange in conversation.recorded.exchanges}


def _exchange(exchange: Exchange) -> dict[str, Any]:
    answer = dict(exchange.answer.members) if exchange.answer else {}
    answered = {name: answer[name] for name in ("result", "error") if name in answer}
    kept = {name: value for name, value in exchange.headers.items() if name != "content-type" or not answered}
    status = {} if exchange.status in {None, 200} and answered else {"status": exchange.status}
    failed = {"failure": exchange.failure} if exchange.failure else {}
    return status | ({"headers": kept} if kept else {}) | failed | answered


def _texts(said: base.Said) -> dict[str, Any]:
    """The instructions and the items of the lists, without empty ones."""
    lists = {name: [item.raw for item in said.listing.list_of(name).items] for name in LISTS}
    return _without_empty(instructions=said.listing.instructions, **lists)


def _trial_members(trial: Trial) -> dict[str, Any]:
    tried = asdict(trial.tried)
    wanted = ("tool", "kind", "outcome", "code", "reason", "structured", "text", "complaint")
    return {name: tried[name] for name in wanted if tried[name] not in {None, ""}}


def _without_empty(**views: Any) -> dict[str, Any]:
    """The members of views of evidence without empty values."""
    return {name: plain for name, view in views.items() if (plain := _plain_value(view)) not in _NOTHING}


def _plain_value(value: Any) -> Any:
    if isinstance(value, Source):
        return dict(value.body)
    if isinstance(value, Struct):
        return _without_empty(**asdict(value))
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [_plain_value(part) for part in value]
    return value


_NOTHING: Final[tuple[Any, ...]] = (None, "", (), [], {}, frozenset())

_FORMS: Final[tuple[tuple[type[base.Scope], Callable[[Any], Any]], ...]] = (
    (base.ListEntry, lambda thing: thing.item.raw),
    (base.Param, lambda thing: {thing.name: thing.raw}),
    (base.Toolset, lambda thing: [tool.item.raw for tool in thing.tools]),
    (base.Server, lambda thing: thing.listing.body.get("opening")),
    (base.Said, _texts),
    (Survival, lambda thing: _without_empty(found=thing.found)),
    (Conversation, _exchanges_by_step),
    (Access, lambda thing: thing.seen.body),
    (Trial, _trial_members),
    (HandedOutText, lambda thing: thing.handed.text),
    (Attempt, lambda thing: {"failure": thing.failure or None}),
    (Encounter, lambda thing: asdict(thing.seen)),
    (Project, lambda thing: _without_empty(repository=thing.repository, source=thing.source, package=thing.package)),
    (Published, lambda thing: _without_empty(registered=thing.registered, package=thing.package)),
    (Publisher, lambda thing: _without_empty(name=thing.registration.text("name"), repository=thing.repository)),
    (
        Variable,
        lambda thing: _without_empty(
            variable=thing.variable, readme=thing.seen.readme, declared=sorted(thing.declared)
        ),
    ),
    (Workflow, lambda thing: _without_empty(workflow=thing.found)),
    (Code, lambda thing: thing.seen.body),
    (Readme, lambda thing: thing.seen.body),
    (Locked, lambda thing: thing.seen.body),
    (Audit, lambda thing: _without_empty(seen=thing.seen)),
    (Searched, lambda thing: _without_empty(seen=thing.seen)),
    (Drifted, lambda thing: _without_empty(seen=thing.seen)),
    (base.RegistryObject, lambda thing: dict(thing.raw)),
    (base.Registered, lambda thing: [ref.get("entry") for ref in thing.registration.refs]),
)
