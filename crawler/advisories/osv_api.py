"""OSV's HTTP API, `/v1/querybatch` and `/v1/vulns/{id}`, for checks of one server without a mirror."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import orjson
from msgspec import Struct, field

from crawler.advisories.http_client import AdvisoriesUnavailable, AdvisoryClient
from crawler.advisories.records import MAX_RECORD
from evidence.advisories.osv_record import Advisory, InvalidAdvisory, parse_advisory
from evidence.model import Reason

DEFAULT_API: Final = "https://api.osv.dev"

MAX_QUERIES: Final = 1000
"""Queries of one batch; the API rejects more."""

MAX_ROUNDS: Final = 50
"""Pages of one batch that are read."""

MAX_IDS: Final = 5_000
_AT_A_TIME: Final = 8
_REFUSED: Final = frozenset({400, 413})

Version: TypeAlias = tuple[str, str, str]
"""Ecosystem, name and version."""


class _Question(Struct):
    """A version, its index among the requested versions, the next page, and the ids received so far."""

    place: int
    version: Version
    token: str = ""
    ids: set[str] = field(default_factory=set)

    def json(self) -> dict[str, Any]:
        ecosystem, name, version = self.version
        query: dict[str, Any] = {"package": {"ecosystem": ecosystem, "name": name}, "version": version}
        return {**query, "page_token": self.token} if self.token else query


class OsvApi:
    """A client of the API. Fields of answers and limits are from its documentation of July 2026."""

    def __init__(self, asker: AdvisoryClient, base: str = DEFAULT_API) -> None:
        self._asker = asker
        self._base = base.rstrip("/")
        self._turn = asyncio.Semaphore(_AT_A_TIME)

    async def affecting(self, versions: Sequence[Version]) -> list[frozenset[str] | None]:
        """The ids of advisories that affect each version, in the same order; None for a version without an answer.

        One version that the API rejects makes it reject the whole batch, so a rejected batch is halved until that
        version
        is alone. Raise AdvisoriesUnavailable when the API does not answer at all.
        """
        answers: list[frozenset[str] | None] = [None] * len(versions)
        questions = [_Question(place, version) for place, version in enumerate(versions)]
        for start in range(0, len(questions), MAX_QUERIES):
            for question in await self._batch(questions[start : start + MAX_QUERIES]):
                answers[question.place] = frozenset(question.ids)
        return answers

    async def records(self, ids: Sequence[str]) -> dict[str, Advisory]:
        """The records of ids, without those that are missing or invalid; raise AdvisoriesUnavailable."""
        if len(ids) > MAX_IDS:
            raise AdvisoriesUnavailable(
                Reason.TOO_LARGE, f"the API names {len(ids)} advisories, at most {MAX_IDS} are read"
            )
        found = await asyncio.gather(*(self._record(name) for name in ids))
        return {record.id: record for record in found if record is not None}

    async def _record(self, name: str) -> Advisory | None:
        async with self._turn:
            try:
                data = await self._asker.get(f"{self._base}/v1/vulns/{quote(name, safe='')}", most=MAX_RECORD)
            except AdvisoriesUnavailable as failure:
                if failure.missing or failure.reason is Reason.TOO_LARGE:
                    return None
                raise
        try:
            record = parse_advisory(orjson.loads(data))
        except (orjson.JSONDecodeError, InvalidAdvisory):
            return None
        return record if record.id == name else None

    async def _batch(self, questions: list[_Question]) -> list[_Question]:
        """The questions with complete answers. Only those with more pages are asked again."""
        done: list[_Question] = []
        waiting = questions
        for _ in range(MAX_ROUNDS):
            answered = await self._ask(waiting)
            done += [question for question in answered if not question.token]
            waiting = [question for question in answered if question.token]
            if not waiting:
                break
        return done

    async def _ask(self, questions: list[_Question]) -> list[_Question]:
        """One page for each question; questions that the API rejects even alone are left out."""
        body = orjson.dumps({"queries": [question.json() for question in questions]})
        try:
            answer = await self._asker.post(f"{self._base}/v1/querybatch", body)
        except AdvisoriesUnavailable as failure:
            if failure.status not in _REFUSED and failure.reason is not Reason.TOO_LARGE:
                raise
            if len(questions) == 1:
                return []
            middle = len(questions) // 2
            return [*await self._ask(questions[:middle]), *await self._ask(questions[middle:])]
        for question, result in zip(questions, _results(answer, len(questions)), strict=True):
            question.ids |= set(_ids(result))
            token = result.get("next_page_token")
            question.token = token if isinstance(token, str) else ""
        return questions


def _results(answer: bytes, count: int) -> Sequence[Mapping[str, Any]]:
    try:
        value = orjson.loads(answer)
    except orjson.JSONDecodeError as error:
        raise AdvisoriesUnavailable(Reason.UNREACHABLE, "the API's answer is not JSON") from error
    results = value.get("results") if isinstance(value, dict) else None
    if not isinstance(results, list) or len(results) != count:
        raise AdvisoriesUnavailable(Reason.UNREACHABLE, "the API's answer has not one result for each query")
    return [result if isinstance(result, dict) else {} for result in results]


def _ids(result: Mapping[str, Any]) -> list[str]:
    found = result.get("vulns")
    rows = found if isinstance(found, list) else []
    return [row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]
