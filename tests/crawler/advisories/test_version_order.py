from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.advisories.version_order import OsvOrder
from evidence.advisories.version_matching import SEMVER_ORDER, Unorderable
from evidence.lockfiles.lockfile import Ecosystem

ORDERS = [SEMVER_ORDER, *(ecosystem.value for ecosystem in Ecosystem)]


@pytest.mark.parametrize(
    ("order", "ascending"),
    [
        (SEMVER_ORDER, ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.0.1", "1.10.0"]),
        ("npm", ["1.2", "1.2.1", "v1.3.0", "2"]),
        ("Go", ["0.0.0-20190101000000-aaaaaaaaaaaa", "0.0.0-20200101000000-000000000000", "1.0.0+incompatible"]),
        ("PyPI", ["1.0.dev1", "1.0a1", "1.0rc1", "1.0", "1.0.post1", "1.1", "1!0.1"]),
        ("Maven", ["1.0-alpha-1", "1.0-SNAPSHOT", "1.0", "1.0.SP1", "1.0.SP2", "1.0.1", "1.10"]),
        ("RubyGems", ["1.0.a", "1.0beta", "1.0", "1.0.1", "1.10"]),
        ("NuGet", ["1.0.0-alpha", "1.0.0", "1.0.0.1", "1.0.1"]),
        ("Packagist", ["1.0-BETA", "1.0-dev", "1.0-alpha1", "1.0-RC1", "1.0", "1.0-p1", "1.0.post2"]),
    ],
)
def test_versions_are_ordered_as_their_ecosystem_does(order: str, ascending: list[str]) -> None:
    keys = [OsvOrder().key(order, version) for version in ascending]
    for place, key in enumerate(keys):
        assert all(key < other and not other < key for other in keys[place + 1 :]), ascending[place]


@pytest.mark.parametrize(
    ("order", "equal"),
    [
        ("Maven", ["1.0.SP1", "1.0-sp1", "1.0-SP-1"]),
        ("RubyGems", ["1.0beta2", "1.0.beta.2", "1.0.beta2"]),
        ("Packagist", ["1.0-beta2", "1.0b2", "v1.0.b.2", "1.0-betas.2"]),
        ("Packagist", ["1.0-RC1", "1.0rc1"]),
        ("Packagist", ["1.0-ALPHA", "1.0-BETA"]),
    ],
)
def test_spellings_of_one_version_are_equal(order: str, equal: list[str]) -> None:
    first, *others = [OsvOrder().key(order, version) for version in equal]
    assert all(other == first and not other < first and not first < other for other in others)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "text",
    ["", "latest", "*", "workspace:*", "^1.2.3", ">=1", "git+https://example.test/a.git#1", "1" * 300, "[1.0,2.0)"],
)
def test_what_is_no_version_has_no_place(order: str, text: str) -> None:
    with pytest.raises(Unorderable):
        OsvOrder().key(order, text)


def test_an_ecosystem_without_an_order_has_none() -> None:
    for order in ("GitHub Actions", "Nowhere"):
        with pytest.raises(Unorderable):
            OsvOrder().key(order, "1.0.0")


TEXTS = st.text(alphabet="0123456789.-+_~vabrcpostdevALPHA!:*", max_size=20)


@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=25)
@given(texts=st.lists(TEXTS, min_size=2, max_size=6))
def test_any_two_texts_that_have_a_place_can_be_compared(order: str, texts: list[str]) -> None:
    keys = []
    for text in texts:
        try:
            keys.append(OsvOrder().key(order, text))
        except Unorderable:
            continue
    for one in keys:
        assert not one < one
        for other in keys:
            assert not (one < other and other < one)


def test_nothing_is_loaded_before_the_first_version_and_little_after_it() -> None:
    code = (
        "import sys; from crawler.advisories.version_order import OsvOrder; assert 'osv' not in sys.modules\n"
        "OsvOrder().key('npm', '1.0.0'); print([name for name in ('grpc', 'google.cloud.ndb') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
