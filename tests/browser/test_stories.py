"""What people come for, from the first page to what they wanted, by links, fields and buttons alone."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import expect

from publish.community import disputes
from publish.community.disputes import DisputeDecider, Verdict
from publish.datasets.verification.verify import verify_snapshot
from tests.browser.conftest import Open
from tests.browser.installation import Shop
from tests.browser.page_checks import Seen

# The first one waits for the shop to be filled and for Chromium to start, which takes a while on a cold machine.
pytestmark = pytest.mark.xdist_group("browser")


def test_a_visitor_finds_a_server_and_sees_why_it_lost_points(visit: Open) -> None:
    seen = visit("/")
    page = seen.page
    page.get_by_role("searchbox").fill("blender")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="blender-mcp").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("blender-mcp")
    expect(page.get_by_text("Lint grade").or_(page.get_by_text("lint grade")).first).to_be_visible()
    costs = page.get_by_role("region", name="What costs points")
    expect(costs).to_be_visible()
    costs.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(r"/rules/[a-z-]+"))
    expect(page.get_by_role("main")).to_contain_text(re.compile("good|pass", re.IGNORECASE))
    page.go_back()
    page.get_by_role("link", name="How to fix each").click()
    expect(page).to_have_url(re.compile("/fixes"))
    unspoiled(seen)


def test_a_maintainer_asks_for_a_re_test_and_sees_the_result(visit: Open, shop: Shop) -> None:
    seen = visit("/servers/{live}", "phone", "dark")
    page = seen.page
    page.get_by_role("navigation", name="Actions").get_by_role("link", name="Re-test").click()
    page.get_by_role("button", name="Re-test this server").click()
    expect(page.get_by_role("status")).to_contain_text("A re-test was asked for")
    assert seen.overflow() == []
    assert seen.barriers() == []
    shop.retest_what_is_asked_for()
    page.reload()
    expect(page.get_by_role("heading", name=re.compile("Re-tested on"))).to_be_in_viewport()
    expect(page.get_by_role("region", name="Verdict").get_by_text("→")).to_be_in_viewport()
    seen.picture("story re-test phone dark")
    page.get_by_role("link", name="Everything that differs").click()
    expect(page).to_have_url(re.compile("/compare"))
    page.goto(shop.url("/servers/{live}"))
    expect(page.get_by_role("heading", name=re.compile("Re-tested on"))).to_be_visible()
    unspoiled(seen)


def test_a_team_compares_two_servers(visit: Open) -> None:
    seen = visit("/compare")
    page = seen.page
    for word in ("com.example/notes", "com.example/control"):
        page.get_by_role("searchbox").fill(word)
        page.get_by_role("main").get_by_role("button", name="Search").click()
        page.get_by_role("main").get_by_role("link", name=word).first.click()
    main = page.get_by_role("main")
    expect(main).to_contain_text("com.example/notes")
    expect(main).to_contain_text("com.example/control")
    expect(main).to_contain_text("90 A")
    expect(main).to_contain_text("27 F")
    seen.picture("story compare desktop light")
    unspoiled(seen)


def test_a_researcher_downloads_a_dataset_and_verifies_it(visit: Open, tmp_path: Path) -> None:
    seen = visit("/datasets")
    page = seen.page
    files = page.get_by_role("region", name=re.compile("Files of")).first
    for name in ("manifest.json", "SHA256SUMS", "scorecards.parquet"):
        with page.expect_download() as started:
            files.get_by_role("link", name=name).click()
        started.value.save_as(tmp_path / started.value.suggested_filename)
    for link in files.get_by_role("link").all():
        file = tmp_path / (link.text_content() or "")
        if not file.exists():  # as a program that follows the links would
            file.write_bytes(
                page.request.get(page.url.removesuffix("/datasets") + str(link.get_attribute("href"))).body()
            )
    assert {"manifest.json", "SHA256SUMS", "scorecards.parquet"} <= {file.name for file in tmp_path.iterdir()}
    assert [str(problem) for problem in verify_snapshot(tmp_path, processes=0).problems] == []
    unspoiled(seen)


def test_a_visitor_disputes_a_finding_and_gets_an_answer(visit: Open, shop: Shop) -> None:
    seen = visit("/servers/{poor}/receipts/lint@2", "phone", "light")
    page = seen.page
    page.get_by_role("link", name=re.compile("Dispute ")).first.click()
    page.get_by_label("What is wrong about it?").fill("The description is in the title. <script>alert(1)</script>")
    assert seen.overflow() == []
    assert seen.barriers() == []
    page.get_by_role("button", name="Dispute this line").click()
    expect(page.get_by_role("article")).to_contain_text("Open.")
    expect(page.get_by_role("article")).not_to_contain_text("in the title")  # not reviewed yet
    seen.picture("story dispute phone light")
    answer(shop)
    page.reload()
    expect(page.get_by_role("article")).to_contain_text("The description is in the title. <script>alert(1)</script>")
    expect(page.get_by_role("article")).to_contain_text("Titles are no descriptions.")
    page.goto(shop.url("/servers/{poor}/receipts/lint@2"))
    expect(page.get_by_role("link", name="Disputed", exact=True)).to_be_visible()
    unspoiled(seen)


def answer(shop: Shop) -> None:
    """Show the open dispute and reject it, as an operator does."""
    (known,) = shop.store.disputes.list_disputes(server=shop.servers["poor"].id)
    by = DisputeDecider(who="operator")
    disputes.decide_dispute(
        shop.store, known, Verdict.REJECT, by, at=datetime.now(UTC), answer="Titles are no descriptions."
    )


def unspoiled(seen: Seen) -> None:
    """Nothing was refused by the browser on the way, and the last page fits."""
    assert seen.wrong == []
    assert seen.overflow() == []
