"""Configured credentials: what a file may say, and the only addresses to which they go."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from crawler.http.credentials import Credentials, InvalidCredentials, read_credentials
from crawler.http.redaction import MASK
from crawler.http.url import parse_url

TOKEN = "s3cret-token-value"


def read(tmp_path: Path, document: Any, **environment: str) -> Credentials:
    path = tmp_path / "credentials.json"
    path.write_text(json.dumps(document))
    return read_credentials(path, environment.get)


def headers(known: Credentials, url: str, *, private: bool = False) -> tuple[tuple[str, str], ...]:
    found = known.find_credential(parse_url(url), private=private)
    return found.headers_for(parse_url(url)) if found else ()


def test_a_bearer_comes_from_the_environment(tmp_path: Path) -> None:
    known = read(tmp_path, {"https://a.example/mcp": {"bearer_env": "A"}}, A=TOKEN)
    assert headers(known, "https://a.example/mcp") == (("authorization", f"Bearer {TOKEN}"),)


def test_a_bearer_comes_from_a_file_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    known = read(tmp_path, {"https://a.example/mcp": {"bearer_file": "token"}})
    assert headers(known, "https://a.example/mcp") == (("authorization", f"Bearer {TOKEN}"),)


def test_toml_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "credentials.toml"
    path.write_text('["https://a.example"]\nheaders = { X-Api-Key = { env = "A" }, X-Org = { env = "B" } }\n')
    known = read_credentials(path, {"A": TOKEN, "B": "organisation"}.get)
    assert headers(known, "https://a.example/any") == (("x-api-key", TOKEN), ("x-org", "organisation"))


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/mcp",
        "https://A.example:443/mcp/",
        "https://a.example/mcp/deeper?x=y",
        "https://a.example/mcp?x=y",
    ],
)
def test_it_goes_to_its_address_and_below(tmp_path: Path, url: str) -> None:
    assert headers(read(tmp_path, {"https://a.example/mcp": {"bearer_env": "A"}}, A=TOKEN), url)


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/",
        "https://a.example/mcpx",
        "https://a.example/MCP",
        "https://a.example/other/mcp",
        "https://a.example:8443/mcp",
        "https://sub.a.example/mcp",
        "https://a.example.evil.example/mcp",
        "https://evil.example/mcp",
        "http://a.example/mcp",
        "https://a.example/mcp/../admin",
        "https://a.example/mcp/%2e%2e/admin",
        "https://a.example/mcp/%2E./admin",
    ],
)
def test_it_goes_nowhere_else(tmp_path: Path, url: str) -> None:
    known = read(tmp_path, {"https://a.example/mcp": {"bearer_env": "A"}}, A=TOKEN)
    assert headers(known, url) == headers(known, url, private=True) == ()


def test_plain_http_is_for_the_operators_own_network(tmp_path: Path) -> None:
    known = read(tmp_path, {"http://10.0.0.7/mcp": {"bearer_env": "A"}}, A=TOKEN)
    assert headers(known, "http://10.0.0.7/mcp", private=True)
    assert headers(known, "http://10.0.0.7/mcp") == ()


def test_the_longest_key_counts(tmp_path: Path) -> None:
    entries = {"https://a.example": {"bearer_env": "A"}, "https://a.example/b": {"bearer_env": "B"}}
    known = read(tmp_path, entries, A=TOKEN, B="another-token")
    assert headers(known, "https://a.example/b/mcp") == (("authorization", "Bearer another-token"),)
    assert headers(known, "https://a.example/c") == (("authorization", f"Bearer {TOKEN}"),)


def test_what_is_sent_is_redacted_with_and_without_its_scheme(tmp_path: Path) -> None:
    [credential] = read(tmp_path, {"https://a.example": {"bearer_env": "A"}}, A=TOKEN).known
    assert credential.redaction.clean_text(f"Bearer {TOKEN} {TOKEN}") == f"Bearer {MASK} {MASK}"


def test_the_password_of_a_basic_pair_is_redacted(tmp_path: Path) -> None:
    pair = base64.b64encode(b"ann:long-password").decode()
    entry = {"headers": {"Authorization": {"env": "A"}}}
    [credential] = read(tmp_path, {"https://a.example": entry}, A=f"Basic {pair}").known
    assert credential.redaction.clean_text(f"{pair} long-password") == f"{MASK} {MASK}"


def test_no_value_is_shown(tmp_path: Path) -> None:
    known = read(tmp_path, {"https://a.example": {"bearer_env": "A"}}, A=TOKEN)
    assert TOKEN not in repr(known)


ENTRY = {"bearer_env": "A"}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "maps addresses"),
        ({"npm:notes": ENTRY}, "address of a server expected"),
        ({"https://u:p@a.example": ENTRY}, "holds credentials"),
        ({"https://a.example/{x}": ENTRY}, "variable"),
        ({"https://a.example/?key=1": ENTRY}, "without query"),
        ({"https://a.example": {}}, "expected"),
        ({"https://a.example": "token"}, "expected"),
        ({"https://a.example": {"bearer": "token"}}, "expected"),
        ({"https://a.example": {"bearer_env": "A", "bearer_file": "x"}}, "expected"),
        ({"https://a.example": {"headers": {}}}, "expected"),
        ({"https://a.example": {"headers": {"X-Key": "verbatim"}}}, "expected"),
        ({"https://a.example": {"headers": {"Host": {"env": "A"}}}}, "belongs to the transport"),
        ({"https://a.example": {"headers": {"X Key": {"env": "A"}}}}, "not a name of a header"),
        ({"https://a.example": {"headers": {"X-K\u00e9y": {"env": "A"}}}}, "not a name of a header"),
        ({"https://a.example": {"bearer_env": "MISSING"}}, "not there"),
        ({"https://a.example": {"bearer_file": "missing"}}, "not there"),
        ({"https://a.example": {"bearer_env": "SHORT"}}, "fewer than 8"),
        ({"https://a.example": {"bearer_env": "EMPTY"}}, "fewer than 8"),
        ({"https://a.example": {"bearer_env": "BROKEN"}}, "printable ASCII"),
        ({"https://a.example": {"bearer_env": "ACCENT"}}, "printable ASCII"),
        ({"https://a.example": {"bearer_env": "SLASH"}}, "printable ASCII"),
    ],
)
def test_a_wrong_entry_is_named_without_its_value(tmp_path: Path, document: Any, said: str) -> None:
    values = {
        "A": TOKEN,
        "SHORT": "hidden7",
        "EMPTY": " ",
        "BROKEN": "hidden\r\nx: yz",
        "SLASH": "hidden\\token",
        "ACCENT": "hidden-\u00e9\u00e9",
    }
    with pytest.raises(InvalidCredentials, match=said) as caught:
        read(tmp_path, document, **values)
    assert "hidden" not in str(caught.value)
    assert "verbatim" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"), [("a.json", '{"x": hidden}'), ("a.toml", "x = hidden-token"), ("b.json", "[" * 99999)]
)
def test_a_file_that_cannot_be_parsed_is_not_quoted(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidCredentials) as caught:
        read_credentials(tmp_path / name, {}.get)
    assert "hidden" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidCredentials, match=r"absent\.toml cannot be read"):
        read_credentials(tmp_path / "absent.toml", {}.get)
