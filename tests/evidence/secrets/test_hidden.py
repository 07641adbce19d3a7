"""Secrets in an encoding, in escaped text, or in several literals are found, and their contexts show none of them."""

from __future__ import annotations

import base64
import json

import pytest

from evidence.derive.secrets import Finding
from evidence.derive.secrets.joined_literals import MAX_CONSTANT, MAX_JOINED, MAX_SNIPPETS, join_literals
from evidence.derive.secrets.scanner import MAX_DEPTH
from evidence.patterns.secrets.samples import write_sample
from tests.durations import cpu_below
from tests.evidence.secrets.scanners import own_scanner

SCANNER = own_scanner()
TOKEN = write_sample("ghp_<w36>")
KEY = write_sample("<h32>")


def scan(text: str, path: str = "src/app.py") -> tuple[Finding, ...]:
    return SCANNER.scan(text, path, salt=b"a salt")


def encoded(text: str, times: int = 1) -> str:
    for _ in range(times):
        text = base64.b64encode(text.encode()).decode()
    return text


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.py", 'x = 1\ntoken = "{0}" + "{1}"', 2),
        ("a.py", 'token = (\n    "{0}"\n    "{1}"\n)', 2),
        ("a.py", 'token = "{0}" \\\n    "{1}"', 1),
        ("a.py", 'PREFIX = "{0}"\n\ntoken = PREFIX + "{1}"', 3),
        ("a.py", 'PREFIX = "{0}"\ntoken = f"{{PREFIX}}{1}"', 2),
        ("a.ts", "const start = '{0}';\nconst token = `${{start}}{1}`;", 2),
        ("a.js", "const token = '{0}' +\n  '{1}';", 1),
        ("a.php", "$token = '{0}' . '{1}';", 1),
        ("a.lua", 'local token = "{0}" .. "{1}"', 1),
        ("a.go", 'const start = "{0}"\nvar token = start + "{1}"', 2),
    ],
)  # fmt: skip
def test_literals_that_a_program_joins_are_one_secret(path: str, text: str, line: int) -> None:
    (finding,) = scan(text.format(TOKEN[:14], TOKEN[14:]), path)
    (whole,) = scan(TOKEN)
    assert (finding.pattern, finding.line, finding.digest) == ("github-token", line, whole.digest)
    assert TOKEN[20:] not in finding.context


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", 'rows = ["{0}", "{1}"]'),
        ("a.py", 'start = other()\ntoken = start + "{1}"'),
        ("a.md", 'token = "{0}" + "{1}"'),
        ("a.py", 'text = "{0}" + " and then " + "{1}"'),
    ],
)
def test_other_literals_are_not_joined(path: str, text: str) -> None:
    assert [one.pattern for one in scan(text.format(TOKEN[:14], TOKEN[14:]), path) if one.counts] == []


def test_a_secret_that_stands_in_one_literal_is_reported_once() -> None:
    assert [one.line for one in scan(f'a = "{TOKEN}" + "x1"\nb = "ab" + "cd"')] == [1]


@pytest.mark.parametrize("times", [1, 2])
def test_escaped_json_shows_its_secrets(times: int) -> None:
    text = json.dumps({"datadog_api_key": KEY, "region": "eu"})
    for _ in range(times):
        text = json.dumps(text)
    assert [(one.pattern, one.counts) for one in scan(text)] == [("datadog-key", True)]


def test_json_in_an_attribute_of_a_page_shows_its_secrets() -> None:
    (finding,) = scan(f'<div data-props="{{&quot;datadog_api_key&quot;:&quot;{KEY}&quot;}}">', "index.html")
    assert finding.pattern == "datadog-key"


@pytest.mark.parametrize(
    ("text", "provider", "counts"),
    [
        (json.dumps({"user": "app", "api_key": TOKEN}), "GitHub", True),
        (f"USER=app\nDATADOG_API_KEY={KEY}\n", "Datadog", True),
        (json.dumps({"user": "app", "session_secret": write_sample("<w40>")}), "any", False),
    ],
)
def test_text_in_base64_is_seen_through_and_counts_as_its_secret_does(text: str, provider: str, counts: bool) -> None:
    (finding,) = scan(f'config: "{encoded(text)}"', "config.yaml")
    assert (finding.pattern, finding.provider, finding.counts) == ("encoded-text", provider, counts)
    assert encoded(text)[10:30] not in finding.context


def test_encodings_are_seen_through_to_a_bounded_depth() -> None:
    def nested(depth: int) -> str:
        text = TOKEN
        for _ in range(depth):
            text = encoded(json.dumps({"secret": text, "name": "app"}))
        return text

    found = [bool([one for one in scan(f"x: {nested(depth)}") if one.counts]) for depth in range(MAX_DEPTH + 2)]
    assert found == [True] * (MAX_DEPTH + 1) + [False]


@pytest.mark.parametrize(
    "text",
    [
        'x = "a1" + "b2"\n' * 40_000,
        '"a1"\n' * 100_000,
        'A = "a1"\n' * 60_000 + 'b = A + "c3"\n' * 20_000,
        encoded('{"password": "a1b2c3d4e5"}\n' * 400) + " ",
        (encoded('{"secret": "x"}' * 40) + '"\n"') * 800,
    ],
    ids=lambda text: text[:12],
)
def test_a_hostile_text_takes_seconds_at_most(text: str) -> None:
    with cpu_below(20):
        assert len(scan(text)) <= MAX_SNIPPETS * 10


@pytest.mark.parametrize("size", [MAX_CONSTANT, 100_000])
def test_a_constant_that_is_repeated_does_not_multiply_a_file(size: int) -> None:
    text = f'A = "{"a1" * (size // 2)}"\n' + f'x = f"{{A}}aaaaaaaa{"{A}" * 900}"\n' * 3
    assert sum(len(joined) for _, joined in join_literals(text.encode(), "a.py")) <= 3 * MAX_JOINED
