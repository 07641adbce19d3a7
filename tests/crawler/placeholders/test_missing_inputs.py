"""What a server says that it misses is read out of its own words, and nothing else is."""

from __future__ import annotations

import pytest

from crawler.placeholders import find_named_inputs
from evidence.package_inputs import InputPlace
from tests.durations import cpu_below


def names(said: str) -> list[str]:
    return [asked.name for asked in find_named_inputs(said)]


def places(said: str) -> list[tuple[InputPlace, str]]:
    return [(asked.place, asked.name) for asked in find_named_inputs(said)]


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("Please set CHAT_BOT_TOKEN and CHAT_TEAM_ID environment variables", ["CHAT_BOT_TOKEN", "CHAT_TEAM_ID"]),
        ("Error: SEARCH_API_KEY environment variable is required", ["SEARCH_API_KEY"]),
        ("EVERYART_API_KEY environment variable is not set", ["EVERYART_API_KEY"]),
        ("Log in first, or pass `--access-token` / `SENTRY_TOKEN`.", ["SENTRY_TOKEN"]),
        ("No API key provided. Set it in the `TABLE_API_KEY` environment variable", ["TABLE_API_KEY"]),
        ("\x1b[31mERROR\x1b[39m ACTOR_TOKEN is required but not set", ["ACTOR_TOKEN"]),
        ("TOKEN environment variable is not set", ["TOKEN"]),
        ("Either MUSIC_ID or MUSIC_TOKEN must be set", ["MUSIC_ID"]),
        ("Provide a token with the --access-token flag or set the BASE_TOKEN environment variable", ["BASE_TOKEN"]),
        ("KeyError: 'NOTES_TOKEN'", ["NOTES_TOKEN"]),
        ("Missing required environment variables:\n  - A_URL\n  • A_TOKEN: of yours\nBye\n", ["A_URL", "A_TOKEN"]),
        ("1 validation error for StoreSettings\nstore_url\n  Field required [type=missing]", ["STORE_URL"]),
        ("1 validation error for Args\nSTORE_URL\n  Field required [type=missing]", ["STORE_URL"]),
        ('[{\n"path": [\n  "API_KEY"\n],\n"message": "Required"}]', ["API_KEY"]),
        ("✖ Invalid input: expected string, received undefined\n  → at API_KEY", ["API_KEY"]),
    ],
)
def test_variables_are_read_from_sentences_lists_and_errors_of_settings(said: str, wanted: list[str]) -> None:
    assert places(said) == [(InputPlace.ENVIRONMENT, name) for name in wanted]


@pytest.mark.parametrize(
    ("said", "serving"),
    [
        ("Usage: x COMMAND\n\nCommands:\n  index  Index it.\n  serve  Start it.\n", ("serve",)),
        ("Commands:\n  start  Start.\n  mcp [options]  Start the server\n                 here.\n", ("mcp", "start")),
        ("╭─ Commands ─────────────╮\n│ login    Log in.       │\n│ stdio    Start it.     │\n", ("stdio",)),
        ("usage: x [-h] {index,serve} ...\n", ("serve",)),
        ("Commands:\n  index  Index it.\n\nNotes:\n  serve  is no command.\n", ()),
        ("it can serve {start,stop}\n", ()),
        ("usage: x [-h] [--mode {stdio,http}] [--log {start,run}] folder\n", ()),
        ("usage: x --mode {stdio,http}\n", ()),
        ("Commands:\n  stop   Stop the\n         server  that is up\n", ()),
    ],
)
def test_the_command_that_starts_a_server_is_read_from_a_help_text(said: str, serving: tuple[str, ...]) -> None:
    assert [asked.choices for asked in find_named_inputs(said)] == ([serving] if serving else [])


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("x: error: the following arguments are required: --store/-s, path", [("option", "--store"), ("word", "path")]),
        ("│ Missing option '--api-key' / '-k'.            │", [("option", "--api-key")]),
        ("│ Missing option '--api-key' (env var: 'X_KEY'). │", [("environment", "X_KEY")]),
        ("Error: Missing argument 'DIRECTORY'.", [("word", "DIRECTORY")]),
        ("error: required option '-k, --api-key <key>' not specified", [("option", "--api-key")]),
        ("error: missing required argument 'path'", [("word", "path")]),
        ("Missing required arguments: api-key, url", [("option", "--api-key"), ("option", "--url")]),
        ("Please provide a database URL as a command-line argument", [("word", "database URL")]),
        ("Usage: files <folder> --at <url> [--more <x>] [others...]", [("option", "--at"), ("word", "folder")]),
        ("Required arguments are missing:\n  - folder: of notes\n   use --folder\n", [("option", "--folder")]),
    ],
)
def test_arguments_are_read_from_what_parsers_of_command_lines_say(said: str, wanted: list[tuple[str, str]]) -> None:
    assert [(place.value, name) for place, name in places(said)] == wanted


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Error: Cannot find module 'x'\n  code: 'MODULE_NOT_FOUND', required by ERR_MODULE_NOT_FOUND",
        "Warning: LOG_FORMAT is not set, falling back to text",
        "TOOL_SETS is not set: the default is all",
        "NODE_OPTIONS is required and LD_PRELOAD must be set, and so must PATH",
        "Server runs on MAX_SPEED",
        "Required: " + " ".join(f"NAME_{letter}" for letter in "ABCDEFGHIJKLMN"),
        "pass it as an argument: it is required as a command-line argument",
        "run it with --help, --verbose is required",
        "      --tls-key string   The key. Must be used together with --tls-cert, required",
        "Required arguments are missing:\n  - api: of an address\n  use --api-key",
        "The following can be set:\n  - help: show this (--help)",
        "Missing:\n  - folder: optional, --folder",
        "Please provide one of the following:\n  - stdio: with --stdio\n  - http: with --http",
    ],
)
def test_nothing_is_read_where_it_is_not_clear_what_is_missing(said: str) -> None:
    assert names(said) == []


@pytest.mark.parametrize(
    "piece",
    ["A_B is required ", "A_", "usage: <a ", "Missing option '", '"path": [ "', "provide a ", "required: -", "no no "],
)
def test_hostile_texts_take_time_in_proportion_to_their_length(piece: str) -> None:
    with cpu_below(6):
        for said in (piece * 100_000, f"{piece * 40}\n" * 2_000):
            find_named_inputs(said)
