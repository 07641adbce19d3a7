"""The static report: the site's pages as files, complete, harmless and the same every time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from evidence.model import Dossier
from evidence.store import Store, open_store
from publish.site.static_report import FolderTaken, write_report
from tests.publish import samples
from tests.publish.filled_stores import fill
from tests.publish.reports import faults_of, files_about, pages_about, read, report_of
from tests.sampling import some

Make = Callable[[Sequence[Dossier]], Store]
HOSTILE = samples.hostile_dossier()
SEEN = [*samples.dossiers(7), HOSTILE]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Store]:
    path = shutil.copy(sqlite_template, tmp_path_factory.mktemp("store") / "hallmark.db")
    with closing(open_store(f"sqlite:///{path}")) as opened:
        fill(opened, [*SEEN, samples.unsandboxed_dossier()])
        yield opened


@pytest.fixture(scope="module")
def report(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_of(store, tmp_path_factory.mktemp("report"))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def app(pages: Mapping[str, str]) -> Starlette:
    """A site of these pages, by address with its query."""

    async def answer(request: Request) -> Response:
        query = f"?{request.url.query}" if request.url.query else ""
        body = pages.get(request.url.path + query)
        if body is None:
            return Response(status_code=404)
        if request.url.path.startswith("/static/"):
            return Response(body, media_type="text/css")
        return HTMLResponse(f'<head><meta charset="utf-8"></head>{body}')

    made = Starlette()
    made.add_route("/{path:path}", answer)
    return made


def test_every_page_is_well_formed_and_every_link_leads_somewhere(report: Path) -> None:
    assert faults_of(report) == []


@pytest.mark.parametrize(
    "broken",
    some(
        [
            "<p><b></p></b>",
            "<i id=a></i><i id=a></i>",
            "<a href='gone.html'>x</a>",
            "<script>1</script>",
            "<img src=//x.example>",
        ],
        2,
    ),
)
def test_the_page_check_notices(report: Path, tmp_path: Path, broken: str) -> None:
    folder = shutil.copytree(report, tmp_path / "broken")
    (folder / "index.html").write_text(f"<html><body>{broken}</body></html>")
    assert any(fault.startswith("index.html") for fault in faults_of(folder))


def test_a_report_has_an_index_a_list_in_each_order_and_pages_of_each_server(report: Path) -> None:
    assert f"{len(SEEN)} MCP servers" in " ".join(read(report / "index.html").text.split())
    ids = {dossier.server.id for dossier in SEEN}
    assert {path.stem for path in (report / "servers").glob("*.html")} == ids
    orders = [
        [link for link in read(path).links if link.startswith("servers/srv_")] for path in report.glob("servers*.html")
    ]
    assert {frozenset(order) for order in orders} == {frozenset(f"servers/{one}.html" for one in ids)}
    assert len({tuple(order) for order in orders}) > 2


def test_a_hostile_server_reaches_no_page_raw(report: Path) -> None:
    seen = pages_about(report, HOSTILE.server.id)
    assert samples.SCRIPT in seen.text, "shown as text"
    assert "{{7*7}}" in seen.text, "templates in a server's text are not run"
    assert "⟨U+202E⟩" in seen.text
    assert "⟨U+001B⟩" in seen.text
    for path in report.rglob("*.html"):
        raw = path.read_text("utf-8")
        assert samples.SCRIPT not in raw
        assert not set("\x1b\x07\u202e\u2066\u200b") & set(raw), path.name


def test_an_unsandboxed_server_is_on_no_page(report: Path) -> None:
    assert all("secret-server" not in path.read_text("utf-8") for path in report.rglob("*.html"))


def test_a_page_forbids_everything_but_its_own_style(report: Path) -> None:
    for path in report.rglob("*.html"):
        assert "default-src 'none'" in path.read_text("utf-8")


def test_the_pages_of_a_server_have_every_line_with_its_place_and_reason(report: Path) -> None:
    text = pages_about(report, SEEN[2].server.id).text
    for card in samples.cards(SEEN[2]):
        for line in card.lines:
            assert line.cites in text
            assert line.at in text
            assert line.why in text
    assert SEEN[2].records["listing"].digest in text


def test_the_same_store_gives_the_same_bytes(report: Path, store: Store, tmp_path: Path) -> None:
    assert contents(report_of(store, tmp_path / "again")) == contents(report)


def test_a_run_without_servers_has_a_report(make_store: Make, tmp_path: Path) -> None:
    assert faults_of(report_of(make_store([]), tmp_path / "r")) == []


def test_links_are_relative_and_lead_to_files(tmp_path: Path) -> None:
    pages = {
        "/": '<link href="/static/1a/a.css"><a class="x" href="/servers?state=bad&amp;x=1">some</a> '
        '<a href="/servers">all</a><a href="/about">about</a>',
        "/static/1a/a.css": "p {}",
        "/servers": '<a href="/servers/srv_1#top">1</a><a rel="next" href="?after=b">on</a>'
        '<a href="?sort=name">by name</a>',
        "/servers?after=b": '<a href="/servers/srv_2">2</a><a href="/servers?after=b&amp;sort=x">other</a>',
        "/servers?sort=name": '<a href="/servers/srv_2">2</a>',
        "/servers/srv_1": '<a href="/rules/r">rule</a><a href="/servers/srv_1/control">mine</a>'
        '<p><a href="/compare?server=srv_1">compare</a></p><p><a href="/rules/r">only rule</a></p>'
        '<form action="/servers/srv_1"><a href="/about">x</a></form><a href="https://other.example/">out</a>'
        '<a href="/servers/srv_1/tools#a&amp;b">tools</a><a href="/gone">gone</a><a href="#here">here</a>',
        "/servers/srv_1/tools": '<a href="/servers/srv_1">back</a><a href="?page=2#x">more</a>',
        "/servers/srv_1/tools?page=2": '<a href="/servers/srv_1/tools?page=1#x">first</a>',
        "/servers/srv_1/control": "live",
        "/servers/srv_2": "",
        "/rules/r": '<a href="/rules/s">not followed</a><a href="/">home</a>',
        "/rules/s": "",
        "/about": '<nav><a href="/">home</a><a href="/status">live</a></nav>',
    }
    folder = write_report(app(pages), tmp_path / "r").parent
    made = {name: body.decode().partition("</head>")[2] for name, body in contents(folder).items()}
    assert made.keys() == {
        ".hallmark-report",
        "about.html",
        "index.html",
        "rules/r.html",
        "servers-2.html",
        "servers-3.html",
        "servers.html",
        "servers/srv_1.html",
        "servers/srv_1/tools-2.html",
        "servers/srv_1/tools.html",
        "servers/srv_2.html",
        "static/a.css",
    }
    assert (
        made["index.html"]
        == '<link href="static/a.css"><span>some</span> <a href="servers.html">all</a><a href="about.html">about</a>'
    )

    assert made["servers.html"] == (
        '<a href="servers/srv_1.html#top">1</a><a rel="next" href="servers-2.html">on</a>'
        '<a href="servers-3.html">by name</a>'
    )
    assert made["servers-2.html"] == '<a href="servers/srv_2.html">2</a><span>other</span>'
    assert made["servers/srv_1.html"] == (
        '<a href="../rules/r.html">rule</a><span>mine</span>'
        '<p><a href="../rules/r.html">only rule</a></p><a href="https://other.example/">out</a>'
        '<a href="srv_1/tools.html#a&amp;b">tools</a><span>gone</span><a href="#here">here</a>'
    )
    assert made["servers/srv_1/tools.html"].endswith('<a href="tools-2.html#x">more</a>')
    assert made["servers/srv_1/tools-2.html"] == '<a href="tools.html#x">first</a>'
    assert made["about.html"] == '<nav><a href="index.html">home</a></nav>'
    assert made["rules/r.html"] == '<span>not followed</span><a href="../index.html">home</a>'


def test_an_earlier_report_is_replaced_and_other_files_are_not(tmp_path: Path) -> None:
    write_report(app({"/": '<a href="/servers">s</a>', "/servers": ""}), tmp_path / "r")
    write_report(app({"/": "only"}), tmp_path / "r")
    assert sorted(contents(tmp_path / "r")) == [".hallmark-report", "index.html"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("precious")
    with pytest.raises(FolderTaken, match="another folder"):
        write_report(app({"/": ""}), tmp_path / "mine")
    assert (tmp_path / "mine" / "index.html").read_text() == "precious"


@pytest.mark.parametrize("link", ["/rules/../../x", "/rules/%2e%2e/x", "//rules/x", "/rules/a b", "/servers/..", "/.x"])
def test_no_address_leads_out_of_the_folder(tmp_path: Path, link: str) -> None:
    write_report(app({"/": f'<a href="{link}">x</a>', "/x": "", link: ""}), tmp_path / "r")
    assert {path.parent for path in tmp_path.rglob("*") if path.is_file()} == {tmp_path / "r"}


def test_a_site_that_fails_gives_no_report(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="404"):
        write_report(app({}), tmp_path / "r")


def test_files_about_a_server_are_found(report: Path) -> None:
    assert len(files_about(report, HOSTILE.server.id)) > 10
