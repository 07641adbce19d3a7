"""Checks for every page: errors, policies, layout and accessibility."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Dialog, Page, Request

PICTURES = os.environ.get("HALLMARK_SCREENSHOTS", "")
LEFT = "net::ERR_ABORTED"
"""A request that was under way when the page was left for another one."""
"""A folder that pictures of all pages are put into, when it is set."""

_AXE = Axe()


@dataclass
class Seen:
    """A page and everything that went wrong while it was open."""

    page: Page
    status: int = 0
    wrong: list[str] = field(default_factory=list)

    def overflow(self) -> list[str]:
        """Elements that reach beyond the right edge, when the page can be scrolled sideways."""
        found: list[str] = self.page.evaluate(_OVERFLOW)
        return found

    def cut_off(self) -> list[str]:
        """Tables whose end is out of sight until the page is scrolled sideways."""
        found: list[str] = self.page.evaluate(_CUT_OFF)
        return found

    def barriers(self) -> list[str]:
        """What axe-core finds, of any impact: rule and first place."""
        result: dict[str, Any] = _AXE.run(self.page, options={"resultTypes": ["violations"]}).response
        return [
            f"{one['id']} ({one['impact']}): {one['nodes'][0]['target']} {one['nodes'][0]['failureSummary'][:300]}"
            for one in result["violations"]
        ]

    def picture(self, name: str) -> None:
        """A screenshot of the whole page, when a folder for screenshots is set."""
        if PICTURES:
            Path(PICTURES).mkdir(parents=True, exist_ok=True)
            file = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
            self.page.screenshot(path=f"{PICTURES}/{file}.png", full_page=True)


def watched(page: Page, url: str) -> Seen:
    """Open a page and note what the browser says: console errors, failed requests, dialogs, foreign addresses."""
    seen = Seen(page)

    def console(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            seen.wrong.append(f"console: {message.text}")

    def dialog(opened: Dialog) -> None:
        seen.wrong.append(f"a dialog: {opened.message}")
        opened.dismiss()

    def request(sent: Request) -> None:
        if not sent.url.startswith((url.partition("/")[0] + "//127.0.0.1:", "data:")):
            seen.wrong.append(f"asked for {sent.url}")

    def failed(sent: Request) -> None:
        if sent.failure != LEFT:
            seen.wrong.append(f"failed: {sent.url} {sent.failure}")

    page.on("console", console)
    page.on("dialog", dialog)
    page.on("pageerror", lambda error: seen.wrong.append(f"script: {error}"))
    page.on("request", request)
    page.on("requestfailed", failed)
    answer = page.goto(url, wait_until="load")
    seen.status = answer.status if answer else 0
    return seen


_OVERFLOW = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll('body *')]
    .filter(one => one.getBoundingClientRect().right > width + 1)
    .slice(0, 5)
    .map(one => `${one.tagName.toLowerCase()}.${one.className} ${Math.round(one.getBoundingClientRect().right)}px: ` +
                `${(one.textContent || '').trim().slice(0, 60)}`);
}"""

_CUT_OFF = """() => [...document.querySelectorAll('.scroll')]
  .filter(one => one.scrollWidth > one.clientWidth + 1)
  .map(one => `${one.getAttribute('aria-label') || one.textContent.trim().slice(0, 60)}: ` +
              `${one.scrollWidth} of ${one.clientWidth}px`)"""
