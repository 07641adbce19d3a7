"""Asks the operator's judge about the texts of a run's listings, and compares its opinions with our findings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from importlib.metadata import entry_points
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from crawler.judge.chat_completions import ChatCompletions
from crawler.judge.judge import GROUP, Failure, Judge, JudgeAddress, JudgeFailed, Judgement, Verdict
from evidence.canonical import Json, NotJson, canonical_json, parse_json, sha256
from evidence.derive.listing_scan import scan_listing_cached
from evidence.derive.poisoning.listing_texts import TextPlace, format_path, iterate_texts
from evidence.derive.secret_scrubbing import scrub_text
from evidence.json_members import object_or_empty, text_or_empty
from evidence.kinds import listing
from evidence.kinds.listing import Listing
from evidence.model import Absent, Dossier, ServerId
from evidence.store import Store
from workers.settings.environment import InvalidSetting, Settings

BUILT_IN: Final = "chat-completions"
_MOST_FAILURES: Final = 3
"""Failures in a row after which nothing more is asked."""

NOT_ASKED: Final = "not asked: the limit is reached; --limit N allows more"


class Finding(StrEnum):
    """What our patterns found in an entry: a sign that costs points, one that does not, or none."""

    ATTACK = "attack"
    SUSPICIOUS = "suspicious"
    NONE = "none"


class Entry(Struct, frozen=True, kw_only=True):
    """One entry of a listing: a tool, resource or prompt with all its texts, or a text of the server."""

    server: ServerId
    at: str
    text: str
    ours: Finding


class Comparison(Struct, frozen=True, kw_only=True):
    """An entry with the opinion about it; `verdict` is None, and `why` says why, when there is none."""

    entry: Entry
    verdict: Verdict | None
    reason: str = ""
    why: str = ""
    cached: bool = False


_DECIDED: Final = (Verdict.ATTACK, Verdict.HONEST)
_OF_THE_TEXT: Final = frozenset({Failure.MALFORMED, Failure.TOO_LARGE})


class Agreement(Struct, frozen=True, kw_only=True):
    """How often both say the same of the entries on which both are decided; `kappa` is Cohen's."""

    counts: Mapping[tuple[Finding, str], int]

    def count(self, ours: Finding, theirs: str) -> int:
        return self.counts.get((ours, theirs), 0)

    @property
    def decided(self) -> int:
        return sum(self.count(ours, theirs) for ours in (Finding.ATTACK, Finding.NONE) for theirs in _DECIDED)

    @property
    def share(self) -> float | None:
        """The share of equal answers; None when there is nothing to compare."""
        both = self.count(Finding.ATTACK, Verdict.ATTACK) + self.count(Finding.NONE, Verdict.HONEST)
        return both / self.decided if self.decided else None

    @property
    def kappa(self) -> float | None:
        """Agreement beyond chance; None when one side always says the same."""
        if self.share is None:
            return None
        ours = sum(self.count(Finding.ATTACK, theirs) for theirs in _DECIDED) / self.decided
        theirs = sum(self.count(one, Verdict.ATTACK) for one in (Finding.ATTACK, Finding.NONE)) / self.decided
        chance = ours * theirs + (1 - ours) * (1 - theirs)
        return None if chance == 1 else (self.share - chance) / (1 - chance)


def open_judge(settings: Settings) -> Judge:
    """The judge of the settings; raise InvalidSetting when there is none."""
    if not settings.judge_url or not settings.judge_model:
        raise InvalidSetting(
            "no judge is configured: set HALLMARK_JUDGE_URL and HALLMARK_JUDGE_MODEL, and HALLMARK_JUDGE_KEY if it "
            "needs a key"
        )
    if not _is_plain_address(settings.judge_url):
        raise InvalidSetting("expected HALLMARK_JUDGE_URL to be a plain http or https address without credentials")
    address = JudgeAddress(
        url=settings.judge_url,
        model=settings.judge_model,
        key=settings.judge_key.reveal(),
        user_agent=settings.user_agent,
    )
    if settings.judge == BUILT_IN:
        return ChatCompletions(address)
    found = list(entry_points(group=GROUP, name=settings.judge))
    if len(found) != 1:
        raise InvalidSetting(f"expected one entry point {settings.judge[:100]!r} in {GROUP}, found {len(found)}")
    judge: Judge = found[0].load()(address)
    return judge


