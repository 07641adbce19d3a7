"""Rule `resource-template-invalid`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol import list_pages
from scoring.results.outcome import Inapplicable, Severity, Tolerated
from scoring.scopes.conversation import Conversation
from scoring.text.uris import list_template_flaws


def _listed(*templates: Any) -> Conversation:
    entries = [{"name": "memo", "uriTemplate": template} for template in templates]
    return build_conversation(legacy_exchange("list-resourceTemplates", result={"resourceTemplates": entries}))


@rule(
    "resource-template-invalid",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="The URI template of a resource template cannot be parsed",
    remedy="Set `uriTemplate` to an RFC 6570 template such as `memo://{user_id}`. Use only letters, digits, `_` "
    "and `.` in variable names, close each brace, and percent-encode spaces.",
    since="2026.2",
    version=1,
    checks=must("RES-03", "ABCDE", "schema#resourcetemplate"),
    fix=(
        build_conversation(
            legacy_exchange(
                "list-resourceTemplates",
                result={"resourceTemplates": [{"name": "memo", "uriTemplate": "memo://{user-id}"}]},
            )
        ),
        build_conversation(
            legacy_exchange(
                "list-resourceTemplates",
                result={"resourceTemplates": [{"name": "memo", "uriTemplate": "memo://{user_id}"}]},
            )
        ),
    ),
    good=[_listed("memo://{topic}/text", "file:///{+path}{?from,to*}", "memo://{topic:3}{#part}", "memo://fixed")],
    bad=[
        _listed("memo://{topic"),
        _listed("memo://{}"),
        _listed("memo://{a b}"),
        _listed("memo://to pic"),
        _listed("memo://{user-id}"),
        _listed(None),
    ],
    unjudged=[
        _listed(),
        build_conversation(legacy_exchange("list-resourceTemplates", result={"resourceTemplates": ["memo"]})),
        build_conversation(legacy_exchange("ping", result={})),
    ],
)
def resource_template_invalid(conversation: Conversation) -> Iterator[Answer]:
    """`uriTemplate` is a URI template of RFC 6570: characters of a URI, and expressions such as `{topic}`.

    A client that cannot parse it cannot read the resources behind it. Names of variables have letters, digits,
    underscores and dots. A hyphen in a name is tolerated, because most libraries accept it.
    """
    judged = False
    for exchange in conversation.results("list-resourceTemplates"):
        for place, entry in list_pages.list_entry_places(exchange, "resourceTemplates"):
            if not isinstance(entry, Mapping):
                continue
            judged = True
            template = entry.get("uriTemplate")
            if not isinstance(template, str):
                yield place, "no uriTemplate"
                continue
            for flaw in list_template_flaws(template):
                yield Tolerated(flaw.message, place.at) if flaw.tolerated else (place, flaw.message)
    if not judged:
        raise Inapplicable("no templates")
