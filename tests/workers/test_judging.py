"""Opinions beside our findings: each question is asked once, nothing moves, and an outage ends the questions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from crawler.judge.judge import Failure, JudgeFailed, Judgement, Verdict
from crawler.judge.prompt import MAX_TEXT, build_messages
from evidence.store import open_store
from tests.publish import samples
from tests.publish.findings.test_identity import INJECTION, server
from workers.judging import (
    NOT_ASKED,
    Agreement,
    Comparison,
    Entry,
    Finding,
    compute_agreement,
    judge_entries,
    list_entries,
)
from workers.judging import open_judge as open_judge_of
from workers.settings.environment import InvalidSetting, read_settings

NOW = datetime(2026, 11, 1, tzinfo=UTC)


class Scripted:
    """A judge that answers from a list."""

    prompt_digest = "b" * 64

    def __init__(self, *answers: Verdict | JudgeFailed, model: str = "a") -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.model_digest = model * 64

    async def ask(self, text: str) -> Judgement:
        self.asked.append(text)
        answer = self.answers.pop(0)
        if isinstance(answer, JudgeFailed):
            raise answer
        return Judgement(verdict=answer, reason="because", model="tiny")

    async def close(self) -> None:
        pass


def entry(name: str, ours: Finding = Finding.NONE) -> Entry:
    return Entry(server=samples.dossiers(1)[0].server.id, at=f"tools/{name}", text=name, ours=ours)


def judge(tmp_path: Path, asked: Scripted, *servers: Sequence[Entry], most: int = 100) -> list[Comparison]:
    store = open_store(f"sqlite:///{tmp_path}/opinions.db")
    store.migrate()

    async def run() -> list[Comparison]:
        return [one async for one in judge_entries(asked, servers, store, NOW, most=most)]

    try:
        return asyncio.run(run())
    finally:
        store.close()


def test_the_entries_of_a_listing_carry_our_findings_and_no_secret() -> None:
    found = {one.at: one for one in list_entries(server(INJECTION))}
    assert Finding.ATTACK in {one.ours for one in found.values()}
    assert all(at.count("/") == 1 for at in found)
    clean = [one for one in list_entries(samples.dossiers(1)[0]) if one.at.startswith("tools/")]
    assert {one.ours for one in clean} == {Finding.NONE}


def test_a_question_is_asked_once_for_equal_texts_and_kept(tmp_path: Path) -> None:
    asked = Scripted(Verdict.HONEST, Verdict.ATTACK)
    found = judge(tmp_path, asked, [entry("a"), entry("a"), entry("b")])
    assert [(one.verdict, one.cached) for one in found] == [
        (Verdict.HONEST, False), (Verdict.HONEST, True), (Verdict.ATTACK, False)
    ]  # fmt: skip
    again = Scripted()
    assert [one.cached for one in judge(tmp_path, again, [entry("b"), entry("a")])] == [True, True]
    assert again.asked == []


def test_another_model_is_asked_anew(tmp_path: Path) -> None:
    judge(tmp_path, Scripted(Verdict.HONEST), [entry("a")])
    (other,) = judge(tmp_path, Scripted(Verdict.ATTACK, model="c"), [entry("a")])
    assert (other.verdict, other.cached) == (Verdict.ATTACK, False)
    (first,) = judge(tmp_path, Scripted(), [entry("a")])
    assert first.verdict is Verdict.HONEST


def test_a_failure_is_not_kept_and_the_limit_counts_questions(tmp_path: Path) -> None:
    broken = JudgeFailed(Failure.MALFORMED, "not JSON")
    found = judge(tmp_path, Scripted(broken, Verdict.HONEST), [entry("a"), entry("b"), entry("c")], most=2)
    assert [one.why for one in found] == ["malformed: not JSON", "", NOT_ASKED]
    (again,) = judge(tmp_path, Scripted(Verdict.HONEST), [entry("a")])
    assert again.verdict is Verdict.HONEST


def test_nothing_is_read_beyond_the_server_at_the_limit(tmp_path: Path) -> None:
    found = judge(tmp_path, Scripted(Verdict.HONEST), [entry("a")], [entry("b")], [entry("c")], most=1)
    assert [(one.entry.at, one.verdict) for one in found] == [("tools/a", Verdict.HONEST), ("tools/b", None)]
    again = judge(tmp_path, Scripted(Verdict.HONEST), [entry("a")], [entry("b")], [entry("c")], most=1)
    assert [one.why for one in again] == ["", "", NOT_ASKED]


def test_texts_that_are_not_sent_leave_the_limit_to_others(tmp_path: Path) -> None:
    large = JudgeFailed(Failure.TOO_LARGE, "too long", asked=False)
    found = judge(tmp_path, Scripted(large, large, Verdict.HONEST), [entry("a"), entry("b"), entry("c")], most=1)
    assert [one.verdict for one in found] == [None, None, Verdict.HONEST]
    with pytest.raises(JudgeFailed) as failed:
        build_messages("a" * (MAX_TEXT + 1), "boundary")
    assert not failed.value.asked


@pytest.mark.parametrize(
    ("failures", "asked"),
    [
        ([JudgeFailed(Failure.REFUSED, "x", final=True)], 1),
        ([JudgeFailed(Failure.UNREACHABLE, "x")] * 9, 3),
        ([JudgeFailed(Failure.MALFORMED, "x")] * 9, 9),
    ],
)
def test_an_outage_ends_the_questions_and_a_bad_answer_does_not(
    tmp_path: Path, failures: list[JudgeFailed], asked: int
) -> None:
    scripted = Scripted(*failures)
    found = judge(tmp_path, scripted, [entry(str(number)) for number in range(9)])
    assert (len(scripted.asked), len(found)) == (asked, 9)
    assert all(one.verdict is None and one.why for one in found)


def _agreement(*pairs: tuple[Finding, Verdict | None]) -> Agreement:
    return compute_agreement([Comparison(entry=entry("x", ours), verdict=verdict) for ours, verdict in pairs])


def test_the_agreement_counts_only_what_both_decided() -> None:
    attack, none = (Finding.ATTACK, Verdict.ATTACK), (Finding.NONE, Verdict.HONEST)
    without = ((Finding.NONE, None), (Finding.NONE, Verdict.UNCLEAR))
    undecided = (*without, (Finding.SUSPICIOUS, Verdict.ATTACK))
    found = _agreement(attack, attack, none, none, none, (Finding.NONE, Verdict.ATTACK), *undecided)
    assert (found.decided, found.share) == (6, 5 / 6)
    assert found.kappa == pytest.approx(2 / 3)
    assert _agreement(*undecided).share is None
    assert _agreement(none, none).kappa is None


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"judge_url": "http://127.0.0.1/v1"},
        {"judge_model": "tiny"},
        {"judge_url": "ftp://x/v1", "judge_model": "tiny"},
        {"judge_url": "http://key@x/v1", "judge_model": "tiny"},
        {"judge_url": "http://x/v1?key=1", "judge_model": "tiny"},
        {"judge_url": "http://x/v1#a", "judge_model": "tiny"},
        {"judge_url": "http://[", "judge_model": "tiny"},
        {"judge_url": "http://x/v1", "judge_model": "tiny", "judge": "missing"},
    ],
)
def test_without_a_plain_address_and_a_known_judge_there_is_none(members: dict[str, str]) -> None:
    with pytest.raises(InvalidSetting):
        open_judge_of(read_settings(**members))


def test_a_plug_in_is_found_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        """An entry point."""

        def load(self) -> Any:
            return lambda address: Scripted(model=address.model)

    monkeypatch.setattr("workers.judging.entry_points", lambda *, group, name: [Point()] if name == "mine" else [])
    found = open_judge_of(read_settings(judge="mine", judge_url="http://x/v1", judge_model="z"))
    assert found.model_digest == "z" * 64
