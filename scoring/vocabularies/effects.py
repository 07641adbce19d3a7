"""Words for effects on the world."""

from __future__ import annotations

from typing import Final

from scoring.text.words import parse_word_list

IN_NAMES: Final = parse_word_list(
    """
create add new insert post make update edit modify change set put patch delete remove destroy drop clear purge
reset send emit publish broadcast dispatch push notify write save store persist commit sync execute run
trigger invoke fire start stop import export upload download move copy transfer migrate configure enable
disable activate deactivate login logout signup register revoke approve reject cancel confirm
    """
)
"""Words in a tool's name that announce an effect."""

MODIFYING: Final = (
    "create",
    "update",
    "delete",
    "remove",
    "set",
    "add",
    "insert",
    "drop",
    "clear",
    "reset",
    "modify",
    "change",
    "write",
    "destroy",
    "purge",
)
"""Verbs that say in a tool's name that it changes data."""

MODIFYING_LAST: Final = ("-create", "-update", "-delete", "-remove", "-set")
"""The same at the end of a name in kebab-case."""
