"""What the definitions of tools cost in the context of a model, as an estimate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from evidence.canonical import Json

CHARACTERS_PER_TOKEN: Final = 4
"""Tokenizers need 3 to 5 characters of English and JSON for a token. The estimate serves to compare tools."""

_GIVEN_TO_MODELS: Final = ("name", "description", "inputSchema")


def estimate_tokens(tool: Json) -> int:
    """Tokens of what clients give to a model for one tool: its name, description and input schema as compact JSON."""
    members = tool if isinstance(tool, Mapping) else {}
    given = {name: members[name] for name in _GIVEN_TO_MODELS if name in members}
    characters = len(json.dumps(given, ensure_ascii=False, separators=(",", ":"))) if given else 0
    return -(-characters // CHARACTERS_PER_TOKEN)
