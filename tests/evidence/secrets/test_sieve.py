"""With hyperscan everything is found that is found without, and nothing else."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from evidence.derive.secrets import Scanner, load_rules
from evidence.derive.secrets import scanner as scanning
from evidence.derive.secrets.prefilter import Candidates, is_hyperscan_installed
from evidence.patterns.secrets import PATTERNS
from evidence.patterns.secrets.samples import write_sample
from tests.evidence.secrets.planted import TREES, planted
from tests.evidence.secrets.scanners import own_scanner

pytestmark = [
    pytest.mark.skipif(not is_hyperscan_installed(), reason="the extra `fast` is not installed"),
    pytest.mark.xdist_group("sieve"),  # to compile the expressions takes longer than to try them
]

HOSTILE = ("sk-" * 20_000, "password=" * 9_000, "\0\xff\n" * 9_000, "://:@" * 9_000, "kind: secret\n" * 5_000, "")


def same(text: str | bytes, path: str = "a") -> bool:
    return own_scanner(fast=False).scan(text, path, salt=b"s") == own_scanner().scan(text, path, salt=b"s")


@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.soak)])
def test_every_sample_of_every_pattern_is_judged_the_same(every: int) -> None:
    samples = [write_sample(template) for one in PATTERNS for template in (*one.bad, *one.good)][::every]
    assert [sample for sample in samples if not same(sample)] == []


@pytest.mark.parametrize("tree", TREES)
def test_planted_files_are_judged_the_same(tree: str) -> None:
    assert [file.path for file in planted(tree) if not same(file.text, file.path)] == []


def test_generated_texts_are_judged_the_same() -> None:
    assert [text for text in _texts(150) if not same(text)] == []


def test_hostile_texts_are_judged_the_same() -> None:
    assert [text[:20] for text in HOSTILE if not same(text)] == []


def test_real_text_with_planted_secrets_is_judged_the_same() -> None:
    texts = list(_real_texts(60))
    assert [text[:80] for text in texts if not same(text)] == []
    assert sum(len(own_scanner().scan(text, "a", salt=b"s")) for text in texts) > 60


@pytest.mark.parametrize(
    "template",
    [
        "x = postgres://" + "ж" * 60 + ":<w18>@db.shop.dev:5432/shop",
        "curl -H 'X: " + "東" * 120 + "' -u deploy:<w16> https://shop.dev",
        "// straße: ghp_<w36>é",
    ],
)
@pytest.mark.parametrize("after", [b"", b"\xff\n", b"\v"])
def test_letters_of_several_bytes_are_counted_as_letters(template: str, after: bytes) -> None:
    text = write_sample(template).encode() + after
    assert same(text) and own_scanner().scan(text, "a", salt=b"s")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("(?i)tok=[a-z]{5};", "tok=abſde;"),
        ("(?i)tok=[a-z]{5};", "tok=ab\u212ade;"),
        (r"tok=[^\s]{5};", "tok=ab\vde;"),
        (r"tok=[^\v]{5};", "tok=ab\nde;"),
        ("tok=.{5};", "tok=äöüßé;"),
        ("tok=ä[a-z]{4};", "tok=äbcde;"),
        (r"tok=\pL{5};", "tok=äöüßé;"),
        (r"tok=\xe4[a-z]{4};", "tok=äbcde;"),
        (r"tok=\344[a-z]{4};", "tok=äbcde;"),
        (r"tok=[^\x00-\x7f]{5};", "tok=äöüßé;"),
    ],
)
def test_what_hyperscan_reads_in_another_way_is_found_all_the_same(expression: str, text: str) -> None:
    rules = load_rules(f"[[rules]]\nid = 'a'\nregex = '{expression}'")
    assert [len(Scanner(rules, fast=sped).scan(text, "a", salt=b"s")) for sped in (False, True)] == [1, 1]


def test_all_our_expressions_are_sieved() -> None:
    sieve = own_scanner()._sieve
    assert sieve is not None
    assert sieve.refused == frozenset() and sieve.find_candidates(b"nothing here") == Candidates(set(), joins=False)


def test_a_rule_that_hyperscan_refuses_is_matched_without_it() -> None:
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
        scanner = Scanner(load_rules(rules), fast=sped)
        assert [one.pattern for one in scanner.scan("oddx1234 even9876", "a", salt=b"s")] == ["odd", "even"]


def test_keywords_are_still_asked_for() -> None:
    rules = "[[rules]]\nid = 'a'\nregex = '[0-9]{8}'\nkeywords = ['acme']"
    assert Scanner(load_rules(rules), fast=True).scan("12349876", "a", salt=b"s") == ()
    assert Scanner(load_rules(rules), fast=True).scan("acme 12349876", "a", salt=b"s")


def test_it_is_used_by_itself_once_enough_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "FAST_FROM", 100)
    scanner = Scanner(load_rules("[[rules]]\nid = 'a'\nregex = 'acme[0-9]{8}'"))
    used = [bool(scanner.__dict__.get("_sieve")) for _ in range(3) if scanner.scan("acme12349876" * 5, "a", salt=b"s")]
    assert used == [False, True, True]


def _texts(number: int) -> Iterator[bytes]:
    """Pieces of samples cut and joined at random, with bytes of all kinds between them."""
    random = Random(5)
    samples = [write_sample(template, "x") for one in PATTERNS for template in (*one.bad, *one.good)]
    joints = ["", "\n", " ", "=", '"', "\\n", ": ", "\0", "é", "\u2028", "/", "-", "_", "\r\n", "\t"]
    for _ in range(number):
        parts: list[str] = []
        for sample in random.choices(samples, k=12):
            cut = sample if random.random() < 0.6 else sample[random.randrange(len(sample)) :]
            parts += [cut.upper() if random.random() < 0.05 else cut, random.choice(joints)]
        yield "".join(parts).encode() + random.randbytes(8)


def _real_texts(number: int) -> Iterator[bytes]:
    """Files of installed packages with a few samples between their lines."""
    random = Random(7)
    bad = [template for one in PATTERNS for template in one.bad]
    paths = sorted(Path(sysconfig.get_path("purelib")).rglob("*.py"))
    for path in islice(random.sample(paths, len(paths)), number):
        lines = path.read_bytes()[:100_000].splitlines()
        for template in random.choices(bad, k=4):
            lines.insert(random.randrange(len(lines) + 1), write_sample(template, "real").encode())
        yield b"\n".join(lines)
