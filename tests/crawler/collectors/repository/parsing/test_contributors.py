"""Who counts as a person, as a maintainer and as an answer."""

from __future__ import annotations

from datetime import timedelta

import pytest

from crawler.collectors.repository.parsing.contributors import Person, compute_bus_factor, is_bot, list_commit_counts
from crawler.collectors.repository.parsing.responsiveness import Thread, ThreadEvent, summarise_threads
from evidence.canonical import Json
from tests.crawler.collectors.repository.local_github import NOW

ANN, CAT = Person("Ann", bot=False), Person("cat", bot=False)
ROBOT = Person("robot[bot]", bot=True)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [([], None), ([7], 1), ([5, 5], 1), ([4, 3, 3], 2), ([1] * 10, 5), ([1, 9], 1), ([50, 30, 20, 10], 2)],
)
def test_the_bus_factor(shares: list[int], expected: int | None) -> None:
    assert compute_bus_factor(shares) == expected


def test_who_has_no_account_counts_once_however_many_addresses() -> None:
    listed: list[dict[str, Json]] = [
        {"type": "Anonymous", "name": "Dora", "email": "a@mail.example", "contributions": 2},
        {"type": "Anonymous", "name": "Dora", "email": "b@mail.example", "contributions": 3},
        {"login": "Ann", "type": "User", "contributions": 4},
        {"login": "renovate[bot]", "type": "Bot", "contributions": 99},
        {"type": "Anonymous", "name": "dependabot[bot]", "contributions": 99},
        {"login": "zero", "type": "User", "contributions": 0},
        {"login": "odd", "type": "User", "contributions": True},
        {"contributions": 5},
    ]
    assert list_commit_counts(listed) == [5, 4]


@pytest.mark.parametrize(
    ("name", "kind", "bot"),
    [("x", "Bot", True), ("X[BOT]", None, True), ("Renovate-Bot", "User", True), ("abbott", "User", False)],
)
def test_bots(name: str, kind: str | None, bot: bool) -> None:
    assert is_bot(name, kind) is bot


def thread(*events: ThreadEvent, association: str = "NONE", author: Person | None = CAT) -> Thread:
    return Thread(opened=NOW - timedelta(days=1), closed=None, author=author, association=association, events=events)


def event(by: Person | None, association: str, hours: float = 1) -> ThreadEvent:
    return ThreadEvent(NOW - timedelta(days=1) + timedelta(hours=hours), by, association)


@pytest.mark.parametrize(
    ("events", "answered"),
    [
        ([event(ANN, "MEMBER")], True),
        ([event(ANN, "COLLABORATOR")], True),
        ([event(ANN, "CONTRIBUTOR")], False),
        ([event(ANN, "")], False),
        ([event(CAT, "MEMBER")], False),
        ([event(Person("CAT", bot=False), "OWNER")], False),
        ([event(ROBOT, "MEMBER")], False),
        ([event(None, "MEMBER")], False),
        ([event(ANN, "MEMBER", hours=-1)], False),
    ],
)
def test_an_answer_is_by_a_maintainer_who_is_neither_author_nor_bot(events: list[ThreadEvent], answered: bool) -> None:
    assert (thread(*events).answer is not None) is answered


def test_the_first_answer_counts() -> None:
    answers = thread(event(ANN, "MEMBER", hours=5), event(ANN, "OWNER", hours=2))
    summed = summarise_threads([answers], 1, NOW)
    assert isinstance(summed, dict)
    assert summed["median_response_s"] == 7200


@pytest.mark.parametrize("association", ["OWNER", "MEMBER", "COLLABORATOR"])
def test_what_maintainers_open_is_no_sample(association: str) -> None:
    summed = summarise_threads([thread(association=association)], 1, NOW)
    assert isinstance(summed, dict)
    assert (summed["sampled"], summed["opened_year"]) == (0, 1)


def test_a_thread_of_the_future_does_not_make_the_sample_reach_back() -> None:
    ahead = Thread(opened=NOW + timedelta(days=1), closed=None, author=CAT, association="NONE")
    summed = summarise_threads([ahead, thread()], 99, NOW)
    assert isinstance(summed, dict)
    assert (summed["sampled"], summed["opened_year"]) == (1, None)
