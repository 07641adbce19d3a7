"""What visitors come for costs the clicks and words that the table of `docs/guide/site.md` states."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from evidence.store import Retest, RetestState
from tests.browser.conftest import Open
from tests.browser.installation import Shop
from tests.browser.reading_costs import published_limits, story

# The first one waits for the shop to be filled and for Chromium to start, which takes a while on a cold machine.
pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def changed_much(shop: Shop) -> None:
    """The night of a server that became much better, as the result of a re-test."""
    server, found = shop.servers["good"], next(iter(shop.store.listing.list_published_runs()))
    at = found.run.as_of
    asked = Retest(id="much", server=server.id, client="anyone:x", asked_at=at - timedelta(minutes=1))
    shop.store.retests.request_retest(asked)
    shop.store.retests.admit_retest("much", found.run.id, at)
    shop.store.retests.finish_retest("much", RetestState.DONE, at)


def test_the_guide_states_seven_stories() -> None:
    assert len(published_limits()) == 7


def test_a_server_is_found_by_its_purpose_and_decided_on(visit: Open) -> None:
    page = visit("/").page
    with story("Find a server by its purpose and decide whether to install it") as cost:
        page.get_by_role("searchbox").fill("search my notes")
        cost.click(page.get_by_role("main").get_by_role("button", name="Search"))
        row = page.get_by_role("region", name="Servers").get_by_role("row").nth(1)
        expect(row).to_contain_text("Reads and searches the notes")
        cost.read(row)
        cost.click(row.get_by_role("link").first)
        verdict, connect = part(page, "Verdict"), part(page, "Connect")
        expect(verdict).to_contain_text(re.compile(r"[A-F] *\d+ of 100"))
        expect(verdict).to_contain_text("Security: ")
        expect(connect).to_contain_text("http")
        cost.read(page.locator(".purpose"), verdict, connect)


def test_the_lost_points_and_the_first_fix_are_on_the_first_screen(visit: Open) -> None:
    page = visit("/servers/{good}").page
    with story("Learn why points were lost, and the first fix") as cost:
        first = page.get_by_role("region", name="What costs points").get_by_role("row").nth(1)
        expect(first).to_be_in_viewport()
        expect(first.get_by_text(re.compile("^Add "))).to_be_visible()
        cost.read(page.get_by_role("region", name="What costs points"))


@pytest.mark.parametrize("width", ["phone", "desktop"])
def test_verdict_connection_and_three_fixes_are_on_the_first_screen(visit: Open, width: str) -> None:
    page = visit("/servers/{good}", width).page
    bars = page.get_by_role("table", name="Dimensions").get_by_role("row")
    fixes = page.get_by_role("table", name="What costs points").get_by_role("link")
    first_view = (
        *(page.locator(".purpose"), page.locator(".total"), page.get_by_text("Complete evidence gives")),
        *(bars.last, page.get_by_text("Security: "), part(page, "Connect").locator("code").first),
        *(action(page, "Re-test"), action(page, "Compare"), page.get_by_text(re.compile("tested [0-9]+"))),
        *(page.get_by_role("table", name="What costs points").get_by_role("row").nth(at) for at in (1, 2, 3)),
    )
    assert bars.count() == 6
    assert fixes.count() >= 3
    for shown in first_view:
        expect(shown).to_be_in_viewport(ratio=1)


def test_two_servers_are_compared(visit: Open) -> None:
    page = visit("/servers/{good}").page
    with story("Compare it with another server") as cost:
        cost.click(action(page, "Compare"))
        page.get_by_role("searchbox").fill("com.example/control")
        cost.click(page.get_by_role("main").get_by_role("button", name="Search"))
        cost.click(page.get_by_role("main").get_by_role("link", name="com.example/control").first)
        servers = part(page, "The servers")
        for words in ("com.example/notes", "com.example/control", "90 A", "Security findings"):
            expect(servers).to_contain_text(words)
        cost.read(servers)


@pytest.mark.usefixtures("changed_much")
def test_a_re_test_is_asked_for_and_its_result_read(visit: Open, shop: Shop) -> None:
    page = visit("/servers/{live}").page
    with story("Ask for a re-test and read what it changed") as cost:
        cost.click(action(page, "Re-test"))
        cost.click(page.get_by_role("button", name="Re-test this server"))
        cost.read(page.get_by_role("status"))
        shop.retest_what_is_asked_for()
        cost.click(page.get_by_role("link", name="Load the page again"))
        expect(page.get_by_role("heading", name=re.compile("Re-tested on"))).to_be_in_viewport()
        result = visit("/servers/{good}/retests").page
        cost.read(result.locator(".retest .total, .retest .others"))
        cost.read(part(result, "Why"), part(result, "Evidence that changed"))


def test_a_line_is_disputed(visit: Open) -> None:
    page = visit("/servers/{many}").page
    with story("Dispute a line") as cost:
        cost.click(page.get_by_role("region", name="What costs points").get_by_role("link", name="Dispute").first)
        cost.read(page.locator("section"))
        page.get_by_label("What is wrong about it?").fill("The client of this server limits the length itself.")
        cost.click(page.get_by_role("button", name="Dispute this line"))
        expect(page.get_by_role("article")).to_contain_text("Open.")


def test_a_badge_is_copied(visit: Open) -> None:
    page = visit("/servers/{good}").page
    with story("Copy the badge for a README") as cost:
        cost.click(action(page, "Badge"))
        snippet = page.get_by_label("Markdown", exact=True)
        expect(snippet).to_be_in_viewport()
        expect(snippet).to_contain_text("[![Hallmark score](")
        cost.read(part(page, "Badge for your README"))


def test_a_server_is_followed(visit: Open) -> None:
    page = visit("/servers/{good}").page
    with story("Follow it in a feed reader") as cost:
        cost.click(action(page, "Follow"))
        followed = part(page, "Follow this server")
        expect(followed.get_by_role("link", name="feed.atom").first).to_be_in_viewport()
        cost.read(followed)
        feed = page.request.get(str(followed.get_by_role("link", name="feed.atom").first.text_content()))
        assert feed.headers["content-type"].startswith("application/atom+xml")


@pytest.mark.usefixtures("changed_much")
@pytest.mark.parametrize("width", ["phone", "desktop"])
def test_a_re_test_that_changed_much_is_read_on_one_screen(visit: Open, width: str) -> None:
    seen = visit("/servers/{good}/retests", width)
    seen.picture(f"re-test result {width} light")
    page = seen.page
    expect(part(page, "Verdict")).to_contain_text("→")
    expect(page.locator(".retest .total")).to_be_in_viewport(ratio=1)
    expect(page.get_by_text("With complete evidence")).to_be_in_viewport(ratio=1)
    expect(part(page, "Why")).to_contain_text("measured now")
    if width == "desktop":
        expect(page.locator(".retest .first")).to_be_in_viewport(ratio=1)
    assert seen.wrong == []
    assert seen.overflow() == []
    assert seen.barriers() == []


def part(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def action(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Actions").get_by_role("link", name=name)
