"""Finds mentions of other tools in descriptions, in time that is linear in the texts and the names."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from scoring.scopes.base import Tool

MAX_NAME_LENGTH: Final = 256
"""Longer names are not searched for: the protocol allows 128 characters."""

_FEW: Final = 64
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+")


class SubstringMentions:
    """Finds names anywhere in a text, also inside words, ignoring case."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(
            dict.fromkeys(name.lower() for name in names if name.strip() and len(name) <= MAX_NAME_LENGTH)
        )
        self._machine = _Machine(self._names) if len(self._names) > _FEW else None

    def another(self, tool: Tool) -> bool:
        """Whether the description of a tool contains the name of another tool."""
        text, own = tool.item.description.lower(), tool.name.lower()
        if self._machine is None:
            return any(name in text for name in self._names if name != own)
        return any(name != own for name in self._machine.found(text))


class WordMentions:
    """Finds names that are not part of a longer name or word."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._names = frozenset(tool.name for tool in tools if tool.name)

    def another(self, tool: Tool) -> bool:
        """Whether the description of a tool contains the name of another tool."""
        found = {word.rstrip(".") for word in _NAME.findall(tool.item.description)}
        return not (found & self._names) <= {tool.name}


class _Machine:
    """The Aho-Corasick automaton: one step per character for any number of names."""

    def __init__(self, names: Iterable[str]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._ends: list[str] = [""]
        for name in names:
            self._insert(name)
        self._back = [0] * len(self._next)
        self._shorter = [0] * len(self._next)
        self._link()

    def found(self, text: str) -> Iterator[str]:
        """The names in a text; of names that end at the same character the longest first."""
        state = 0
        for character in text:
            while state and character not in self._next[state]:
                state = self._back[state]
            state = self._next[state].get(character, 0)
            ending = state if self._ends[state] else self._shorter[state]
            while ending:
                yield self._ends[ending]
                ending = self._shorter[ending]

    def _insert(self, name: str) -> None:
        state = 0
        for character in name:
            if character not in self._next[state]:
                self._next[state][character] = len(self._next)
                self._next.append({})
                self._ends.append("")
            state = self._next[state][character]
        self._ends[state] = name

    def _link(self) -> None:
        waiting = deque(self._next[0].values())
        while waiting:
            state = waiting.popleft()
            for character, after in self._next[state].items():
                back = self._back[state]
                while back and character not in self._next[back]:
                    back = self._back[back]
                self._back[after] = self._next[back].get(character, 0)
                shorter = self._back[after]
                self._shorter[after] = shorter if self._ends[shorter] else self._shorter[shorter]
                waiting.append(after)
