"""The dashboard says what was published, and nothing more."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser

from evidence.model import Dossier
from evidence.store import Store
from publish.views.categories import CATEGORIES
from tests.evidence.store.listing_samples import make_many, show
from tests.publish.samples import HOSTILE, SCRIPT
from tests.publish.site.conftest import SiteOf
from tests.publish.site.dashboard_numbers import encoded

MakeStore = Callable[[Sequence[Dossier]], Store]


def board(make_store: MakeStore, name: str = "made-up") -> Store:
    store = make_store([])
    show(store, make_many(3), front=encoded(name))
    return store


def test_before_anything_is_published_it_says_what_to_do(make_store: MakeStore, site_of: SiteOf) -> None:
    answer = site_of(make_store([])).get("/")
    assert answer.status_code == 200
    assert "Nothing is published yet" in answer.text
    assert "hallmark run" in answer.text


def test_the_home_page_shows_servers_first_and_what_changed(make_store: MakeStore, site_of: SiteOf) -> None:
    page = site_of(board(make_store)).get("/").text
    for said in (
        "1,234 MCP servers",
        '<a href="/servers?category=databases">Databases</a>',
        "321",
        '<span class="grade">A</span>',
        "60 rose, 40 fell, 1,000 did not change",
        "7 lost their score",
        "2 have a score again",
        "+32.5",
        "the ruleset changed between the two runs",
        "not measured",
        "median is 61.25",
    ):
        assert said in page, said
    assert "category=other" not in page, "it is no category to choose from"
    assert "no longer listed" not in page
    assert page.index("Best by category") < page.index("Newly listed") < page.index("Biggest changes")
    newest = page[page.index("Newly listed") : page.index("Biggest changes")]
    assert len(re.findall(r'<th scope="row"><a href="/servers/srv_', newest)) == 3


def test_the_numbers_of_the_run_are_on_the_status_page(make_store: MakeStore, site_of: SiteOf) -> None:
    page = site_of(board(make_store)).get("/status").text
    for said in ("oauth required", "150", "61.25", "812.5", "our limit, not the server's", "Registries", "Ecosystems"):
        assert said in page, said


def test_every_plot_has_a_name_and_its_numbers_as_text(make_store: MakeStore, site_of: SiteOf) -> None:
    site = site_of(board(make_store))
    for path, many in (("/", 1), ("/status", 4)):
        page = site.get(path).text
        plots = re.findall(r'<svg class="plot".*?</svg>', page, re.DOTALL)
        assert len(plots) == many
        for plot in plots:
            assert "<title" in plot
            assert "<desc" in plot
        assert page.count("The same as a table") == len(plots)
        shares = re.findall(r'<svg class="shares[^>]*>', page)
        assert all('aria-hidden="true"' in one or "aria-label=" in one for one in shares)


def test_names_of_strangers_stay_text(make_store: MakeStore, site_of: SiteOf) -> None:
    site = site_of(board(make_store, HOSTILE))
    for path in ("/", "/status"):
        page = site.get(path).text
        assert SCRIPT not in page
        assert "\x1b" not in page
        assert "\u202e" not in page
        assert "onerror=alert(2)&gt;" in page
    assert 'href="/servers?registry=%3Cscript%3E' in page


def test_categories_are_published_with_their_words(make_store: MakeStore, site_of: SiteOf) -> None:
    page = site_of(board(make_store)).get("/categories").text
    for category in CATEGORIES:
        assert f'<a href="/servers?category={category.id}">' in page
        assert ", ".join(category.words) in page
    assert "321" in page


class _Ids(HTMLParser):
    """Collects what a page's structure must keep: ids, references to them, headings, inline code."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.asked: list[str] = []
        self.headings: list[int] = []
        self.inline: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids += [given["id"]] if "id" in given else []
        for name in ("aria-labelledby", "aria-describedby", "for"):
            self.asked += given.get(name, "").split()
        self.headings += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []
        self.inline += [name for name in given if name == "style" or name.startswith("on")]
        self.inline += [tag] if tag in {"script", "style"} else []


def test_pages_are_whole_for_those_who_hear_them(make_store: MakeStore, site_of: SiteOf) -> None:
    site = site_of(board(make_store))
    for path in ("/", "/servers", "/servers?q=nothing-has-this", "/categories", "/status", "/about", "/nowhere"):
        seen = _Ids()
        seen.feed(site.get(path).text)
        assert len(seen.ids) == len(set(seen.ids)), path
        assert set(seen.asked) <= set(seen.ids), path
        assert seen.headings[0] == 1
        assert seen.headings.count(1) == 1, path
        assert all(after - before <= 1 for before, after in zip(seen.headings, seen.headings[1:], strict=False)), path
        assert not seen.inline, path
        assert "main" in seen.ids
