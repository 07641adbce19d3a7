"""A placeholder fits what is asked for, means nothing, is nobody's, and is always the same."""

from __future__ import annotations

import re

import pytest

from crawler.configuring import named_in
from crawler.configuring.kinds import Kind, kind_of
from crawler.configuring.placeholders import placeholder
from evidence.derive.secrets import Scanner, own_rules
from evidence.inputs import Input, Place

KNOWN = {
    "SLACK_BOT_TOKEN": r"xoxb-[0-9]+-[0-9]+-\w{24}",
    "SLACK_TEAM_ID": r"T[0-9A-Z]{8}",
    "GITHUB_PERSONAL_ACCESS_TOKEN": r"ghp_[A-Za-z0-9]{36}",
    "GITLAB_TOKEN": r"glpat-\w{20}",
    "OPENAI_API_KEY": r"sk-\w{48}",
    "STRIPE_SECRET_KEY": r"sk_test_\w{24}",
    "AWS_ACCESS_KEY_ID": r"AKIA[A-Z0-9]{16}",
    "AWS_SECRET_ACCESS_KEY": r"\w{40}",
    "GOOGLE_MAPS_API_KEY": r"AIza\w{35}",
    "TWILIO_ACCOUNT_SID": r"AC[0-9a-f]{32}",
    "TELEGRAM_BOT_TOKEN": r"[0-9]{10}:\w{35}",
    "WALLET_PRIVATE_KEY": r"0x[0-9a-f]{63}[1-9a-f]",
    "ANYTHING_API_KEY": r"[0-9a-f]{32}",
}


def variable(name: str, **members: object) -> Input:
    return Input(place=Place.ENVIRONMENT, name=name, **members)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "form"), KNOWN.items())
def test_a_secret_has_the_form_that_its_issuer_documents(name: str, form: str) -> None:
    assert re.fullmatch(form, placeholder(variable(name, secret=name != "SLACK_TEAM_ID"))[1])


@pytest.mark.parametrize("name", [*KNOWN, "NOTION_TOKEN", "HUBSPOT_TOKEN", "SENTRY_TOKEN", "DATABASE_URL", "API_URL"])
def test_our_own_scanner_reports_no_placeholder_that_a_server_echoes(name: str) -> None:
    scanner, value = Scanner(own_rules()), placeholder(variable(name))[1]
    for form in ("{n}={v}", '"{n}": "{v}"', "const key = '{v}'", "Bearer {v}", "invalid key {v} for {n}"):
        said = form.format(n=name, v=value).encode()
        assert scanner.scan(said, "src/main.ts", salt=b"0123456789abcdef") == ()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("API_KEY", Kind.SECRET),
        ("--api-key", Kind.SECRET),
        ("accessToken", Kind.SECRET),
        ("DB_PASSWORD", Kind.SECRET),
        ("TOKEN_URL", Kind.URL),
        ("BASE_URL", Kind.URL),
        ("DATABASE_URL", Kind.DATABASE),
        ("REDIS_URL", Kind.DATABASE),
        ("DB_PORT", Kind.PORT),
        ("ES_HOST", Kind.HOST),
        ("USER_EMAIL", Kind.EMAIL),
        ("AWS_REGION", Kind.REGION),
        ("NOTES_DIR", Kind.FOLDER),
        ("KEY_FILE", Kind.FILE),
        ("MAX_TOKENS", Kind.NUMBER),
        ("AZURE_TENANT_ID", Kind.UUID),
        ("READ_ONLY", Kind.BOOLEAN),
        ("START_DATE", Kind.DATE),
        ("PROJECT_NAME", Kind.TEXT),
    ],
)
def test_a_name_tells_the_kind(name: str, kind: Kind) -> None:
    assert kind_of(variable(name)) is kind


@pytest.mark.parametrize(
    ("members", "kind"),
    [
        ({"format": "number"}, Kind.NUMBER),
        ({"format": "boolean"}, Kind.BOOLEAN),
        ({"format": "filepath"}, Kind.FILE),
        ({"format": "filepath", "hint": "the folder with notes"}, Kind.FOLDER),
        ({"hint": "https://your-site.example.com"}, Kind.URL),
        ({"hint": "your-api-key-here"}, Kind.SECRET),
        ({"hint": "6667"}, Kind.NUMBER),
        ({"secret": True}, Kind.SECRET),
        ({"choices": ("a", "b")}, Kind.CHOICE),
        ({}, Kind.TEXT),
    ],
)
def test_a_declaration_tells_the_kind_where_the_name_does_not(members: dict[str, object], kind: Kind) -> None:
    assert kind_of(variable("THING", **members)) is kind


def test_a_form_gets_a_placeholder_for_each_variable() -> None:
    parts = (variable("user"), variable("region"), variable("token", secret=True))
    asked = variable("ADDRESS", form="https://{user}:{token}@{region}.example.com", variables=parts)
    assert placeholder(asked) == (Kind.FORM, f"https://example:{'0' * 32}@us-east-1.example.com")


def test_a_hint_tells_what_a_secret_begins_with() -> None:
    asked = variable("API_KEY", hint="Your key (starts with 'zz_')")
    assert placeholder(asked)[1] == "zz_" + "0" * 32


def test_the_package_tells_what_a_name_leaves_open() -> None:
    assert placeholder(variable("API_KEY"), "tavily-mcp")[1].startswith("tvly-")
    assert placeholder(variable("CONNECTION_STRING"), "mongodb-server")[1].startswith("mongodb://")


def test_what_is_said_of_several_options_tells_the_kind_of_none() -> None:
    found = named_in("x: error: the following arguments are required: --account, --password")
    assert [kind_of(asked) for asked in found] == [Kind.TEXT, Kind.SECRET]


def test_addresses_lead_nowhere() -> None:
    for name in ("API_URL", "DATABASE_URL", "MONGODB_URI", "REDIS_URL", "DB_HOST"):
        assert "example.invalid" in placeholder(variable(name))[1]
