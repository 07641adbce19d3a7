"""Every page on a phone and on a desk, light and dark: it fits, no resource is refused, and it is accessible."""

from __future__ import annotations

import pytest

from publish.site.pages.sitemap import PAGES as LISTED_PAGES
from tests.browser.conftest import Open
from tests.browser.page_checks import Seen
from tests.sampling import some

# The first one waits for the shop to be filled and for Chromium to start, which takes a while on a cold machine.
pytestmark = pytest.mark.xdist_group("browser")

PAGES = {path.strip("/") or "dashboard": path for path in LISTED_PAGES} | {
    "servers found": "/servers?q=example&sort=name",
    "servers none": "/servers?q=nosuchserver",
    "server good": "/servers/{good}",
    "server live": "/servers/{live}",
    "server locked": "/servers/{locked}",
    "server poor": "/servers/{poor}",
    "receipt": "/servers/{poor}/receipts/lint@2",
    "fixes": "/servers/{poor}/fixes",
    "tools": "/servers/{many}/tools",
    "observations": "/servers/{good}/observations",
    "project": "/servers/{good}/project",
    "transcript": "/servers/{live}/transcript",
    "evidence": "/servers/{good}/evidence",
    "history": "/servers/{good}/history",
    "changes": "/servers/{good}/changes",
    "retests": "/servers/{good}/retests",
    "disputes": "/servers/{good}/disputes",
    "control": "/servers/{good}/control",
    "compare": "/compare?server={good}&server={poor}",
    "compare search": "/compare",
    "method": "/methods/adaptive@1",
    "rule": "/rules/tool-description-missing",
    "not found": "/servers/srv_00000000000000000000",
}
MISSING = {"not found"}


@pytest.mark.parametrize("name", some(PAGES, 5, besides=["dashboard", "servers", "server good", "compare"]))
@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        ("phone", "dark"),
        pytest.param("desktop", "light", marks=pytest.mark.soak),
        pytest.param("phone", "light", marks=pytest.mark.soak),
        pytest.param("desktop", "dark", marks=pytest.mark.soak),
    ],
)
def test_a_page_fits_and_is_open_to_everybody(visit: Open, name: str, width: str, scheme: str) -> None:
    assert page_that_fits(visit, name, width, scheme).barriers() == []


@pytest.mark.parametrize("name", list(PAGES)[2::8])
def test_a_page_fits_on_a_desk(visit: Open, name: str) -> None:
    page_that_fits(visit, name, "desktop", "light")


def page_that_fits(visit: Open, name: str, width: str, scheme: str) -> Seen:
    seen = visit(PAGES[name], width, scheme)
    seen.picture(f"{name} {width} {scheme}")
    assert seen.status == (404 if name in MISSING else 200)
    wrong = [one for one in seen.wrong if not (name in MISSING and "404" in one)]
    assert wrong == []
    assert seen.overflow() == []
    assert seen.cut_off() == []
    return seen
