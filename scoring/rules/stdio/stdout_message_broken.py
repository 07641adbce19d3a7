"""Rule `stdout-message-broken`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from evidence.canonical import NotJson, parse_json
from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.conversation import build_conversation, legacy_exchange, stdio_exchange
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.conversation import Conversation

_MOST: Final = 64
"""Lines that a broken message is looked for in."""


@rule(
    "stdout-message-broken",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A message is spread over several lines",
    remedy="Write each message to stdout on one line: serialize the JSON without indentation, and escape newlines in "
    "strings as `\\n`.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=must("IO-02", "ABCDE", "basic/transports/stdio"),
    fix=write_snippet(
        Language.PYTHON,
        "Source code",
        before='sys.stdout.write(json.dumps(message, indent=2) + "\\n")',
        after='sys.stdout.write(json.dumps(message) + "\\n")',
    ),
    good=[
        build_conversation(stdio_exchange("initialize", result={})),
        build_conversation(stdio_exchange("initialize", received=[{"text": "{ starting"}, {"text": "up }"}])),
    ],
    bad=[
        build_conversation(
            stdio_exchange(
                "initialize", received=[{"text": "{"}, {"text": '"jsonrpc": "0.0", "method": "x"'}, {"text": "}"}]
            )
        )
    ],
    unjudged=[
        build_conversation(legacy_exchange("initialize", result={})),
        build_conversation(stdio_exchange("initialize", failure=("timeout", "no answer"))),
    ],
)
def stdout_message_broken(conversation: Conversation) -> Iterator[Answer]:
    """A message is one line; a newline inside splits it, and neither part can be read.

    Write JSON without indentation, and let the JSON library escape newlines in texts.
    """
    conclusive = [one for one in conversation.over_stdio if not one.unclear]
    if not conclusive:
        raise Undecided("nothing was answered")
    for exchange in conclusive:
        if _has_broken([one.text if one.message is None else None for one in exchange.received]):
            yield exchange, "a message with a newline inside"


def _has_broken(lines: Sequence[str | None]) -> bool:
    """True when consecutive lines that are no messages make one together; None stands for a message."""
    starts = (at for at, line in enumerate(lines[:_MOST]) if line is not None and line.lstrip().startswith("{"))
    return any(_joins(lines[start:_MOST]) for start in starts)


def _joins(lines: Sequence[str | None]) -> bool:
    text = ""
    for count, line in enumerate(lines):
        if line is None:
            return False
        text += f" {line}"  # a blank may stand between tokens, and in a text where the newline was
        if count and line.rstrip().endswith("}") and _is_message(text):
            return True
    return False


def _is_message(text: str) -> bool:
    try:
        value = parse_json(text.encode("utf-8", "replace"))
    except NotJson:
        return False
    return isinstance(value, Mapping) and "jsonrpc" in value
