"""The static report of a store, as tests read it."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

from evidence.model import ServerId
from evidence.store import Store
from publish.app import create_app
from publish.publication import listing_writer
from publish.site.static_report import write_report
from tests.publish import samples
from tests.publish.site.plain_backend import PlainBackend

VOID = {"meta", "link", "br", "img", "input", "hr", "wbr"}


@dataclass
class Page(HTMLParser):
    """What a browser would see: elements that nest, ids, links, loads, scripts."""

    stack: list[str] = field(default_factory=list)
    ids: Counter[str] = field(default_factory=Counter)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    referred: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if len(values) != len(attrs):
            self.faults.append(f"an attribute twice in {tag}")
        if tag in {"script", "iframe", "object", "embed", "form", "style", "base"}:
            self.faults.append(f"element {tag}")
        self.faults += [f"{name} on {tag}" for name in values if name.startswith("on") or name == "style"]
        if "id" in values:
            self.ids[values["id"]] += 1
        if tag == "a":
            self.links.append(values.get("href", ""))
        elif "href" in values or "src" in values:
            self.loads.append(values.get("href", "") + values.get("src", ""))
        self.referred += (values.get("aria-labelledby") or "").split()
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.headings.append(int(tag[1]))
        if tag == "svg" and not ({"aria-hidden", "aria-label", "aria-labelledby"} & values.keys()):
            self.faults.append("an svg without a name")
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.stack or self.stack.pop() != tag:
            self.faults.append(f"</{tag}> does not close the open element")

    def handle_data(self, data: str) -> None:
        self.text += data


def report_of(store: Store, folder: Path) -> Path:
    """Write the report of a filled store, whose run is put in the lists first."""
    if store.listing.find_newest_run() is None:
        listing_writer.write_listing(store, samples.RUN)
    return write_report(create_app(store, PlainBackend()), folder).parent


def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text("utf-8"))
    page.close()
    return page


def files_about(folder: Path, server: ServerId) -> list[Path]:
    """The pages of one server."""
    return [folder / "servers" / f"{server}.html", *sorted((folder / "servers" / server).rglob("*.html"))]


def pages_about(folder: Path, server: ServerId) -> Page:
    """The pages of one server as one."""
    found = Page()
    for path in files_about(folder, server):
        page = read(path)
        found.text += page.text
        found.ids.update(page.ids)
        found.links += page.links
    return found


def pages_of(folder: Path) -> dict[str, Page]:
    return {path.relative_to(folder).as_posix(): read(path) for path in sorted(folder.rglob("*.html"))}


def faults_of(folder: Path) -> list[str]:
    """Everything wrong with a report: nesting, ids, dead links, loads from elsewhere, skipped headings."""
    pages = pages_of(folder)
    found = []
    for name, page in pages.items():
        found += [f"{name}: {fault}" for fault in page.faults]
        found += [f"{name}: {tag} is never closed" for tag in page.stack]
        found += [f"{name}: id {key} {count} times" for key, count in page.ids.items() if count > 1]
        found += [f"{name}: aria-labelledby {key}" for key in page.referred if key not in page.ids]
        jumps = zip([0, *page.headings], page.headings, strict=False)
        found += [f"{name}: h{after} after h{before}" for before, after in jumps if after > before + 1]
        for href in [*(link for link in page.links if not link.startswith("https://")), *page.loads]:
            parts = urlsplit(href)
            target = os.path.normpath(os.path.join(os.path.dirname(name), parts.path)) if parts.path else name
            if parts.scheme or parts.netloc or href.startswith("/"):
                found.append(f"{name}: leaves the report: {href}")
            elif not (folder / target).is_file():
                found.append(f"{name}: no such page: {href}")
            elif parts.fragment and parts.fragment not in pages[target].ids:
                found.append(f"{name}: no such anchor: {href}")
    return found
