"""Every pattern finds its bad samples, leaves its good ones, and no whole token stands in this repository."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec.structs import replace

from evidence.derive.secrets import RuleSet, Scanner, build_own_rules
from evidence.patterns import secrets
from evidence.patterns.secrets import PATTERNS
from evidence.patterns.secrets.pattern import SecretPattern
from evidence.patterns.secrets.samples import write_sample
from tests.evidence.secrets.scanners import own_scanner

SCANNER = own_scanner()
SEEDS = ("", "one", "two")


def found(text: str, path: str = "src/settings.py") -> list[str]:
    return [finding.pattern for finding in SCANNER.scan(text, path, salt=b"salt")]


def test_every_pattern_is_complete() -> None:
    complete = [one for one in PATTERNS if one.bad and one.good and one.anchors and one.title and one.provider]
    assert complete == list(PATTERNS)


def test_every_pattern_finds_its_bad_samples_and_none_of_its_good_ones() -> None:
    bad = [(one, write_sample(template, seed)) for one in PATTERNS for template in one.bad for seed in SEEDS]
    assert [(one.id, text) for one, text in bad if one.id not in found(text, _path(one))] == []
    assert [(one.id, text) for one, text in bad if one.id not in found(f"\n  call({text})\n", _path(one))] == []
    good = [(one, template) for one in PATTERNS for template in one.good]
    assert [(one.id, text) for one, text in good if one.id in found(write_sample(text), _path(one))] == []


def test_a_pattern_with_files_holds_for_no_other_file() -> None:
    bad = [(one.id, write_sample(template)) for one in PATTERNS if one.files for template in one.bad]
    assert bad and [(pattern, text) for pattern, text in bad if pattern in found(text, "src/credentials.ts")] == []


def test_a_row_of_one_letter_is_no_secret() -> None:
    rows = [(one.id, _blank(template)) for one in PATTERNS if not one.generic for template in one.bad]
    assert [(pattern, text) for pattern, text in rows if pattern in found(text) and "-----" not in text] == []


def test_at_least_120_providers_and_no_id_twice() -> None:
    assert len({pattern.id for pattern in PATTERNS}) == len(PATTERNS)
    assert len({pattern.provider for pattern in PATTERNS if not pattern.generic}) >= 120


def test_anchors_are_lower_case() -> None:
    assert [one.id for one in PATTERNS if any(anchor != anchor.lower() for anchor in one.anchors)] == []


def test_a_match_is_never_cut_by_its_window() -> None:
    """What the window finds, the whole text finds too, and the other way round."""
    everywhere = Scanner(_without_windows())
    text = "\n".join(write_sample(template) for pattern in PATTERNS for template in (*pattern.bad, *pattern.good))
    near = [(one.pattern, one.line, one.digest) for one in SCANNER.scan(text, "a", salt=b"s")]
    whole = [(one.pattern, one.line, one.digest) for one in everywhere.scan(text, "a", salt=b"s")]
    assert near == whole


def test_samples_are_not_in_the_files() -> None:
    folder = Path(secrets.__file__).parent
    texts = {path.name: path.read_text() for path in folder.glob("*.py")}
    assert {
        name: found(text)
        for name, text in texts.items()
        if [one for one in found(text) if one not in {"assignment", "service-key"}]
    } == {}


def test_samples_are_the_same_every_time_and_differ_by_seed() -> None:
    assert write_sample("<w20>") == write_sample("<w20>") != write_sample("<w20>", "another")


def _path(pattern: SecretPattern) -> str:
    """A path for which the pattern holds."""
    return f"src/settings{pattern.files[0]}" if pattern.files else "src/settings.py"


def _without_windows() -> RuleSet:
    rules = build_own_rules()
    return replace(rules, rules=tuple(replace(rule, window=None) for rule in rules.rules))


def _blank(template: str) -> str:
    return re.sub(
        r"<[a-zA-Z](\d+)>", lambda field: "x" * int(field[1]), template.replace("<u>", "<x8>-<x4>-<x4>-<x4>-<x12>")
    )
