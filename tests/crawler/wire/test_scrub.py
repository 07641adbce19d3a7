"""Secrets do not survive in what is kept of a server's output."""

from __future__ import annotations

import time

import pytest

from crawler.wire.scrub import scrub


@pytest.mark.parametrize(
    "text",
    [
        "API_KEY=hunter2", "api-key: hunter2", '{"token": "hunter2 and more"}', "password is hunter2",
        "PGPASSWORD='hunter2'", "Authorization: Bearer hunter2hunter2", "using Bearer hunter2hunter2", "postgres://joe:hunter2@db.example/x",
        "key hunter2abcdefghijklmnopqrstuvwxyz", "GITHUB_TOKEN=hunter2", "client_secret=hunter2",
    ],
)  # fmt: skip
def test_a_secret_is_masked(text: str) -> None:
    assert "hunter2" not in scrub(f"starting\n{text}\nstopped")


def test_ordinary_words_are_kept() -> None:
    text = "ModuleNotFoundError: No module named 'notes'\n  File \"/app/main.py\", line 17"

    assert scrub(text) == text


@pytest.mark.parametrize("piece", ["a", "token", "x://", "key=", "A1", "token ", "bearer "])
def test_hostile_text_is_scrubbed_in_linear_time(piece: str) -> None:
    text = piece * 25_000
    began = time.process_time()

    assert len(scrub(text)) <= 2048
    assert time.process_time() - began < 1
