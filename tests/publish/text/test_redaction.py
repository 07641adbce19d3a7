"""What looks like a credential is taken out of a quotation, and ordinary words stay."""

from __future__ import annotations

import pytest

from publish.text.redaction import REMOVED_TEXT, redact_text
from tests.durations import cpu_below

KEY = "AKIA" + "Q7RZ2MWX5KPL9TBN"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('{"password": "hunter2"}', "hunter2"),
        ('{"data": "{\\"api_key\\":\\"hunter2\\"}"}', "hunter2"),
        ("connect postgres://admin:hunter2@db/x failed", "hunter2"),
        ("DB_PASSWORD=hunter2 is wrong", "hunter2"),
        ("clientSecret: 'hunter2'", "hunter2"),
        ("Authorization: Bearer abcdefghijk.lmn", "abcdefghijk"),
        (f"key {KEY} was refused", KEY),
        ('"message": "failed, token=hunter2 here"', "hunter2"),
    ],
)
def test_a_credential_is_removed(text: str, secret: str) -> None:
    assert secret not in redact_text(text)
    assert REMOVED_TEXT in redact_text(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "abc"}}',
        "API_KEY is required",
        '{"max_tokens": 100, "nextCursor": "eyJh", "author": "somebody"}',
        '{"token": {"type": "string"}}',
        "AKIAIOSFODNN7EXAMPLE",
        "https://example.com/a?b=c",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize("piece", ["a", "a=", "token: ", "x://", '\\"', "bearer ", "eyJ", "token='", "-----BEGIN "])
def test_a_hostile_text_costs_linear_time(piece: str) -> None:
    with cpu_below(20):
        assert redact_text(piece * 50_000)
