"""What a probe keeps of the wire is bounded, however much a server sends."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from crawler.http.failures import TooLarge
from crawler.mcp import jsonrpc
from crawler.mcp.transcript import (
    MAX_EXCHANGE_BYTES,
    MAX_PIECES,
    MAX_PROBE_BYTES,
    REDIRECTED,
    Exchange,
    Piece,
    Transcript,
    append_pieces,
    message_piece,
)
from evidence.canonical import sha256

MIB = 1024 * 1024


def exchange(*pieces: Piece, body: bytes = b"", status: int | None = None) -> Exchange:
    return Exchange(
        transport="stdio",
        method="tools/list",
        request=b"{}",
        began=0.0,
        seconds=0.1,
        body=body,
        status=status,
        received=pieces,
    )


def answer(size: int) -> Piece:
    [message] = jsonrpc.read_messages(b'{"jsonrpc":"2.0","id":1,"result":"' + b"x" * (size - 2) + b'","more":true}')
    return message_piece(message)


def test_a_transcript_of_large_answers_stays_small() -> None:
    transcript = Transcript()
    for _ in range(100):
        transcript.add(exchange(answer(MIB), body=b"x" * MIB))
        transcript.add(exchange(*[answer(60_000)] * 500))

    kept = [sum(piece.kept for piece in one.received) for one in transcript.exchanges]
    assert max(kept) <= MAX_EXCHANGE_BYTES <= 64 * 1024
    assert sum(kept) == transcript.retained <= MAX_PROBE_BYTES <= MIB
    assert max(len(one.received) for one in transcript.exchanges) <= MAX_PIECES
    assert [one["bytes"] for one in transcript.summary()][::2] == [MIB] * 100
    assert not any(one.body for one in transcript.exchanges)


@pytest.mark.parametrize("size", [2, MAX_EXCHANGE_BYTES // 2, MAX_EXCHANGE_BYTES + 1])
def test_a_result_is_kept_whole_or_by_its_digest(size: int) -> None:
    transcript, piece = Transcript(), answer(size)
    transcript.add(exchange(piece))

    [kept] = transcript.exchanges[0].received
    assert kept.size == size
    assert piece.result is not None
    expected = (piece.result, "") if size < MAX_EXCHANGE_BYTES else (None, sha256(piece.result))
    assert (kept.result, kept.digest) == expected
    assert kept.before + kept.after == b'{"jsonrpc":"2.0","id":1,"result":,"more":true}'


def test_the_reply_in_hand_keeps_the_whole_body() -> None:
    whole = exchange(body=b"x" * MIB)
    Transcript().add(whole)

    assert len(whole.body) == MIB


def test_a_repeated_question_has_its_last_answer_and_a_followed_redirect_its_own_row() -> None:
    transcript = Transcript()
    for statuses in ([503], [308, 200]):
        since = len(transcript.exchanges)
        for status in statuses:
            transcript.add(exchange(status=status))
        transcript.name(since, "discover", 0, 0)

    assert {(row.step, row.exchange.status) for row in transcript.rows} == {("discover", 200), (REDIRECTED, 308)}


def test_the_answer_is_kept_behind_any_number_of_notifications() -> None:
    [notice] = jsonrpc.read_messages(b'{"jsonrpc":"2.0","method":"notifications/message"}')
    pieces: list[Piece] = []

    append_pieces(pieces, [*[message_piece(notice)] * 500, answer(10), answer(20)])

    assert len(pieces) == MAX_PIECES
    assert [piece.size for piece in pieces if piece.is_answer] == [10]


def test_a_failure_that_is_kept_does_not_keep_the_frames_that_hold_the_body() -> None:
    transcript = Transcript()
    try:
        raise TooLarge("more than 4194304 bytes")
    except TooLarge as error:
        transcript.add(replace(exchange(), failure=error))

    failure = transcript.exchanges[0].failure
    assert failure is not None
    assert (failure.__traceback__, failure.__context__) == (None, None)
