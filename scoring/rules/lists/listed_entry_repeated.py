"""Rule `listed-entry-repeated`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from evidence.kinds.exchanges import Exchange
from scoring.engine.rule import Answer, info, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol import list_pages
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation
from scoring.text.evidence_path import clip_text

_KEYS: Final = {"list-resources": "uri", "list-resourceTemplates": "uriTemplate", "list-prompts": "name"}


def _listed(step: str, *entries: dict[str, Any]) -> Conversation:
    return build_conversation(legacy_exchange(step, result={step.removeprefix("list-"): list(entries)}))


@rule(
    "listed-entry-repeated",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="Two entries of a list have the same key",
    remedy="Give each resource a unique `uri`, each template a unique `uriTemplate`, each prompt a unique "
    "`name`, and each argument a `name` that is unique in its prompt. Remove repeated entries.",
    since="2026.3",
    version=1,
    checks=info("RES-04", "ABCDE", "server/resources#resource"),
    fix=(
        build_conversation(
            legacy_exchange(
                "list-resources",
                result={"resources": [{"uri": "memo://1", "name": "a"}, {"uri": "memo://1", "name": "b"}]},
            )
        ),
        build_conversation(
            legacy_exchange(
                "list-resources",
                result={"resources": [{"uri": "memo://1", "name": "a"}, {"uri": "memo://2", "name": "b"}]},
            )
        ),
    ),
    good=[
        _listed("list-resources", {"uri": "memo://1", "name": "a"}, {"uri": "memo://2", "name": "a"}),
        _listed("list-prompts", {"name": "sum", "arguments": [{"name": "a"}, {"name": "b"}]}),
    ],
    bad=[
        _listed("list-resources", {"uri": "memo://1", "name": "a"}, {"uri": "memo://1", "name": "b"}),
        _listed("list-resourceTemplates", {"uriTemplate": "memo://{id}"}, {"uriTemplate": "memo://{id}"}),
        _listed("list-prompts", {"name": "sum"}, {"name": "sum"}),
        _listed("list-prompts", {"name": "sum", "arguments": [{"name": "a"}, {"name": "a"}]}),
    ],
    unjudged=[_listed("list-resources"), _listed("list-tools", {"name": "a"}, {"name": "a"})],
)
def listed_entry_repeated(conversation: Conversation) -> Iterator[Answer]:
    """A resource is identified by its `uri`, a template by its `uriTemplate`, a prompt and an argument by its `name`.

    A client can reach only one of two entries with the same key. The specification says so in prose, without a MUST, so
    the check is for information only. Names of tools are judged by `tool-names-duplicated`.
    """
    pages = [
        one for one in conversation.results(*_KEYS) if list_pages.list_page_entries(one, list_pages.list_member(one))
    ]
    if not pages:
        raise Inapplicable("no resources and no prompts")
    for exchange in pages:
        for key in _list_repeated(exchange):
            yield exchange, key


def _list_repeated(exchange: Exchange) -> Iterator[str]:
    member = _KEYS[exchange.step]
    entries = [
        one for one in list_pages.list_page_entries(exchange, list_pages.list_member(exchange)) if isinstance(one, dict)
    ]
    for value, times in Counter(one[member] for one in entries if isinstance(one.get(member), str)).items():
        if times > 1:
            yield f"{times} entries have the {member} {clip_text(value, 60)}"
    for entry in entries if exchange.step == "list-prompts" else ():
        arguments = entry.get("arguments")
        owner = clip_text(str(entry.get("name")), 40)
        names = [one.get("name") for one in arguments if isinstance(one, dict)] if isinstance(arguments, list) else []
        for name, times in Counter(name for name in names if isinstance(name, str)).items():
            if times > 1:
                yield f"{times} arguments of {owner} have the name {clip_text(name, 40)}"
