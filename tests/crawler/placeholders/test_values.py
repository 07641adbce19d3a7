"""A placeholder fits the requested format, means nothing, belongs to no person, and is always the same."""

from __future__ import annotations

import re

import pytest

from crawler.placeholders import find_named_inputs
from crawler.placeholders.input_kinds import PlaceholderKind, choose_kind
from crawler.placeholders.values import make_placeholder
from evidence.package_inputs import InputPlace, PackageInput
from tests.evidence.secrets.scanners import own_scanner

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


def variable(name: str, **members: object) -> PackageInput:
    return PackageInput(place=InputPlace.ENVIRONMENT, name=name, **members)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "form"), KNOWN.items())
def test_a_secret_has_the_form_that_its_issuer_documents(name: str, form: str) -> None:
    assert re.fullmatch(form, make_placeholder(variable(name, secret=name != "SLACK_TEAM_ID"))[1])


@pytest.mark.parametrize("name", [*KNOWN, "NOTION_TOKEN", "HUBSPOT_TOKEN", "SENTRY_TOKEN", "DATABASE_URL", "API_URL"])
def test_our_own_scanner_reports_no_placeholder_that_a_server_echoes(name: str) -> None:
    scanner, value = own_scanner(), make_placeholder(variable(name))[1]
    for form in ("{n}={v}", '"{n}": "{v}"', "const key = '{v}'", "Bearer {v}", "invalid key {v} for {n}"):
        said = form.format(n=name, v=value).encode()
        assert scanner.scan(said, "src/main.ts", salt=b"0123456789abcdef") == ()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("API_KEY", PlaceholderKind.SECRET),
        ("--api-key", PlaceholderKind.SECRET),
        ("accessToken", PlaceholderKind.SECRET),
        ("DB_PASSWORD", PlaceholderKind.SECRET),
        ("TOKEN_URL", PlaceholderKind.URL),
        ("BASE_URL", PlaceholderKind.URL),
        ("DATABASE_URL", PlaceholderKind.DATABASE),
        ("REDIS_URL", PlaceholderKind.DATABASE),
        ("DB_PORT", PlaceholderKind.PORT),
        ("ES_HOST", PlaceholderKind.HOST),
        ("USER_EMAIL", PlaceholderKind.EMAIL),
        ("AWS_REGION", PlaceholderKind.REGION),
        ("NOTES_DIR", PlaceholderKind.FOLDER),
        ("KEY_FILE", PlaceholderKind.FILE),
        ("MAX_TOKENS", PlaceholderKind.NUMBER),
        ("AZURE_TENANT_ID", PlaceholderKind.UUID),
        ("READ_ONLY", PlaceholderKind.BOOLEAN),
        ("START_DATE", PlaceholderKind.DATE),
        ("PROJECT_NAME", PlaceholderKind.TEXT),
    ],
)
def test_a_name_tells_the_kind(name: str, kind: PlaceholderKind) -> None:
    assert choose_kind(variable(name)) is kind


@pytest.mark.parametrize(
    ("members", "kind"),
    [
        ({"format": "number"}, PlaceholderKind.NUMBER),
        ({"format": "boolean"}, PlaceholderKind.BOOLEAN),
        ({"format": "filepath"}, PlaceholderKind.FILE),
        ({"format": "filepath", "hint": "the folder with notes"}, PlaceholderKind.FOLDER),
        ({"hint": "https://your-site.example.com"}, PlaceholderKind.URL),
        ({"hint": "your-api-key-here"}, PlaceholderKind.SECRET),
        ({"hint": "6667"}, PlaceholderKind.NUMBER),
        ({"secret": True}, PlaceholderKind.SECRET),
        ({"choices": ("a", "b")}, PlaceholderKind.CHOICE),
        ({}, PlaceholderKind.TEXT),
    ],
)
def test_a_declaration_tells_the_kind_where_the_name_does_not(
    members: dict[str, object], kind: PlaceholderKind
) -> None:
    assert choose_kind(variable("THING", **members)) is kind


def test_a_form_gets_a_placeholder_for_each_variable() -> None:
    parts = (variable("user"), variable("region"), variable("token", secret=True))
    asked = variable("ADDRESS", form="https://{user}:{token}@{region}.example.com", variables=parts)
    assert make_placeholder(asked) == (PlaceholderKind.FORM, f"https://example:{'0' * 32}@us-east-1.example.com")


def test_a_hint_tells_what_a_secret_begins_with() -> None:
    asked = variable("API_KEY", hint="Your key (starts with 'zz_')")
    assert make_placeholder(asked)[1] == "zz_" + "0" * 32


def test_the_package_tells_what_a_name_leaves_open() -> None:
    assert make_placeholder(variable("API_KEY"), "tavily-mcp")[1].startswith("tvly-")
    assert make_placeholder(variable("CONNECTION_STRING"), "mongodb-server")[1].startswith("mongodb://")


def test_what_is_said_of_several_options_tells_the_kind_of_none() -> None:
    found = find_named_inputs("x: error: the following arguments are required: --account, --password")
    assert [choose_kind(asked) for asked in found] == [PlaceholderKind.TEXT, PlaceholderKind.SECRET]


def test_addresses_lead_nowhere() -> None:
    for name in ("API_URL", "DATABASE_URL", "MONGODB_URI", "REDIS_URL", "DB_HOST"):
        assert "example.invalid" in make_placeholder(variable(name))[1]
