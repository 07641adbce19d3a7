"""GitHub that fails: errors, timeouts, half answers, and none at all."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest

from crawler.collectors.repository import CallLimits
from crawler.collectors.repository.api.circuit_breaker import CircuitBreaker
from crawler.collectors.repository.api.responses import GitHubUnreachable
from tests.crawler.collectors.repository.local_github import Looker, absent, at, body, limits, lively, server
from tests.servers.daemon import free_port
from tests.servers.github.server import Local, serve
from tests.servers.github.world import Answer, Fault, World, broken


def names(many: int) -> list[str]:
    return [f"octo/r{place}" for place in range(many)]


def closed_port() -> int:
    """A port that no process of the tests gets."""
    return free_port()


def test_a_server_error_is_tried_again() -> None:
    with serve() as local:
        local.world.add(lively())
        local.world.faults = [Fault("/repos/octo/lively", lambda: broken(502), times=2)]
        looker = Looker(local)
        assert body(looker.one(at("octo/lively"))["repository"])["name"] == "octo/lively"
    assert looker.time.pauses == [1.0, 2.0]


def test_server_errors_without_end_are_unreachable_and_not_the_servers_fault() -> None:
    with serve() as local:
        local.world.add(lively())
        looker = Looker(local)
        first = looker.one(at("octo/lively"))["repository"]
        local.world.faults = [Fault("/repos", lambda: broken(503), times=999)]
        assert looker.one(at("octo/lively"))["repository"].content == first.content
        looker.earlier.clear()
        assert absent(looker.one(at("octo/lively"))["repository"])[0] == "unreachable"


def test_a_part_that_fails_is_what_it_was_and_is_looked_for_the_next_night() -> None:
    with serve() as local:
        local.world.add(lively(advisories=[{"ghsa_id": "GHSA-1", "state": "published"}]))
        looker = Looker(local)
        first = body(looker.one(at("octo/lively"))["repository"])
        local.world.repositories["octo/lively"].stars = 8
        local.world.faults = [Fault("security-advisories", lambda: broken(500), times=3)]
        second = looker.one(at("octo/lively"))["repository"]
        third = looker.one(at("octo/lively"))["repository"]
    assert body(second)["advisories"] == first["advisories"] != []
    assert second.observation["unread"] == ["advisories"]
    assert body(second)["stars"] == 8
    assert "unread" not in third.observation


@contextmanager
def hanging_up() -> Iterator[tuple[Local, list[int]]]:
    """A GitHub that closes every connection without a word, and how many there were."""
    met: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    taken, _ = listening.accept()
                    met.append(1)
                    taken.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield Local(f"http://127.0.0.1:{listening.getsockname()[1]}", World()), met
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_an_outage_is_met_few_times_however_many_ask() -> None:
    with hanging_up() as (local, met):
        looker = Looker(local)
        nights = looker.night(*(server(at(name)) for name in names(300)))
    assert {absent(night["repository"])[0] for night in nights} == {"unreachable"}
    assert len(met) <= 3 + 8, "three failures, and those on their way in the threads"


def test_after_an_outage_one_tries_for_all() -> None:
    with hanging_up() as (local, met):
        looker = Looker(local)

        async def run() -> int:
            github = looker.github()
            await asyncio.gather(*(github.probe(name, None) for name in names(50)), return_exceptions=True)
            before = len(met)
            looker.time.pass_by(minutes=5)
            await asyncio.gather(*(github.probe(name, None) for name in names(50)), return_exceptions=True)
            github.close()
            return len(met) - before

        assert asyncio.run(run()) == 1


def test_thousands_do_not_each_wait_for_a_dead_network() -> None:
    world = World()
    looker = Looker(Local(f"http://127.0.0.1:{closed_port()}", world))
    nights = looker.night(*(server(at(name)) for name in names(400)))
    assert {absent(night["repository"])[0] for night in nights} == {"unreachable"}
    assert {absent(night["alerts"])[0] for night in nights} == {"unreachable"}
    assert looker.time.pauses == []


def test_the_breaker_lets_one_try_after_its_rest_and_closes_when_that_works() -> None:
    now = 0.0
    breaker = CircuitBreaker(lambda: now, failures=2, rest=10)
    breaker.record_failure()
    breaker.enter()
    breaker.record_failure()
    for refuse in (breaker.check, breaker.enter):
        with pytest.raises(GitHubUnreachable):
            refuse()
    now = 11.0
    breaker.check()
    breaker.enter()
    with pytest.raises(GitHubUnreachable):
        breaker.enter()
    breaker.record_success()
    breaker.enter()


def test_those_who_are_refused_do_not_make_the_outage_longer() -> None:
    with serve() as local:
        local.world.add(*(lively(name) for name in names(40)))
        down = Looker(Local(f"http://127.0.0.1:{closed_port()}", local.world))

        async def outage() -> list[str]:
            github = down.github()
            said = []
            for place, name in enumerate(names(40)):
                if place == 30:
                    github._calls._base = local.api
                    github._calls._sessions.clear()
                try:
                    said.append((await github.probe(name, None)).way)
                except GitHubUnreachable:
                    said.append("unreachable")
                down.time.pass_by(seconds=5)
            github.close()
            return said

        said = asyncio.run(outage())
    assert said[:30] == ["unreachable"] * 30
    assert said[-1] == "graphql"


def test_a_query_that_is_too_heavy_is_cut_in_half_until_it_is_answered() -> None:
    with serve() as local:
        local.world.batch = 6
        local.world.add(*(lively(name) for name in names(20)))
        nights = Looker(local).night(*(server(at(name)) for name in names(20)))
        sizes = [sum(key.startswith("o") for key in one.body["variables"]) for one in local.world.asked if one.body]
    assert [body(night["repository"])["name"] for night in nights] == names(20)
    assert sizes == [20, 10, 5, 5, 5, 5]


@pytest.mark.parametrize("kind", ["RESOURCE_LIMITS_EXCEEDED", "MAX_NODE_LIMIT_EXCEEDED"])
@pytest.mark.parametrize("data", [None, {"r0": {"nameWithOwner": "octo/r0"}, "r1": {"nameWithOwner": "octo/r1"}}])
def test_an_answer_cut_short_for_its_size_is_asked_for_in_halves(kind: str, data: object) -> None:
    cut = Answer(200, {"data": data, "errors": [{"type": kind, "path": ["r1", "issues"], "message": "Too much."}]})
    with serve() as local:
        local.world.add(lively("octo/r0"), lively("octo/r1"))
        local.world.faults = [Fault("/graphql", lambda: cut)]
        nights = Looker(local).night(server(at("octo/r0")), server(at("octo/r1")))
    assert [body(night["repository"])["stars"] for night in nights] == [7, 7]


def test_one_repository_that_is_too_heavy_alone_does_not_take_others_with_it() -> None:
    with serve() as local:
        local.world.add(*(lively(name) for name in names(8)), lively("octo/giant", heavy=True))
        nights = Looker(local).night(*(server(at(name)) for name in [*names(8), "octo/giant"]))
    assert [body(night["repository"])["name"] for night in nights[:8]] == names(8)
    assert absent(nights[8]["repository"])[0] == "unreachable"


def test_partial_answers_keep_what_they_hold() -> None:
    """PyGithub raises at such an answer, though it holds the other repositories."""
    with serve() as local:
        local.world.add(*(lively(name) for name in names(3)), lively("octo/odd", kind="SERVICE_UNAVAILABLE"))
        local.world.add(lively("octo/closed", kind="FORBIDDEN"), lively("octo/gone"))
        local.world.repositories["octo/gone"].kind = "NOT_FOUND"  # between the first look and the query
        wanted = [*names(3), "octo/odd", "octo/closed", "octo/gone"]
        nights = Looker(local).night(*(server(at(name)) for name in wanted))
    assert [body(night["repository"])["name"] for night in nights[:3]] == names(3)
    assert [absent(night["repository"])[0] for night in nights[3:]] == ["unreachable", "forbidden", "no_repository"]


def test_a_member_that_github_left_out_is_unknown_and_looked_for_the_next_night() -> None:
    with serve() as local:
        local.world.add(lively(withheld=("issues",)))
        looker = Looker(local)
        first = looker.one(at("octo/lively"))["repository"]
        local.world.repositories["octo/lively"].withheld = ()
        second = looker.one(at("octo/lively"))["repository"]
    assert body(first)["issues"] is None
    assert body(first)["stars"] == 7
    assert first.observation["unread"] == ["graphql"]
    assert body(second)["issues"]["sampled"] == 2


def test_a_github_that_does_not_know_the_query_is_asked_over_rest() -> None:
    unknown = Answer(200, {"errors": [{"message": "Field 'isTemplate' doesn't exist on type 'Repository'"}]})

    async def run(looker: Looker) -> list[str]:
        github = looker.github()
        ways = [(await github.probe(name, None)).way for name in ("octo/a", "octo/b")]
        github.close()
        return ways

    with serve(prefix="/api/v3") as local:
        local.world.add(lively("octo/a"), lively("octo/b"))
        local.world.faults = [Fault("/graphql", lambda: unknown, times=999)]
        assert asyncio.run(run(Looker(local))) == ["rest", "rest"]
        queries = [one for one in local.world.asked if one.method == "POST"]
    assert len(queries) == 1


HOSTILE: list[Any] = [
    b"<html>not json</html>", b"{broken", b"", b"null", b"[]", b'"text"', b"17", b"[" * 5000,
    {"data": None}, {"data": []}, {"data": {"r0": []}}, {"data": {"r0": {}}}, {"data": {"r0": 1}}, {"errors": "x"},
    {"errors": [None, 3]}, {"data": {"r0": {"nameWithOwner": 5}}}, {"errors": [{"path": [1], "message": 7}]},
    {"data": {"r0": {"nameWithOwner": "a" * 100_000}}},
]  # fmt: skip


@pytest.mark.parametrize("said", HOSTILE, ids=lambda said: repr(said)[:40])
def test_a_misshapen_graphql_answer_is_an_absence(said: Any) -> None:
    with serve() as local:
        local.world.add(lively())
        answer = Answer(200, raw=said) if isinstance(said, bytes) else Answer(200, said)
        local.world.faults = [Fault("/graphql", lambda: answer, times=999)]
        record = Looker(local).one(at("octo/lively"))["repository"]
    if record.observation.get("way") != "rest":
        assert absent(record)[0] == "unreachable"


WRONG: list[Any] = [None, 7, -1, "x", "", [], {}, True, [[[]]], {"nodes": 3}, {"nodes": [None, 1, "x"]}, 10**400,
                    "\ud800", "a" * 100_000, {"totalCount": -5, "nodes": [{"createdAt": "9999-99-99T00:00:00Z"}]},
                    ]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong)[:30])
def test_members_of_a_wrong_shape_are_unknown(wrong: Any) -> None:
    with serve() as local:
        local.world.add(lively())
        looker = Looker(local)
        good = body(looker.one(at("octo/lively"))["repository"])
        node = {"nameWithOwner": "octo/lively"} | dict.fromkeys(MEMBERS, wrong)
        local.world.faults = [
            Fault("/graphql", lambda: Answer(200, {"data": {"r0": node}}), times=9),
            Fault("/contributors", lambda: Answer(200, wrong), times=9),
            Fault("/community", lambda: Answer(200, wrong), times=9),
            Fault("/security-advisories", lambda: Answer(200, [wrong, wrong]), times=9),
        ]
        looker.earlier.clear()
        read = body(looker.one(at("octo/lively"))["repository"])
    assert set(read) == set(good)
    assert len(str(read)) < 5000


MEMBERS = (
    "isArchived", "isFork", "isEmpty", "createdAt", "pushedAt", "licenseInfo", "repositoryTopics", "primaryLanguage",
    "diskUsage", "stargazerCount", "openIssues", "defaultBranchRef", "releases", "tags", "issues", "pullRequests",
    "codeOfConduct", "issueTemplates", "isSecurityPolicyEnabled", "root", "meta", "workflows", "owner",
)  # fmt: skip


@pytest.mark.parametrize(
    "said", [b"<html>", b"null", b"[]", b"{}", b'{"full_name": 3}', b'{"full_name": "../../user"}']
)
def test_a_misshapen_repository_is_an_absence_or_keeps_its_name(said: bytes) -> None:
    with serve() as local:
        local.world.add(lively())
        local.world.faults = [Fault("/repos/octo/lively", lambda: Answer(200, raw=said), times=1)]
        record = Looker(local).one(at("octo/lively"))["repository"]
        assert not [path for path in local.world.paths() if ".." in path]
    if record.observation:
        assert body(record)["name"] == "octo/lively"
    else:
        assert absent(record)[0] == "unreachable"


@pytest.mark.parametrize("headers", [
    {"X-RateLimit-Remaining": "many", "X-RateLimit-Limit": "x"}, {"X-RateLimit-Reset": "9" * 40},
    {"X-RateLimit-Remaining": "-5"}, {"Retry-After": "never"}, {"Retry-After": "9" * 30}, {"ETag": "x" * 5000},
    {"Link": "<" * 5000},
])  # fmt: skip
def test_headers_that_are_no_numbers_stop_no_request(headers: dict[str, str]) -> None:
    with serve() as local:
        local.world.add(lively())
        looker = Looker(local)
        local.world.faults = [Fault("/repos/octo/lively/", lambda: Answer(200, [], headers), times=1)]
        record = looker.one(at("octo/lively"))["repository"]
    assert body(record)["name"] == "octo/lively"


def test_a_redirect_to_another_host_gets_neither_request_nor_token() -> None:
    with serve() as local, serve() as other:
        local.world.add(lively())
        other.world.add(lively())
        elsewhere = other.api.replace("127.0.0.1", "localhost") + "/repos/octo/lively"
        moved = Answer(301, {"message": "Moved Permanently"}, {"Location": elsewhere})
        local.world.faults = [Fault("/repos/octo", lambda: moved, times=99)]
        record = Looker(local).one(at("octo/lively"))["repository"]
        assert other.world.asked == []
    assert absent(record)[0] == "unreachable"


@pytest.mark.parametrize("where", ["/repos/octo/lively", "http://[x", "", "https://127.0.0.1/repos/octo/lively"])
def test_a_redirect_in_a_circle_or_to_nowhere_is_not_followed(where: str) -> None:
    with serve() as local:
        local.world.add(lively())
        target = f"{local.api}/repos/octo/other" if where.startswith("/") else where
        moved = Answer(301, {"message": "Moved Permanently"}, {"Location": target})
        local.world.faults = [Fault("/repos/octo", lambda: moved, times=5000)]
        record = Looker(local).one(at("octo/lively"))["repository"]
    assert absent(record)[0] == "unreachable"


def test_a_github_that_never_answers_is_left() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        local = Local(f"http://127.0.0.1:{deaf.getsockname()[1]}", World())
        looker = Looker(local, given=limits(calls=CallLimits(timeout=1, pause=0), failures=1))
        nights = looker.night(*(server(at(name)) for name in names(50)))
        waited = _connections(deaf)
    assert {absent(night["repository"])[0] for night in nights} == {"unreachable"}
    assert waited < 20, "those on their way wait together, and the others not at all"


def _connections(listening: socket.socket) -> int:
    """How many clients came and were not accepted."""
    listening.setblocking(False)
    for number in count():
        try:
            listening.accept()[0].close()
        except BlockingIOError:
            return number
    raise AssertionError


def test_who_is_cancelled_does_not_take_the_others_along() -> None:
    async def run(looker: Looker) -> str:
        github = looker.github()
        first = asyncio.create_task(github.probe("octo/lively", None))
        second = asyncio.create_task(github.probe("octo/lively", None))
        await asyncio.sleep(0)
        first.cancel()
        look = await second
        github.close()
        return str(look.facts["name"])

    with serve() as local:
        local.world.add(lively())
        assert asyncio.run(run(Looker(local))) == "octo/lively"
