"""Rule `list-unlike-its-capability`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.replies import METHOD_NOT_FOUND
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "list-unlike-its-capability",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A list and its capability contradict each other",
    remedy="Declare `tools`, `prompts` or `resources` in `capabilities` if the server answers that list. "
    "Implement a declared list that is answered with error -32601, or remove its declaration.",
    since="2026.2",
    version=2,
    checks=(
        must("CAP-01", "ABCDE", "server/tools#capabilities", name="tools"),
        must("CAP-02", "ABCDE", "server/prompts#capabilities", name="prompts"),
        must("CAP-03", "ABCDE", "server/resources#capabilities", name="resources"),
    ),
    fix=(
        build_conversation(legacy_exchange("list-tools", error={"code": -32601, "message": "Method not found"})),
        build_conversation(legacy_exchange("list-tools", result={"tools": []})),
    ),
    good=[
        build_conversation(legacy_exchange("list-tools", error={"code": -32603, "message": "no database"})),
        build_conversation(legacy_exchange("list-tools-undeclared", error={"code": -32601})),
        build_conversation(legacy_exchange("list-tools-undeclared", result={"tools": []})),
        build_conversation(modern_exchange("list-tools-undeclared", status=404, error={"code": -32601})),
    ],
    bad=[
        build_conversation(
            modern_exchange("list-tools", result={"tools": []}),
            legacy_exchange("list-tools-undeclared", result={"tools": [{"name": "add"}]}),
        )
    ],
    unjudged=[
        build_conversation(legacy_exchange("initialize", result={}), depth="core"),
        build_conversation(legacy_exchange("list-tools", failure=("response_too_large", "5 MiB"))),
        build_conversation(legacy_exchange("list-prompts", error={"code": -32601})),
    ],
)
def list_unlike_its_capability(conversation: Conversation, name: str = "tools") -> Iterator[Answer]:
    """Declare `tools`, `prompts` or `resources` if the server answers the list, and only then.

    A client requests a declared list and receives error -32601, and it never requests a list that is not declared.
    An empty list need not be declared: it offers nothing. Other errors are not judged here. Resource templates have no
    capability of their own.
    """
    promised, undeclared = f"list-{name}", f"list-{name}-undeclared"
    for exchange in conversation.conclusive(promised, undeclared):
        if exchange.step == promised and exchange.code == METHOD_NOT_FOUND:
            yield exchange, f"{name} is declared, but its list is answered with error {METHOD_NOT_FOUND}"
        elif exchange.step == undeclared and exchange.succeeded and exchange.fields.get(name) not in ([], ()):
            yield exchange, f"{name} is not declared, but its list is answered"
