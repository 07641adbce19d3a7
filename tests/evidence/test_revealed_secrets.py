"""What an error text reveals, stated before its masks hide it."""

from __future__ import annotations

import pytest

from evidence.derive.revealed_secrets import CREDENTIAL, VARIABLE, mask_revealed_secrets

KEY = "ghp_" + "a8Kd0Qz3" * 5


@pytest.mark.parametrize(
    ("text", "masked", "revealed"),
    [
        (f"bad key {KEY}.", "bad key [secret].", CREDENTIAL),
        ("DB_PASSWORD=hunter2horse NODE_ENV=x", "DB_PASSWORD=[secret] NODE_ENV=x", VARIABLE),
        ('{"APP_SECRET": "hunter2horse"}', '{"APP_SECRET": "[secret]"}', VARIABLE),
        (r"{\"APP_SECRET\":\"hunter2horse\"}", r"{\"APP_SECRET\":\"[secret]\"}", VARIABLE),
    ],
)
def test_a_revealed_value_is_named_and_masked(text: str, masked: str, revealed: str) -> None:
    assert mask_revealed_secrets(text) == (masked, revealed)


@pytest.mark.parametrize("value", [KEY, "APP_SECRET=hunter2horse"])
def test_an_echo_of_the_request_reveals_nothing(value: str) -> None:
    assert mask_revealed_secrets(f"unknown: {value}", f'{{"q": "{value}"}}') == (f"unknown: {value}", "")


@pytest.mark.parametrize(
    "text",
    [
        "APP_SECRET=[secret]",
        "APP_SECRET=[removed]",
        "APP_SECRET=your-secret-1a",
        "export APP_SECRET=hunter2horse",
        "page_token=hunter2horse",
    ],
)
def test_masks_placeholders_and_advice_reveal_nothing(text: str) -> None:
    assert mask_revealed_secrets(text) == (text, "")
