"""Rule `completion-undeclared`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evidence.canonical import Json
from scoring.engine.rule import Answer, info, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol import list_pages
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation

_PROMPTS: Final = legacy_exchange("list-prompts", result={"prompts": [{"name": "sum", "arguments": [{"name": "day"}]}]})


@rule(
    "completion-undeclared",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.INFO,
    title="Completion of arguments is not declared",
    remedy="No change is needed if the server does not support `completion/complete`; otherwise add "
    '`"completions": {}` to `capabilities`.',
    since="2026.2",
    version=1,
    checks=info("CAP-04", "ABCDE", "server/utilities/completion#capabilities"),
    fix=(
        build_conversation(
            legacy_exchange(
                "initialize",
                result={
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"prompts": {}},
                    "serverInfo": {"name": "notes", "version": "1.0.0"},
                },
            ),
            legacy_exchange("list-prompts", result={"prompts": [{"name": "sum", "arguments": [{"name": "day"}]}]}),
        ),
        build_conversation(
            legacy_exchange(
                "initialize",
                result={
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"prompts": {}, "completions": {}},
                    "serverInfo": {"name": "notes", "version": "1.0.0"},
                },
            ),
            legacy_exchange("list-prompts", result={"prompts": [{"name": "sum", "arguments": [{"name": "day"}]}]}),
        ),
    ),
    good=[build_conversation(legacy_exchange("initialize", result={"capabilities": {"completions": {}}}), _PROMPTS)],
    bad=[
        build_conversation(legacy_exchange("initialize", result={"capabilities": {"prompts": {}}}), _PROMPTS),
        build_conversation(
            legacy_exchange("initialize", result={}),
            legacy_exchange("list-resourceTemplates", result={"resourceTemplates": [{"uriTemplate": "memo://{day}"}]}),
        ),
    ],
    unjudged=[
        build_conversation(
            legacy_exchange("initialize", revision="A", result={}),
            legacy_exchange("list-prompts", revision="A", result={}),
        ),
        build_conversation(
            legacy_exchange("initialize", result={}),
            legacy_exchange("list-prompts", result={"prompts": [{"name": "sum"}]}),
        ),
        build_conversation(legacy_exchange("initialize", result={})),
    ],
)
def completion_undeclared(conversation: Conversation) -> Iterator[Answer]:
    """A server that completes the arguments of prompts and resource templates declares `completions`.

    Without the declaration, only the completion of a real argument would show whether the server supports it, which may
    have a cost for the server. There are arguments and no declared completion, so this check is for information only.
    Revision 2024-11-05 has no such capability.
    """
    listed = [
        one for one in conversation.results("list-prompts", "list-resourceTemplates") if one.connection.revision != "A"
    ]
    takers = [
        one
        for one in listed
        if any(_takes_arguments(entry) for entry in list_pages.list_page_entries(one, list_pages.list_member(one)))
    ]
    if not takers:
        raise Inapplicable("no prompt or resource template has arguments")
    for exchange in takers:
        if "completions" not in conversation.capabilities(exchange.connection.era):
            yield exchange, "there are arguments to complete, and completions is not declared"


def _takes_arguments(entry: Json) -> bool:
    members = entry if isinstance(entry, Mapping) else {}
    return bool(members.get("arguments")) or "{" in str(members.get("uriTemplate", ""))
