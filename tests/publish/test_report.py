from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from evidence.model import Reason
from evidence.store import Store
from publish.advice import advice
from publish.advisories_view import PAGES
from publish.report import FolderTaken, Naming, write_report
from scoring.rule import SPECIFICATION
from tests.publish import samples

Make = Callable[..., Store]
GOLDEN = Path(__file__).parent / "golden"
NAMING = Naming({"adaptive": "Adaptive quality score", "lint": "Linter"}, {}, "adaptive")
OUTSIDE = (f"{SPECIFICATION}/", f"{PAGES}/")
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


def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text("utf-8"))
    page.close()
    return page


def pages_of(folder: Path) -> dict[str, Page]:
    return {path.relative_to(folder).as_posix(): read(path) for path in sorted(folder.rglob("*.html"))}


def faults_of(folder: Path) -> list[str]:
    """Everything wrong with a report: nesting, ids, dead links, loads from elsewhere, skipped headings.

    Only the specification and published advisories may be linked to outside of the report.
    """
    pages = pages_of(folder)
    found = []
    for name, page in pages.items():
        found += [f"{name}: {fault}" for fault in page.faults]
        found += [f"{name}: {tag} is never closed" for tag in page.stack]
        found += [f"{name}: id {key} {count} times" for key, count in page.ids.items() if count > 1]
        found += [f"{name}: aria-labelledby {key}" for key in page.referred if key not in page.ids]
        jumps = zip([0, *page.headings], page.headings, strict=False)
        found += [f"{name}: h{after} after h{before}" for before, after in jumps if after > before + 1]
        for href in [*(link for link in page.links if not link.startswith(OUTSIDE)), *page.loads]:
            parts = urlsplit(href)
            target = os.path.normpath(os.path.join(os.path.dirname(name), parts.path)) if parts.path else name
            if parts.scheme or parts.netloc or href.startswith("/"):
                found.append(f"{name}: leaves the report: {href}")
            elif not (folder / target).is_file():
                found.append(f"{name}: no such page: {href}")
            elif parts.fragment and parts.fragment not in pages[target].ids:
                found.append(f"{name}: no such anchor: {href}")
    return found


@pytest.fixture
def report(make_store: Make, tmp_path: Path) -> Path:
    store = make_store([*samples.dossiers(30), samples.hostile_dossier(), samples.unsandboxed_dossier()])
    return write_report(store, samples.RUN.id, tmp_path / "report", naming=NAMING).parent


def test_every_page_is_well_formed_and_every_link_leads_somewhere(report: Path) -> None:
    assert faults_of(report) == []


@pytest.mark.parametrize(
    "broken",
    [
        "<p><b></p></b>",
        "<a href='gone.html'>x</a>",
        "<script>1</script>",
        "<i id=a></i><i id=a></i>",
        "<img src=//x.example>",
    ],
)
def test_the_page_check_notices(report: Path, broken: str) -> None:
    (report / "index.html").write_text(f"<html><body>{broken}</body></html>")
    assert any(fault.startswith("index.html") for fault in faults_of(report))


def test_a_hostile_server_reaches_no_page_raw(report: Path) -> None:
    page = report / "servers" / f"{samples.hostile_dossier().server.id}.html"
    raw, seen = page.read_text("utf-8"), read(page)
    assert samples.SCRIPT in seen.text, "shown as text"
    assert samples.SCRIPT not in raw
    assert "⟨U+202E⟩" in seen.text
    assert "⟨U+001B⟩" in seen.text
    for path in report.rglob("*.html"):
        assert not set("\x1b\x07\u202e\u2066\u200b") & set(path.read_text("utf-8")), path.name


def test_templates_in_server_text_are_not_run(report: Path) -> None:
    page = read(report / "servers" / f"{samples.hostile_dossier().server.id}.html")
    assert "{{7*7}}" in page.text


def test_page_names_come_from_server_ids_only(report: Path) -> None:
    names = {path.stem for path in (report / "servers").iterdir()}
    assert names == {dossier.server.id for dossier in [*samples.dossiers(30), samples.hostile_dossier()]}


def test_an_unsandboxed_server_is_on_no_page(report: Path) -> None:
    assert all("secret-server" not in path.read_text("utf-8") for path in report.rglob("*.html"))


def test_a_page_forbids_everything_but_its_own_style(report: Path) -> None:
    for path in report.rglob("*.html"):
        assert "default-src 'none'" in path.read_text("utf-8")


