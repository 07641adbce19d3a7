"""Requests are counted by server, host and domain; who got enough is left alone, and its score does not move."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from crawler.budgeted_collector import BudgetedCollector
from crawler.http.rate_limiting import HostRateLimiter
from crawler.http.request_budgets import (
    DailyAllowance,
    LocalRequestLedger,
    RequestBudgets,
    charge_requests_to,
    find_counted_domain,
    list_server_hosts,
)
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType
from tests.crawler.collectors.protocol.probing import Timekeeper

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Day:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


class Asking:
    """A collector that asks a host so many times in a visit, and may have to wait."""

    name, version, kinds = "protocol", 1, ("listing",)

    def __init__(self, courtesy: HostRateLimiter, requests: int = 3, retry_after: float | None = None) -> None:
        self.courtesy = courtesy
        self.requests = requests
        self.retry_after = retry_after
        self.visits = 0

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        self.visits += 1
        (host,) = list_server_hosts(target)
        for _ in range(self.requests):
            async with self.courtesy.request_slot(host):
                pass
        if self.retry_after is not None:
            self.courtesy.defer(host, self.retry_after)
        return [record(target, Observed(b"{}"))]


def server(url: str, name: str = "one") -> Server:
    return Server(ref=url, name=name, targets=(Target(type=TargetType.STREAMABLE_HTTP, identifier=url),))


def record(of: Server, content: Observed | Absent, at: datetime = NOON) -> Record:
    return Record(
        server=of.id,
        kind="listing",
        schema=1,
        collector="protocol",
        collector_version=1,
        observed_at=at,
        content=content,
    )


def within(
    allowance: DailyAllowance, day: Day, *, requests: int = 3, retry_after: float | None = None
) -> tuple[BudgetedCollector, Asking]:
    time = Timekeeper()
    budgets = RequestBudgets(allowance, LocalRequestLedger(), day)
    asking = Asking(HostRateLimiter(tick=time.tick, sleep=time.sleep, budgets=budgets), requests, retry_after)
    return BudgetedCollector(asking, budgets, day, {"listing": 1}), asking


def visit(counted: BudgetedCollector, of: Server, *known: Record) -> Observed | Absent:
    earlier = Dossier(server=of, as_of=NOON, records={one.kind: one for one in known})
    (found,) = asyncio.run(counted.collect(of, earlier))
    return found.content


ONE, TWO = server("https://a.example.com/1"), server("https://a.example.com/2", "two")
OTHER, FAR = server("https://b.example.com/3", "three"), server("https://c.example.org/4", "four")


def test_a_server_gets_no_more_than_its_share_of_a_day() -> None:
    day = Day()
    counted, asking = within(DailyAllowance(server=6), day)
    assert [isinstance(visit(counted, ONE), Observed) for _ in range(3)] == [True, True, False]
    assert isinstance(visit(counted, TWO), Observed)
    day.now += timedelta(days=1)
    assert isinstance(visit(counted, ONE), Observed)
    assert asking.visits == 4


@pytest.mark.parametrize(
    ("allowance", "left"),
    [(DailyAllowance(host=5), [OTHER, FAR]), (DailyAllowance(domain=5), [FAR]), (DailyAllowance(), [TWO, FAR])],
)
def test_hosts_and_domains_are_counted_for_all_their_servers(allowance: DailyAllowance, left: list[Server]) -> None:
    counted, _ = within(allowance, Day())
    for _ in range(2):
        visit(counted, ONE)
    found = [one for one in (TWO, OTHER, FAR) if isinstance(visit(counted, one), Observed)]
    assert [one for one in found if one in left] == left
    assert (TWO in found) == (allowance == DailyAllowance())


def test_who_got_enough_keeps_its_evidence_with_its_age_or_says_that_we_did_not_look() -> None:
    counted, asking = within(DailyAllowance(server=1), Day())
    visit(counted, ONE)
    before = record(ONE, Observed(b'{"a":1}'), NOON - timedelta(days=2))
    earlier = Dossier(server=ONE, as_of=NOON, records={"listing": before})
    assert asyncio.run(counted.collect(ONE, earlier)) == [before]
    nothing = visit(counted, ONE)
    assert isinstance(nothing, Absent)
    assert nothing.reason is Reason.NOT_COLLECTED
    assert "our own bound of 1 requests" in nothing.detail
    assert visit(counted, ONE, record(ONE, Absent(Reason.TIMEOUT))) == nothing
    assert asking.visits == 1


def test_a_long_pause_that_a_server_asks_for_is_its_own_and_no_longer_than_a_day() -> None:
    day = Day()
    counted, asking = within(DailyAllowance(), day, retry_after=7200)
    visit(counted, ONE)
    resting = visit(counted, ONE)
    assert isinstance(resting, Absent)
    assert resting.reason is Reason.RATE_LIMITED
    assert isinstance(visit(counted, TWO), Observed)  # a neighbour may not keep other servers from being probed
    day.now += timedelta(hours=2, seconds=1)
    asking.retry_after = 10.0**9
    assert isinstance(visit(counted, ONE), Observed)
    day.now += timedelta(hours=23)
    assert isinstance(visit(counted, ONE), Absent)
    day.now += timedelta(hours=2)
    assert isinstance(visit(counted, ONE), Observed)


def test_a_short_pause_is_waited_for_and_ends_nothing() -> None:
    counted, _ = within(DailyAllowance(), Day(), retry_after=20.0)
    assert [isinstance(visit(counted, ONE), Observed) for _ in range(2)] == [True, True]


def test_servers_at_the_same_time_pay_for_themselves() -> None:
    async def main() -> None:
        day, ledger = Day(), LocalRequestLedger()
        budgets = RequestBudgets(DailyAllowance(server=10), ledger, day)

        async def spend(of: Server, requests: int) -> None:
            with charge_requests_to(of.id):
                for _ in range(requests):
                    budgets.charge("a.example.com", 1)
                    await asyncio.sleep(0)

        await asyncio.gather(spend(ONE, 4), spend(TWO, 7))
        assert await ledger.totals(NOON.date(), [f"server:{ONE.id}", f"server:{TWO.id}"]) == [4, 7]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("a.b.example.com", "example.com"),
        ("mcp.example.co.uk", "example.co.uk"),
        ("example.com.br", "example.com.br"),
        ("a.example.de", "example.de"),
        ("co.uk", "co.uk"),
        ("tenant.vercel.app", "vercel.app"),
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::1"),
        ("localhost", "localhost"),
    ],
)
def test_hosts_are_counted_under_the_registered_domain(host: str, domain: str) -> None:
    assert find_counted_domain(host) == domain
