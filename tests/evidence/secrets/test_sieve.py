"""With hyperscan everything is found that is found without, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

import pytest

from evidence.derive.secrets import Scanner, load, own_rules
from evidence.derive.secrets import scan as scanning
from evidence.derive.secrets.sieve import Sieve, is_installed
from evidence.patterns.secrets import PATTERNS
from evidence.patterns.secrets.samples import write
from tests.evidence.secrets.planted import TREES, planted

pytestmark = pytest.mark.skipif(not is_installed(), reason="the extra `fast` is not installed")

PLAIN = Scanner(own_rules(), fast=False)
HOSTILE = ("sk-" * 20_000, "password=" * 9_000, "\0\xff\n" * 9_000, "://:@" * 9_000, "kind: secret\n" * 5_000, "")


@cache
def fast() -> Scanner:
    return Scanner(own_rules(), fast=True)


def same(text: str | bytes, path: str = "a") -> bool:
    return PLAIN.scan(text, path, salt=b"s") == fast().scan(text, path, salt=b"s")


def test_every_sample_of_every_pattern_is_judged_the_same() -> None:
    samples = [write(template) for one in PATTERNS for template in (*one.bad, *one.good)]
    assert [sample for sample in samples if not same(sample)] == []


@pytest.mark.parametrize("tree", TREES)
def test_planted_files_are_judged_the_same(tree: str) -> None:
    assert [file.path for file in planted(tree) if not same(file.text, file.path)] == []


def test_generated_texts_are_judged_the_same() -> None:
    assert [text for text in _texts(150) if not same(text)] == []


def test_hostile_texts_are_judged_the_same() -> None:
    assert [text[:20] for text in HOSTILE if not same(text)] == []


def test_all_our_expressions_are_sieved() -> None:
    sieve = Sieve(own_rules().rules)
    assert sieve.refused == frozenset() and sieve.among(b"nothing here") == set()


def test_a_rule_that_hyperscan_refuses_is_looked_at_without_it() -> None:
    rules = """
[[rules]]
id = "odd"
regex = 'odd(?:x|$)(\\d{4})?'
keywords = ["odd"]
[[rules]]
id = "even"
regex = 'even\\d{4}'
"""
    for sped in (True, False):
        scanner = Scanner(load(rules), fast=sped)
        assert [one.pattern for one in scanner.scan("oddx1234 even9876", "a", salt=b"s")] == ["odd", "even"]


def test_keywords_are_still_asked_for() -> None:
    rules = "[[rules]]\nid = 'a'\nregex = '[0-9]{8}'\nkeywords = ['acme']"
    assert Scanner(load(rules), fast=True).scan("12349876", "a", salt=b"s") == ()
    assert Scanner(load(rules), fast=True).scan("acme 12349876", "a", salt=b"s")


def test_it_is_used_by_itself_once_enough_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "FAST_FROM", 100)
    scanner = Scanner(load("[[rules]]\nid = 'a'\nregex = 'acme[0-9]{8}'"))
    used = [bool(scanner.__dict__.get("_sieve")) for _ in range(3) if scanner.scan("acme12349876" * 5, "a", salt=b"s")]
    assert used == [False, True, True]


def _texts(number: int) -> Iterator[bytes]:
    """Pieces of samples cut and joined at random, with bytes of all kinds between them."""
    random = Random(5)
    samples = [write(template, "x") for one in PATTERNS for template in (*one.bad, *one.good)]
    joints = ["", "\n", " ", "=", '"', "\\n", ": ", "\0", "é", "\u2028", "/", "-", "_", "\r\n", "\t"]
    for _ in range(number):
        parts: list[str] = []
        for sample in random.choices(samples, k=12):
            cut = sample if random.random() < 0.6 else sample[random.randrange(len(sample)) :]
            parts += [cut.upper() if random.random() < 0.05 else cut, random.choice(joints)]
        yield "".join(parts).encode() + random.randbytes(8)
