"""What a probe keeps of the wire is bounded, however much a server sends."""

from __future__ import annotations

import pytest

from crawler.wire.transcript import RETAINED, RETAINED_EACH, Exchange, Transcript

MIB = 1024 * 1024


def exchange(body: bytes) -> Exchange:
    return Exchange(transport="stdio", method="tools/list", request=b"{}", began=0.0, seconds=0.1, body=body)


def test_a_transcript_of_large_answers_stays_small() -> None:
    transcript = Transcript()
    for _ in range(100):
        transcript.add(exchange(b"x" * MIB))

    kept = [len(one.body) for one in transcript.exchanges]
    assert max(kept) <= RETAINED_EACH <= 64 * 1024
    assert sum(kept) == transcript.retained <= RETAINED <= MIB
    assert [one["bytes"] for one in transcript.summary()] == [MIB] * 100


@pytest.mark.parametrize("size", [0, 1, RETAINED_EACH - 1, RETAINED_EACH, RETAINED_EACH + 1])
def test_the_beginning_of_a_body_is_kept(size: int) -> None:
    transcript, body = Transcript(), bytes(number % 251 for number in range(size))
    transcript.add(exchange(body))

    [kept] = transcript.exchanges
    assert body.startswith(kept.body)
    assert (len(kept.body), kept.dropped) == (min(size, RETAINED_EACH), max(0, size - RETAINED_EACH))


def test_the_reply_in_hand_keeps_the_whole_body() -> None:
    whole = exchange(b"x" * MIB)
    Transcript().add(whole)

    assert len(whole.body) == MIB
