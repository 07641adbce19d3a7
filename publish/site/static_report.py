"""The static report: the site's pages of the published run, rendered by the app and written as files."""

from __future__ import annotations

import asyncio
import posixpath
import re
import shutil
from collections import Counter, deque
from collections.abc import Iterator
from functools import lru_cache
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx
from msgspec import Struct, field

if TYPE_CHECKING:
    from starlette.types import ASGIApp

REPORT_MARKER: Final = ".hallmark-report"
FIRST: Final = "index.html"

_ORIGIN: Final = "http://report.invalid"
_LIST: Final = "/servers"
_FOLLOWED: Final = re.compile(r"/|/servers(/.*)?")
"""Pages whose links are followed; other pages are written when one of these links to them."""

_LEFT_OUT: Final = re.compile(
    r"/(api|badges|compare|datasets|feed|mcp)\b.*|/categories/.*|/servers/[^/]+/(control|disputes|feed|retests|fixes)\b.*"
)
"""Paths that need the running site, badges for other sites, feeds, and pages that judge a server again."""

_SAFE: Final = re.compile(r"/([\w@-][\w.@-]*/)*[\w@-][\w.@-]*|/")
_ASSET: Final = re.compile(r"/static/[^/]+/")
_LINK: Final = re.compile(
    r'<a\b(?P<attributes>[^>]*?) href="(?P<url>[^"]*)"(?P<more>[^>]*)>(?P<text>.*?)</a>', re.DOTALL
)
_LOADED: Final = re.compile(r'(?P<before><(?:link|img)\b[^>]*? (?:href|src)=")(?P<url>[^"]*)(?P<after>"[^>]*>)')
_ALONE: Final = re.compile(rf"<p>{_LINK.pattern}</p>", re.DOTALL)
"""A paragraph that consists of one link, which is removed with the link."""

_NAVIGATION: Final = re.compile(r"<nav\b.*?</nav>", re.DOTALL)
_NUMBERED: Final = re.compile(r"page=[0-9]+")
_NEXT: Final = re.compile(r'\brel="next"')
_DROPPED: Final = re.compile(r'<form\b.*?</form>\n?|<link rel="canonical"[^>]*>\n?', re.DOTALL)
_HEAD: Final = '<meta charset="utf-8">'
_POLICY: Final = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'self' file:; "
    "img-src 'self' file:; base-uri 'none'; form-action 'none'\">"
)


class FolderTaken(Exception):
    """The folder contains files that are no report."""


class _Files(Struct, dict=True):
    """The file of each address that is written."""

    folder: Path
    names: dict[str, str] = field(default_factory=dict)
    pages: Counter[str] = field(default_factory=Counter)

    def add(self, url: str, body: bytes) -> None:
        self.names[url] = self._name(url)
        path = self.folder / self.names[url]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)

    def _name(self, url: str) -> str:
        """Further pages of a list get a number, since their URL has only a cursor."""
        path = urlsplit(url).path
        if asset := _ASSET.match(path):
            return f"static/{path[asset.end() :]}"
        name = path[1:] or FIRST.removesuffix(".html")
        self.pages[path] += 1
        return f"{name}-{self.pages[path]}.html" if self.pages[path] > 1 else f"{name}.html"


class NotShown(Exception):
    """The site shows another run than the requested one."""


def write_report(app: ASGIApp, folder: Path) -> Path:
    """Write the pages of the published run that `app` serves into `folder` and return the first page.

    Links between the pages are relative. Forms, and links to pages that need the running site, are left out. The same
    store gives the same bytes. An earlier report in the folder is replaced; a folder that holds anything else raises
    FolderTaken before anything is written.
    """
    _prepare(folder)
    files = _Files(folder)
    asyncio.run(_fetch(app, files))
    for url, name in files.names.items():
        if name.endswith(".html"):
            page = folder / name
            page.write_text(_offline(page.read_text("utf-8"), url, files), encoding="utf-8", newline="\n")
    return folder / FIRST


