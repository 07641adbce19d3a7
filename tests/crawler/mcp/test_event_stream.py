"""Server-sent events are the same however the bytes are cut, and cost linear time."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.http.failures import TooLarge
from crawler.mcp.event_stream import Event, EventReader
from crawler.mcp.stdio import LineReader
from tests.durations import cpu_below

STREAM = (
    b": hi\r\n\r\nevent: endpoint\r\ndata: /x\r\n\r\ndata: a\ndata:b\n\n"
    b"id: 1\rdata\rdata: \r\r\nevent: lost\n\ndata: last"
)
EVENTS = [
    Event("endpoint", b"/x"),
    Event("message", b"a\nb"),
    Event("message", b"\n", has_id=True),
    Event("message", b"last"),
]


@given(st.lists(st.integers(min_value=0, max_value=len(STREAM)), max_size=30))
def test_events_do_not_depend_on_how_the_stream_is_cut(cuts: list[int]) -> None:
    reader = EventReader()
    edges = [0, *sorted(cuts), len(STREAM)]

    found = [event for start, end in pairwise(edges) for event in reader.feed(STREAM[start:end])]

    assert found + reader.finish() == EVENTS


def test_a_line_without_end_costs_linear_time() -> None:
    """64 MiB in 16 KiB pieces: the quadratic version took 35 s of CPU."""
    with cpu_below(10):
        lines, events = LineReader(1 << 30), EventReader()
        for _ in range(4096):
            lines.feed(b"x" * 16384)
            events.feed(b"x" * 16384)


@pytest.mark.parametrize("pieces", [[b"x" * 101], [b"x" * 60, b"x" * 60], [b"x" * 200 + b"\n"]])
def test_a_line_past_the_cap_is_too_large(pieces: list[bytes]) -> None:
    reader = LineReader(100)

    with pytest.raises(TooLarge):
        for piece in pieces:
            reader.feed(piece)


def test_lines_are_joined_across_reads() -> None:
    reader = LineReader()

    assert [reader.feed(piece) for piece in (b"a", b"b\nc", b"\n\nd")] == [[], [b"ab"], [b"c", b""]]
    assert reader.finish() == b"d"
