"""Rule `extension-id-malformed`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from evidence.canonical import Json
from evidence.kinds.exchanges import MODERN
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol import meta_keys
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation
from scoring.text.evidence_path import clip_text

_ID: Final = re.compile(rf"{meta_keys.PREFIX}/{meta_keys.NAME}")


def _declared(extensions: Json) -> Conversation:
    return build_conversation(modern_exchange("discover", result={"capabilities": {"extensions": extensions}}))


@rule(
    "extension-id-malformed",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="An extension is declared under an invalid id",
    remedy="Write each key of `capabilities.extensions` as a reversed domain, one slash and a name, such as "
    "`com.example/my-tools`. Begin each label with a letter, and do not begin or end a part with "
    "punctuation.",
    since="2026.2",
    version=1,
    checks=must("EXT-01", "E", "basic/versioning#extension-negotiation"),
    fix=(
        build_conversation(
            modern_exchange(
                "discover",
                result={
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {"extensions": {"ui": {}}},
                    "resultType": "complete",
                    "ttlMs": 0,
                    "cacheScope": "private",
                },
            )
        ),
        build_conversation(
            modern_exchange(
                "discover",
                result={
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {"extensions": {"com.example/ui": {}}},
                    "resultType": "complete",
                    "ttlMs": 0,
                    "cacheScope": "private",
                },
            )
        ),
    ),
    good=[_declared({"io.modelcontextprotocol/ui": {}, "com.example.my-tools/": {}, "a.b1/c_d.e-f": {}})],
    bad=[
        _declared({"ui": {}}),
        _declared({"1a/b": {}}),
        _declared({"a-/b": {}}),
        _declared({"a/-b": {}}),
        _declared({"a/b/c": {}}),
    ],
    unjudged=[_declared({}), _declared([]), build_conversation(legacy_exchange("initialize", result={}))],
)
def extension_id_malformed(conversation: Conversation) -> Iterator[Answer]:
    """An extension's id is a prefix of labels with dots, a slash and a name, such as `com.example/my-tools`.

    The prefix distinguishes the extensions of different vendors. Use your own domain in reverse order.
    """
    declared = conversation.capabilities(MODERN).get("extensions")
    if not isinstance(declared, Mapping) or not declared:
        raise Inapplicable("no extension is declared")
    for exchange in conversation.results("discover")[:1]:
        for name in declared:
            if not _ID.fullmatch(name):
                yield exchange, f"{clip_text(name, 40) or 'an empty id'} is not an id with a prefix"
