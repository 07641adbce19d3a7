"""Asks a model over the protocol of OpenAI's chat completions, at the address that the operator names."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine
from crawler.http.failures import Malformed, UnsupportedEncoding, WireFailure
from crawler.judge.judge import Failure, JudgeAddress, JudgeFailed, Judgement
from crawler.judge.prompt import PROMPT_DIGEST, build_messages, read_answer
from evidence.canonical import Json, NotJson, canonical_json, parse_json, sha256
from evidence.derive.secret_scrubbing import scrub_text
from evidence.json_members import object_or_empty, objects_in, text_or_empty
from evidence.model import Reason

if TYPE_CHECKING:
    import httpx

Sleep: TypeAlias = Callable[[float], Awaitable[object]]

MAX_ANSWER: Final = 256 * 1024
LIMITS: Final = Limits(
    first_byte=120.0, between_bytes=60.0, total=180.0, wire_bytes=MAX_ANSWER + 64 * 1024, body_bytes=MAX_ANSWER
)
ATTEMPTS: Final = 3
LONGEST_WAIT: Final = 60.0

_PARAMETERS: Final[Mapping[str, Json]] = {"temperature": 0, "max_tokens": 400, "stream": False}
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_FINAL: Final = frozenset({401, 402, 403, 404, 405})
_FAILURES: Final = {
    Reason.TIMEOUT: Failure.TIMEOUT,
    Reason.TOO_LARGE: Failure.TOO_LARGE,
}
_KEY: Final = "[key]"
_REASON: Final = 300
_MODEL: Final = 100


class ChatCompletions:
    """A Judge. A question is tried three times when the failure may pass; Retry-After is honoured up to a minute."""

    prompt_digest: Final = PROMPT_DIGEST

    def __init__(
        self,
        address: JudgeAddress,
        *,
        limits: Limits = LIMITS,
        sleep: Sleep = asyncio.sleep,
        new_boundary: Callable[[], str] = lambda: secrets.token_hex(16),
    ) -> None:
        self._address = address
        self._sleep = sleep
        self._new_boundary = new_boundary
        self._client = _open_client(address, limits)

    @property
    def model_digest(self) -> str:
        asked: dict[str, Json] = {
            "url": self._address.url.rstrip("/"),
            "model": self._address.model,
            "parameters": dict(_PARAMETERS),
        }
        return sha256(canonical_json(asked))

    async def ask(self, text: str) -> Judgement:
        boundary = self._new_boundary()
        messages = build_messages(text, boundary)
        body = json.dumps({"model": self._address.model, "messages": messages, **_PARAMETERS}).encode()
        model, content = _read_completion(await self._insist(body))
        found = read_answer(content, boundary, model=model)
        return replace(found, reason=self._shorten(found.reason, _REASON), model=self._shorten(found.model, _MODEL))

    async def close(self) -> None:
        await self._client.aclose()

    def _shorten(self, text: str, most: int) -> str:
        """A text of the model on one line. A server that repeats the key must not bring it into the evidence."""
        without = text.replace(self._address.key, _KEY) if self._address.key else text
        return scrub_text(" ".join(without.encode("utf-8", "replace").decode().split()))[:most]

    async def _insist(self, body: bytes) -> bytes:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._once(body)
            except _Passing as passing:
                wait = 2.0 ** (attempt - 1) if passing.wait is None else passing.wait
                if attempt == ATTEMPTS or wait > LONGEST_WAIT:
                    raise
                await self._sleep(wait)
        raise AssertionError("the last attempt raises")

    async def _once(self, body: bytes) -> bytes:
        import httpx  # noqa: PLC0415  the overview of commands imports nothing heavy

        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if self._address.key:
            headers["Authorization"] = f"Bearer {self._address.key}"
        url = f"{self._address.url.rstrip('/')}/chat/completions"
        try:
            response = await self._client.post(url, content=body, headers=headers, follow_redirects=False)
        except httpx.TransportError as error:
            raise _explain(error) from None
        except (httpx.InvalidURL, httpx.DecodingError, ValueError):
            raise JudgeFailed(Failure.MALFORMED, "the address or the answer of the judge is invalid") from None
        _check_status(response)
        return response.content


class _Passing(JudgeFailed):
    """A failure that may pass; `wait` are the seconds that the server asks for."""

    def __init__(self, failure: Failure, detail: str, wait: float | None = None) -> None:
        super().__init__(failure, detail)
        self.wait = wait


def _open_client(address: JudgeAddress, limits: Limits) -> httpx.AsyncClient:
    import httpx  # noqa: PLC0415

    from crawler.http.adapters import GuardedTransport  # noqa: PLC0415

    # The operator names the address, so it may be in a private network, as a model of one's own is.
    guard = AddressGuard(allow_private=True)
    engine = HttpEngine(user_agent=address.user_agent, guard=guard, limits=limits)
    transport = GuardedTransport(engine, guard=guard, limits=limits)
    return httpx.AsyncClient(transport=transport, trust_env=False, timeout=limits.total)


def _explain(error: Exception) -> JudgeFailed:
    cause = error.__cause__
    reason = cause.absent().reason if isinstance(cause, WireFailure) else Reason.UNREACHABLE
    failure = _FAILURES.get(reason, Failure.UNREACHABLE)
    if failure is Failure.TOO_LARGE:
        return JudgeFailed(failure, f"the answer has more than {MAX_ANSWER} bytes")
    if isinstance(cause, Malformed | UnsupportedEncoding):
        return JudgeFailed(Failure.MALFORMED, "the answer is not valid HTTP")
    return _Passing(failure, f"the judge does not answer: {failure.value}")


def _check_status(response: httpx.Response) -> None:
    status = response.status_code
    if status == 200:
        return
    detail = f"the judge answers HTTP {status}"
    if status in _FINAL or response.is_redirect:
        raise JudgeFailed(Failure.REFUSED, detail, final=True)
    if status not in _PASSING:
        raise JudgeFailed(Failure.REFUSED, detail)
    failure = Failure.RATE_LIMITED if status == 429 else Failure.SERVER_ERROR
    stated = response.headers.get("retry-after", "")
    raise _Passing(failure, detail, float(stated[:9]) if stated.isdecimal() else None)


def _read_completion(body: bytes) -> tuple[str, str]:
    """The model's name and the text of the only answer."""
    try:
        members = object_or_empty(parse_json(body, max_bytes=MAX_ANSWER))
    except NotJson:
        raise JudgeFailed(Failure.MALFORMED, "the answer is not JSON") from None
    choices = objects_in(members.get("choices"))
    message = object_or_empty(choices[0].get("message")) if len(choices) == 1 else {}
    content = text_or_empty(message.get("content"))
    if not content or choices[0].get("finish_reason") == "length":
        raise JudgeFailed(Failure.MALFORMED, "the answer has no complete message")
    return text_or_empty(members.get("model")), content
