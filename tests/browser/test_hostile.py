"""Names, texts and schemas that attack: nothing runs, everything is spelled out, and the layout holds."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Open
from tests.browser.page_checks import Seen
from tests.sampling import some

# The first one waits for the shop to be filled and for Chromium to start, which takes a while on a cold machine.
pytestmark = pytest.mark.xdist_group("browser")

HOSTILE = {
    "overview": "",
    "receipt": "/receipts/tool_design@2",
    "fixes": "/fixes",
    "tools": "/tools",
    "observations": "/observations",
    "transcript": "/transcript",
    "project": "/project",
    "evidence": "/evidence",
    "history": "/history",
    "changes": "/changes",
}
ELSEWHERE = {
    "dashboard": "/",
    "list": "/servers",
    "found": "/servers?q=%3Cscript%3Ealert(1)%3C/script%3E",
    "compare": "/compare?server={hostile}&server={huge}",
    "search": "/compare?q=%22%3E%3Cimg+src%3Dx+onerror%3Dalert(1)%3E",
    "unknown": "/servers/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
}
MISSING = {"unknown"}


@pytest.mark.parametrize("width", ["phone", pytest.param("desktop", marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", some(HOSTILE, 5))
def test_a_hostile_server_stays_a_text(visit: Open, name: str, width: str) -> None:
    assert_held(visit(f"/servers/{{hostile}}{HOSTILE[name]}", width), f"hostile {name} {width}")


@pytest.mark.parametrize("width", ["phone", "desktop"])
@pytest.mark.parametrize("name", ["overview", "tools"])
def test_a_megabyte_without_a_space_is_cut(visit: Open, name: str, width: str) -> None:
    seen = visit(f"/servers/{{huge}}{HOSTILE[name]}", width)
    assert_held(seen, f"huge {name} {width}")
    assert len(seen.page.content()) < 500_000


@pytest.mark.parametrize("width", ["desktop", pytest.param("phone", marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", ELSEWHERE)
def test_hostile_words_stay_texts_wherever_they_are_shown(visit: Open, name: str, width: str) -> None:
    assert_held(visit(ELSEWHERE[name], width), f"hostile {name} {width}", missing=name in MISSING)


def test_scores_stay_in_sight_beside_a_name_that_never_ends(visit: Open) -> None:
    seen = visit("/servers", "desktop")
    table = seen.page.get_by_role("table").first
    hidden = table.evaluate("one => one.getBoundingClientRect().right - document.documentElement.clientWidth")
    assert hidden <= 0


def test_a_badge_of_a_hostile_server_is_a_picture_and_runs_nothing(visit: Open) -> None:
    seen = visit("/badges/{hostile}/score.svg")
    assert (seen.status, seen.wrong) == (200, [])
    assert seen.page.evaluate("document.documentElement.tagName") == "svg"
    assert seen.page.evaluate("document.querySelectorAll('script, foreignObject, image').length") == 0


def assert_held(seen: Seen, picture: str, *, missing: bool = False) -> None:
    """No dialog, no script, no foreign address, no picture of theirs, nothing invisible, nothing beyond the edge."""
    seen.picture(picture)
    assert seen.status == (404 if missing else 200)
    assert [one for one in seen.wrong if not (missing and "404" in one)] == []
    assert seen.page.evaluate("document.querySelectorAll('script, iframe, object, embed, base').length") == 0
    assert seen.page.evaluate("[...document.images].filter(one => !one.src.startsWith(location.origin)).length") == 0
    assert (
        seen.page.evaluate(
            "[...document.querySelectorAll('a')].filter(one => /^(javascript|data):/i.test(one.href)).length"
        )
        == 0
    )
    shown = seen.page.evaluate("document.documentElement.innerText")
    assert not {"\x1b", "\x07", "\u202e", "\u2066", "\u200b"} & set(shown)
    assert seen.overflow() == []
