"""Chromium, and what it is shown. Where there is no Chromium the tests say so, or fail if HALLMARK_REQUIRE names it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

from tests.browser.installation import Shop, open_shop
from tests.browser.page_checks import Seen, watched

REQUIRED = "chromium" in os.environ.get("HALLMARK_REQUIRE", "").split(",")
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first takes half the CPU of the others, which run the pages of their own invisible windows too."""
ARGUMENTS = (
    "--no-sandbox",  # it runs as root here, and shows nothing but our own pages
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
WIDTHS = {"phone": (390, 844), "desktop": (1440, 900)}

Open = Callable[..., Seen]


# Not for the session: Playwright keeps an event loop running in this thread, and other tests begin their own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = next((found for name in NAMES if (found := shutil.which(name)) and says_its_version(found)), None)
    if path is None:
        missing(
            "no Chromium that starts is installed: `make test` installs it where it may, or "
            "apt-get install chromium-headless-shell"
        )
    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        except Error as error:
            missing(f"{path} does not start: {error.message.splitlines()[0]}")
        yield started
        started.close()


def says_its_version(path: str) -> bool:
    """Whether a command is Chromium itself. Ubuntu's says that it must be installed as a snap, and ends."""
    return subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0


def missing(why: str) -> None:
    """Skip, or fail where Chromium is required."""
    if REQUIRED:
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="package")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    patch = pytest.MonkeyPatch()
    for name in [name for name in os.environ if name.startswith("HALLMARK_")]:
        patch.delenv(name)
    with open_shop(tmp_path_factory.mktemp("shop")) as opened:
        yield opened
    patch.undo()


@pytest.fixture(scope="package")
def contexts(browser: Browser) -> Iterator[dict[tuple[str, str], BrowserContext]]:
    """One context for each width and colour scheme."""
    opened = {
        (width, scheme): browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
            java_script_enabled=True,  # ours has none; the tests' own has to run
        )
        for width, size in WIDTHS.items()
        for scheme in ("light", "dark")
    }
    yield opened
    for context in opened.values():
        context.close()


@pytest.fixture
def visit(shop: Shop, contexts: dict[tuple[str, str], BrowserContext]) -> Iterator[Open]:
    """Open a page of the site; whatever the browser complained about is kept."""
    pages: list[Page] = []

    def opened(path: str, width: str = "desktop", scheme: str = "light") -> Seen:
        page = contexts[width, scheme].new_page()
        pages.append(page)
        return watched(page, shop.url(path))

    yield opened
    for page in pages:
        page.close()
