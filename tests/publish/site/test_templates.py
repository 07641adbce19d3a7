"""What the environment of the pages does with values: it masks secrets, and leaves its own addresses alone."""

from __future__ import annotations

import pytest

from evidence.patterns.secrets.samples import write_sample
from publish.site import templates

SERVER = "srv_c965d07fc13107411edc"
TOKEN = write_sample("ghp_<w36>")
ADDRESSES = (
    SERVER,
    f"/servers/{SERVER}",
    f"/servers/{SERVER}/retests",
    f"/servers/{SERVER}/disputes/new",
    f"/servers/{SERVER}/receipts/tool_design@3",
    f"/servers/{SERVER}/badges#follow",
    f"/compare?server={SERVER}",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_own_addresses_are_shown_without_a_scan(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = templates.environment().from_string('<a href="{{ address }}">')
    templates._show_cached.cache_clear()
    monkeypatch.setattr(templates, "make_visible", pytest.fail)
    assert page.render(address=address) == f'<a href="{address}">'


@pytest.mark.parametrize("beginning", [SERVER, f"/servers/{SERVER}", f"/servers/{SERVER}/receipts"])
@pytest.mark.parametrize("between", "/#@")
def test_a_secret_behind_an_own_address_is_masked(beginning: str, between: str) -> None:
    page = templates.environment().from_string("{{ text }}")
    assert page.render(text=f"{beginning}{between}{TOKEN}") == f"{beginning}{between}[secret]"


def test_a_text_that_begins_as_an_own_address_is_escaped() -> None:
    page = templates.environment().from_string("{{ text }}")
    assert page.render(text=f"/servers/{SERVER}/<b>") == f"/servers/{SERVER}/&lt;b&gt;"
    assert page.render(text=f"/servers/{SERVER}\u202e") == f"/servers/{SERVER}⟨U+202E⟩"
