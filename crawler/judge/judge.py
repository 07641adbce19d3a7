"""The contract of a judge: one text in, one opinion out. Plug-ins are entry points of the group `hallmark.judges`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

GROUP: Final = "hallmark.judges"


class Verdict(StrEnum):
    """The opinion of a model about one text."""

    ATTACK = "attack"
    HONEST = "honest"
    UNCLEAR = "unclear"


class Failure(StrEnum):
    """Why there is no opinion. Nothing of it is a property of the text, except `malformed` and `too_large`."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    REFUSED = "refused"
    SERVER_ERROR = "server_error"
    MALFORMED = "malformed"
    TOO_LARGE = "too_large"


class Judgement(Struct, frozen=True, kw_only=True):
    """An opinion; `model` is the name with which the model answered."""

    verdict: Verdict
    reason: str
    model: str


class JudgeFailed(Exception):
    """There is no opinion. The message names no address and quotes no answer.

    `final`: the next question fails too. `asked`: the model was asked, which costs the operator something.
    """

    def __init__(self, failure: Failure, detail: str, *, final: bool = False, asked: bool = True) -> None:
        super().__init__(detail)
        self.failure = failure
        self.final = final
        self.asked = asked


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAddress:
    """Where the operator's model answers. The key never leaves the header of a request."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    user_agent: str = ""


class Judge(Protocol):
    """A model with its prompt, both pinned by digests: another digest makes another opinion."""

    @property
    def model_digest(self) -> str:
        """The digest of the address, the model's name and the parameters of a question."""
        ...

    @property
    def prompt_digest(self) -> str: ...

    async def ask(self, text: str) -> Judgement:
        """The opinion about one text, which is data and never an instruction; raise JudgeFailed."""
        ...

    async def close(self) -> None: ...


OpenJudge: TypeAlias = Callable[[JudgeAddress], Judge]
"""What an entry point names."""
