"""Finds the single questions that bring a server down."""

from __future__ import annotations

from pathlib import Path

import httpx

from tests.matrix import starting
from tests.matrix.client import Unwell, visit
from tests.matrix.instance import Instance
from tests.matrix.questions import Send, questions
from tests.matrix.versions import Environment

_GROUP = 8  # questions after which it is seen whether the server still serves


def find(environment: Environment, folder: Path, transport: str) -> dict[str, str]:
    """Every question that alone brings a fresh server down, and what the server answered to it.

    Questions are first asked in groups; those of a group after which the server no longer serves are then asked alone.
    A session is ended by DELETE only in the questions about DELETE, since that is one of the causes.
    """
    waiting, suspects = list(questions(transport).items()), list[tuple[str, Send]]()
    while waiting:
        with starting.start(environment, folder, transport) as instance:
            while waiting:
                group, waiting = waiting[:_GROUP], waiting[_GROUP:]
                for _, send in group:
                    ask(instance, send)
                if not serves(instance):
                    suspects += group
                    break
    found = {}
    for name, send in suspects:
        with starting.start(environment, folder, transport) as instance:
            answer = ask(instance, send)
            if not serves(instance):
                found[name] = answer
    return found


def ask(instance: Instance, send: Send) -> str:
    """Ask a question; a few words about what came back."""
    try:
        return send(instance.transport, instance.url)
    except (httpx.HTTPError, Unwell, ValueError, StopIteration) as error:
        return f"{type(error).__name__}: {error}"[:150]


def serves(instance: Instance) -> bool:
    """Whether an ordinary client can open the server and list its tools, at the second try at the latest."""
    for _ in range(2):
        try:
            visit(instance.transport, instance.url)
        except Unwell:
            continue
        return True
    return False
