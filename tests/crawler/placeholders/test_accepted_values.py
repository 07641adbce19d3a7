"""Values that a text enumerates are found; ordinary sentences enumerate none."""

from __future__ import annotations

import pytest

from crawler.placeholders.accepted_values import find_accepted_for, find_accepted_values, find_stated_value
from tests.durations import cpu_below


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("Error: unknown environment; accepted environments are: production, sandbox", ("sandbox", "production")),
        ("CHAT_ENVIRONMENT must be either 'dev' or 'live'", ("dev", "live")),
        ("  Input should be 'dev' or 'live' [type=literal_error, input_value='example']", ("dev", "live")),
        ("\"message\": \"Invalid enum value. Expected 'dev' | 'live', received 'example'\",", ("dev", "live")),
        (r'"message": "expected one of \"dev\"|\"live\"", "path": ["CHAT_ENVIRONMENT"]', ("dev", "live")),
        ("x: error: argument --environment: invalid choice: 'example' (choose from sse, stdio)", ("stdio", "sse")),
        ("Invalid value for '--environment': 'example' is not one of 'dev', 'live'.", ("dev", "live")),
        ("option '--environment <x>' is invalid. Allowed choices are dev, live.", ("dev", "live")),
        ('Argument: environment, Given: "example", Choices: "dev", "live"', ("dev", "live")),
    ],
)
def test_an_enumeration_is_read_from_the_line_about_the_input(line: str, values: tuple[str, ...]) -> None:
    assert find_accepted_for(f"starting\n{line}\n", "CHAT_ENVIRONMENT", "example") == values
    assert find_accepted_for(f"starting\n{line}\n", "CHAT_ENVIRONMENT", values[-1]) == ()


@pytest.mark.parametrize(
    "line",
    [
        "CHAT_ENVIRONMENT must be set and exported",
        "a valid environment is required",
        "Please provide a valid environment: it is missing",
    ],
)
def test_an_ordinary_sentence_enumerates_nothing(line: str) -> None:
    assert find_accepted_values(line) == ()


def test_the_value_that_needs_the_least_comes_first() -> None:
    assert find_accepted_values("mode must be one of: server, http, stdio")[:2] == ("stdio", "server")


def test_a_text_that_is_no_number_is_replaced_by_one() -> None:
    for line in (
        "ValueError: could not convert string to float: 'example'",
        "ValueError: invalid literal for int() with base 10: 'example'",
        "Input should be a valid integer, unable to parse string [type=int_parsing, input_value='example']",
        "Input should be a valid boolean, unable to interpret input [type=bool_parsing, input_value='example']",
    ):
        assert find_accepted_for(f"Traceback\n{line}\n", "VOICE_STABILITY", "example") == ("1",)
        assert find_accepted_for(f"Traceback\n{line}\n", "VOICE_STABILITY", "1") == ()


def test_an_enumeration_about_another_input_is_not_used() -> None:
    assert find_accepted_for("--color must be one of: red, blue", "CHAT_ENVIRONMENT", "example") == ()


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        ("Environment (dev|live)", "dev"),
        ("The environment: dev or live", "dev"),
        ("Name of the index, e.g. my-index.", "my-index"),
        ("Name of the index (default: main)", "main"),
        ("The index. For example 'my index' is one", "my index"),
        ("for example the name of an index", ""),
        ("Name of the index", ""),
    ],
)
def test_a_description_names_a_value(hint: str, value: str) -> None:
    assert find_stated_value(hint) == value


@pytest.mark.parametrize("piece", ["a, ", "one of ", "'a' | ", "valid ", "(a|"])
def test_hostile_text_is_searched_in_linear_time(piece: str) -> None:
    with cpu_below(2):
        find_accepted_for(f"{piece * 200}\n" * 1000, "CHAT_MODE", "example")
        find_stated_value(piece * 50_000)