def _is_plain_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    has_more = "@" in parts.netloc or parts.query or parts.fragment
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and not has_more


def list_entries(dossier: Dossier) -> Iterator[Entry]:
    """The entries of a listing that have a text. Secrets are masked, since a model elsewhere reads the texts."""
    content = dossier.read(listing.KIND)
    if isinstance(content, Absent):
        return
    try:
        read = Listing.parse(content.body)
    except NotJson:
        return
    texts: dict[str, list[Json]] = {}
    for place, _, text in iterate_texts(read):
        texts.setdefault(_entry_of(place), []).append([format_path(place), scrub_text(text)])
    graves: dict[str, bool] = {}
    for hit in scan_listing_cached(read):
        owner = "/".join(hit.at.split("/")[:2])
        graves[owner] = graves.get(owner, False) or hit.is_grave
    for at, parts in texts.items():
        ours = Finding.NONE if at not in graves else Finding.ATTACK if graves[at] else Finding.SUSPICIOUS
        yield Entry(server=dossier.server.id, at=at, text=json.dumps(parts, ensure_ascii=False), ours=ours)


async def judge_entries(
    judge: Judge, servers: Iterable[Sequence[Entry]], store: Store, now: datetime, *, most: int
) -> AsyncIterator[Comparison]:
    """The opinion about each entry: of an earlier run if the question is the same, else of the judge.

    Ends with the server at which `most` entries were asked about, a failure was final, or several came in a row.
    """
    asked = failures = 0
    stopped = ""
    for entries in servers:
        digests = [_question(judge, entry.text) for entry in entries]
        known = {**store.read_opinions(digests)}
        for entry, digest in zip(entries, digests, strict=True):
            if body := known.get(digest):
                yield _read(entry, body, cached=True)
                continue
            stopped = stopped or (NOT_ASKED if asked >= most else "")
            if stopped:
                yield Comparison(entry=entry, verdict=None, why=stopped)
                continue
            try:
                found = await judge.ask(entry.text)
            except JudgeFailed as failed:
                asked += failed.asked
                failures = 0 if failed.failure in _OF_THE_TEXT else failures + 1
                stopped = failed.failure.value if failed.final or failures >= _MOST_FAILURES else ""
                yield Comparison(entry=entry, verdict=None, why=f"{failed.failure.value}: {failed}")
                continue
            asked += 1
            failures = 0
            known[digest] = _encode(judge, entry, found)
            store.put_opinions({digest: known[digest]}, at=now)
            yield _read(entry, known[digest], cached=False)
        if stopped:
            return


def _encode(judge: Judge, entry: Entry, found: Judgement) -> bytes:
    return canonical_json(
        {
            "model": found.model,
            "model_digest": judge.model_digest,
            "prompt_digest": judge.prompt_digest,
            "text_digest": sha256(entry.text.encode("utf-8", "replace")),
            "verdict": found.verdict.value,
            "reason": found.reason,
        }
    )


def compute_agreement(compared: Sequence[Comparison]) -> Agreement:
    return Agreement(counts=Counter((one.entry.ours, one.verdict.value if one.verdict else "") for one in compared))


def _question(judge: Judge, text: str) -> str:
    pins = [judge.model_digest, judge.prompt_digest, sha256(text.encode("utf-8", "replace"))]
    return sha256(canonical_json(list[Json](pins)))


def _read(entry: Entry, body: bytes, *, cached: bool) -> Comparison:
    members = object_or_empty(parse_json(body))
    return Comparison(
        entry=entry,
        verdict=Verdict(text_or_empty(members.get("verdict"))),
        reason=text_or_empty(members.get("reason")),
        cached=cached,
    )


def _entry_of(place: TextPlace) -> str:
    """The path of the entry that a text is part of: the outermost place."""
    around, last = place
    return last if around is None else _entry_of(around)