async def _fetch(app: ASGIApp, files: _Files) -> None:
    """Write every response unchanged."""
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(
        transport=transport, base_url=_ORIGIN, headers={"accept-encoding": "identity"}
    ) as site:
        waiting, known = deque(["/"]), {"/"}
        while waiting:
            url = waiting.popleft()
            answer = await site.get(url)
            if answer.status_code != httpx.codes.OK:
                _refuse_first(url, answer)
                continue
            files.add(url, answer.content)
            found = [one for one in _links(url, answer) if one not in known]
            known.update(found)
            waiting.extend(dict.fromkeys(found))


def _refuse_first(url: str, answer: httpx.Response) -> None:
    """Raise OSError if the first page is missing; links to other missing pages are only left out."""
    if url == "/":
        raise OSError(f"expected the first page of the site, found the answer {answer.status_code}")


def _links(url: str, answer: httpx.Response) -> Iterator[str]:
    """The URLs on a page that belong to the report."""
    if not answer.headers["content-type"].startswith("text/html"):
        return iter(())
    page, path = _DROPPED.sub("", answer.text), urlsplit(url).path
    targets = [_target(url, found["url"]) for found in _LOADED.finditer(page)]
    if _FOLLOWED.fullmatch(path):
        for found in _LINK.finditer(page):
            target = _target(url, found["url"])
            goes_on = url == _LIST or _NEXT.search(found["attributes"] + found["more"])
            query = urlsplit(target).query
            if not query or _NUMBERED.fullmatch(query) or (goes_on and urlsplit(target).path == path):
                targets.append(target)
    return (target for target in targets if _is_written(target))


def _is_written(target: str) -> bool:
    parts = urlsplit(target)
    is_ours = not parts.scheme and not parts.netloc and _SAFE.fullmatch(parts.path)
    return bool(is_ours) and not _LEFT_OUT.fullmatch(target)


def _target(url: str, link: str) -> str:
    """The URL of a link on a page, without its fragment; an absolute URL stays absolute."""
    return urldefrag(urljoin(url, unescape(link))).url.removesuffix("?page=1")


def _offline(page: str, url: str, files: _Files) -> str:
    """The page with links between files and a content policy."""

    def entry(found: re.Match[str]) -> str:
        return "" if _relative(url, found["url"], files) is None else found[0]

    def link(found: re.Match[str]) -> str:
        href = _relative(url, found["url"], files)
        if href is None:
            return f"<span>{found['text']}</span>"
        return f'<a{found["attributes"]} href="{escape(href)}"{found["more"]}>{found["text"]}</a>'

    def loaded(found: re.Match[str]) -> str:
        href = _relative(url, found["url"], files)
        return "" if href is None else f"{found['before']}{escape(href)}{found['after']}"

    page = _NAVIGATION.sub(lambda found: _LINK.sub(entry, found[0]), _DROPPED.sub("", page))
    page = _ALONE.sub(entry, page)
    page = _LOADED.sub(loaded, _LINK.sub(link, page))
    return page.replace(_HEAD, f"{_HEAD}\n{_POLICY}", 1)


def _relative(url: str, link: str, files: _Files) -> str | None:
    """The link relative to the page's file; None if its target is on this site and not in the report."""
    raw, here = unescape(link), files.names[url]
    if urlsplit(raw).scheme:
        return raw
    name, fragment = files.names.get(_target(url, link)), raw.partition("#")[2]
    if name is None:
        return None
    path = "" if name == here and fragment else _path(name, posixpath.dirname(here))
    return f"{path}#{fragment}" if fragment else path


_path = lru_cache(4_096)(posixpath.relpath)
"""Cached, since the navigation links to the same files on every page."""


def _prepare(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / REPORT_MARKER).exists())):
        raise FolderTaken(
            f"expected an empty folder or an earlier report at {folder}, found other files; name another folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / REPORT_MARKER).write_text("Written by hallmark report, which may replace everything here.\n")
    for stale in folder.iterdir():
        if stale.is_dir():
            shutil.rmtree(stale)
        elif stale.suffix == ".html":
            stale.unlink()
