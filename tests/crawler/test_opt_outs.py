"""An opt-out matches a server by any of its names, and matches no other server."""

from __future__ import annotations

import pytest

from crawler.opt_outs import InvalidOptOuts, OptOutList, OptOutScope, parse_entries
from evidence.model import Absent, Reason, Server, Target, TargetType

TEXT = """
# Asked by mail in November.
example.com
domain: Example.ORG.   # with everything below
host: mcp.example.net
server: io.example/weather
server: npm:@example/server

"""


def server(*urls: str, name: str = "io.other/one", ref: str = "") -> Server:
    targets = tuple(Target(type=TargetType.STREAMABLE_HTTP, identifier=url) for url in urls)
    return Server(ref=ref or (urls[0] if urls else name), name=name, targets=targets)


@pytest.mark.parametrize(
    "found",
    [
        server("https://example.com/mcp"),
        server("https://deep.mcp.example.com:8443/x"),
        server("https://EXAMPLE.org/mcp"),
        server("https://mcp.example.net/mcp"),
        server("https://elsewhere.example/mcp", "https://mcp.example.net/sse"),
        server("https://elsewhere.example/mcp", name="io.example/weather"),
        server(ref="npm:@example/server"),
    ],
)
def test_a_server_is_found_by_whatever_names_it(found: Server) -> None:
    why = OptOutList.parse(TEXT).why(found)
    assert isinstance(why, Absent)
    assert why.reason is Reason.OPTED_OUT
    assert "opted out of being measured" in why.detail


@pytest.mark.parametrize(
    "other",
    [
        server("https://notexample.com/mcp"),
        server("https://example.com.evil.example/mcp"),
        server("https://other.example.net/mcp"),
        server("https://deep.mcp.example.net/mcp"),
        server("https://elsewhere.example/example.com"),
        server("not a url at all"),
        server(name="io.example/weather-2"),
    ],
)
def test_others_are_not_taken_for_it(other: Server) -> None:
    assert OptOutList.parse(TEXT).why(other) is None


def test_a_server_is_found_by_its_id() -> None:
    one = server("https://elsewhere.example/mcp")
    assert OptOutList([(OptOutScope.SERVER, one.id)]).why(one) is not None


def test_lists_add_up() -> None:
    both = OptOutList.parse("a.example") | OptOutList([(OptOutScope.HOST, "b.example")])
    assert len(both) == 2
    assert both.explain_host("a.example")
    assert both.explain_host("b.example")
    assert both.explain_host("c.example") is None
    assert len(OptOutList.parse("")) == 0


@pytest.mark.parametrize(
    "line", ["*", "com", "https://example.com/", "host: a b", "server:", "user-agent: *", "disallow: /", "a@b.example"]
)
def test_a_line_that_cannot_be_heeded_is_an_error(line: str) -> None:
    with pytest.raises(InvalidOptOuts, match="line 2"):
        list(parse_entries(f"a.example\n{line}"))