def test_a_server_page_has_every_line_with_its_place_and_reason(make_store: Make, tmp_path: Path) -> None:
    dossier = samples.dossiers(3)[2]
    write_report(make_store([dossier]), samples.RUN.id, tmp_path / "r", naming=NAMING)
    text = read(tmp_path / "r" / "servers" / f"{dossier.server.id}.html").text
    for card in samples.cards(dossier):
        for line in card.lines:
            assert line.cites in text
            assert line.at in text
            assert line.why in text
    assert dossier.records["listing"].digest in text
    assert "37.5 %" in text, "effective weight"
    assert "Coverage 40 %" in text


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_says_what_it_means_and_what_to_do(make_store: Make, tmp_path: Path, reason: Reason) -> None:
    dossier = samples.absent_dossier(reason)
    write_report(make_store([dossier]), samples.RUN.id, tmp_path / "r", naming=NAMING)
    text = read(tmp_path / "r" / "servers" / f"{dossier.server.id}.html").text
    assert advice(reason).do.replace("`", "") in text
    assert advice(reason).means[1:] in text
    assert "no score" in text


def test_the_overview_counts_what_could_be_seen(report: Path) -> None:
    text = " ".join(read(report / "index.html").text.split())
    assert "31 MCP servers, 1 March 2026" in text
    assert "22 measured" in text
    assert "4 partial" in text
    assert "5 not testable" in text
    assert "26 of 31 servers have a score" in text
    assert "5 more have one that rests on thin evidence" in text


def test_thin_evidence_never_stands_above_sufficient_evidence(report: Path) -> None:
    order = [link for link in read(report / "servers.html").links if link.startswith("servers/")]
    absent = {f"servers/{dossier.server.id}.html" for dossier in samples.dossiers(30)[5::6]}
    assert set(order[-5:]) == absent


def test_each_column_has_a_page_in_its_order(report: Path) -> None:
    order = [link for link in read(report / "servers-by-lint-1.html").links if link.startswith("servers/")]
    assert len(order) == 31
    assert order != [link for link in read(report / "servers-by-name.html").links if link.startswith("servers/")]


def test_a_long_table_is_split_into_pages(make_store: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("publish.tables.PAGE", 10)
    folder = write_report(make_store(samples.dossiers(25)), samples.RUN.id, tmp_path / "r", naming=NAMING).parent
    linked = [read(folder / name).links for name in ("servers.html", "servers-2.html", "servers-3.html")]
    assert [sum(link.startswith("servers/") for link in links) for links in linked] == [10, 10, 5]
    assert faults_of(folder) == []


def test_the_same_store_gives_the_same_bytes(make_store: Make, tmp_path: Path) -> None:
    store = make_store(samples.dossiers(8))
    first = write_report(store, samples.RUN.id, tmp_path / "a", naming=NAMING).parent
    second = write_report(store, samples.RUN.id, tmp_path / "b", naming=NAMING).parent
    assert contents(first) == contents(second)


def test_an_earlier_report_is_replaced_and_other_files_are_not(make_store: Make, tmp_path: Path) -> None:
    write_report(make_store(samples.dossiers(8)), samples.RUN.id, tmp_path / "r", naming=NAMING)
    fewer = make_store(samples.dossiers(2))
    write_report(fewer, samples.RUN.id, tmp_path / "r", naming=NAMING)
    assert len(list((tmp_path / "r" / "servers").iterdir())) == 2
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("precious")
    with pytest.raises(FolderTaken, match="another folder"):
        write_report(fewer, samples.RUN.id, tmp_path / "mine", naming=NAMING)
    assert (tmp_path / "mine" / "index.html").read_text() == "precious"


def test_a_run_without_servers_has_a_report(make_store: Make, tmp_path: Path) -> None:
    folder = write_report(make_store([]), samples.RUN.id, tmp_path / "r", naming=NAMING).parent
    assert faults_of(folder) == []


def test_the_report_of_a_small_run_is_as_reviewed(
    make_store: Make, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Refresh with `HALLMARK_REGEN=1` and review the diff."""
    dossiers = [samples.dossiers(5)[4], samples.absent_dossier(Reason.START_FAILED, "exit 1")]
    folder = write_report(make_store(dossiers), samples.RUN.id, tmp_path / "r", naming=NAMING).parent
    made = {name: text for name, text in contents(folder).items() if name.endswith(".html") and "-by-" not in name}
    if os.environ.get("HALLMARK_REGEN"):
        for name, text in made.items():
            (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / name).write_bytes(text)
    assert made == {name: (GOLDEN / name).read_bytes() for name in made}
    assert len(list(GOLDEN.rglob("*.html"))) == len(made)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }
