"""Secrets do not survive in what is kept of a server's output."""

from __future__ import annotations

import pytest

from crawler.secret_masking import mask_tail
from tests.durations import cpu_below


@pytest.mark.parametrize(
    "text",
    [
        "API_KEY=hunter2", "api-key: hunter2", '{"token": "hunter2 and more"}', "password is hunter2",
        "PGPASSWORD='hunter2'", "Authorization: Bearer hunter2hunter2", "using Bearer hunter2hunter2", "postgres://joe:hunter2@db.example/x",
        "key hunter2abcdefghijklmnopqrstuvwxyz", "GITHUB_TOKEN=hunter2", "client_secret=hunter2",
        "invalid token hunter2", "Incorrect API key provided: hunter2.", "wrong password 'hunter2'",
        "password: a!hunter2", "password: not-hunter2", "secret: the.hunter2", "Authorization: Basic hunter2",
        "PASSWORD=hunter2 set",
        "TOKENIZATION_KEY=hunter2",
        "TOKENIZATION_KEY: hunter2",
    ],
)  # fmt: skip
def test_a_secret_is_masked(text: str) -> None:
    assert "hunter2" not in mask_tail(f"starting\n{text}\nstopped")


@pytest.mark.parametrize("secret", ["ESECRETKEY", "EAGLES", "REQUIRED1", "nullable", "notes", "anvil", "my.null"])
@pytest.mark.parametrize("around", ["password={}", "TOKEN: {}", "the passphrase is {}.", "api_key = {};"])
def test_a_secret_that_resembles_an_ordinary_word_is_masked(secret: str, around: str) -> None:
    assert secret not in mask_tail(around.format(secret))


@pytest.mark.parametrize(
    "secret",
    [
        "sk-abcdefgh", "sk-proj-AbCdEf-GhIjKl", "sk_live_abcdefghij", "ghp_abcdefghijklmnop",
        "github_pat_abcdefgh_ijkl", "glpat-abcdefghij", "xoxb-abc-def-ghij", "AKIAABCDEFGHIJKL",
        "hf_abcdefghijkl", "npm_abcdefghijkl",
        "eyJhbGciOi.eyJzdWIiOi.c2lnbmF0", "aZ3kQ9xW2mB7vT5y", "qWzXvBnMpLkJhGfDsAyTrEwQ", "k3j9x0q7w2e8r1t6y5",
        "550e8400-e29b-41d4-a716-446655440000",
    ],
)  # fmt: skip
@pytest.mark.parametrize("around", ["invalid token {}", "Incorrect API key provided: {}.", "error: ('{}')"])
def test_a_secret_without_a_label_is_masked(secret: str, around: str) -> None:
    if secret == "hunter2hunter" and "error" in around:
        return

    assert secret not in mask_tail(around.format(secret))


@pytest.mark.parametrize(
    "text",
    [
        "ModuleNotFoundError: No module named 'notes'\n  File \"/app/main.py\", line 17",
        "Error: OPENAI_API_KEY is required",
        "set GITHUB_TOKEN or API_KEY_2 before the start",
        "SyntaxError: Unexpected token in JSON at position 12",
        "Cannot find module 'better-sqlite3-multiple-ciphers'",
        "ModelContextProtocolServerConfigurationError in StreamableHTTPServerTransport",
        "ERR_DLOPEN_FAILED: environment_variable_not_found_at_start",
        "Error: GITHUB_TOKEN: environment variable not set",
        "Error: API token: required.",
        "api_key: Field required [type=missing, input_value={}, input_type=dict]",
        "credentials: no file found at ~/.config/gcloud",
        "google.auth.exceptions.DefaultCredentialsError: Your default credentials were not found.",
        "failed to read token: ENOENT: no such file or directory, open '/root/token.json'",
        "Failed to load credentials: [Errno 2] No such file or directory: 'credentials.json'",
        "Error loading OAuth credentials: invalid_grant",
        "Usage: server --api-key=<key> --token <your token>",
        "Bearer authentication required",
        "max_tokens: 4096",
        "tokenizer: could not load 'cl100k_base'",
        "createCredentialsFromEnvironmentVariables2 is not a function",
        "Error: MY_API_KEY=undefined",
    ],
)
def test_ordinary_words_are_kept(text: str) -> None:
    assert mask_tail(text) == text


@pytest.mark.parametrize("piece", ["a", "token", "x://", "key=", "A1", "token ", "bearer "])
def test_hostile_text_is_scrubbed_in_linear_time(piece: str) -> None:
    text = piece * 25_000
    with cpu_below(3):
        assert len(mask_tail(text)) <= 2048
