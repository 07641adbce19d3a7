"""Recall and precision of our patterns on the examples of a folder of rule files in the format of Nosey Parker.

    python -m bench.secret_examples DIR [--missed] [--everything]

Each `examples` text should be found and each `negative_examples` text should not; a family is a rule file. Counted as
found is what a pattern of a provider finds; listed are also generic findings, and sequences: examples with letters in
their order. `provider` counts the listed ones of which a finding names the family.
Left out are, unless everything is asked for, rules for what is
no secret (names of buckets, client ids), for hashed passwords, and for any password with a name.

Many examples are placeholders or repeat one letter, which our scanner ignores on purpose. They are counted separately,
by a second scan without the checks for placeholders and entropy.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import yaml
from msgspec.structs import replace

from evidence.derive.secrets import Finding, RuleSet, Scanner, build_own_rules
from evidence.derive.secrets import scanner as scanning
from evidence.kinds.secrets import Discount

LISTED = frozenset({"found", "generic", "sequence"})
UNCLAIMED = frozenset({"generic", "hashed"})


@dataclass
class Family:
    """The results of the examples of one rule file."""

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--everything", action="store_true")
    options = parser.parse_args()
    strict, loose = Scanner(build_own_rules(), fast=False), Scanner(_without_entropy(build_own_rules()), fast=False)
    families = [
        judge(path, strict, loose, everything=options.everything) for path in sorted(options.folder.rglob("*.yml"))
    ]
    total: Counter[str] = Counter()
    print("| family | examples | found | generic | sequence | provider | placeholder | missed | negatives | wrong |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for family in families:
        total += family.counts
        if family.counts:
            print(row(family.name, family.counts))
    print(row("all", total))
    real = total["examples"] - total["placeholder"] - total["sequence"]
    right, wrong = total["found"], total["wrong"]
    listed = sum(total[what] for what in LISTED)
    print(f"\nlisted {listed} of {total['examples']}, and {total['wrongly listed']} of {total['negatives']} negatives")
    print(f"recall {right / real:.3f} of {real} that are no placeholder; precision {right / (right + wrong):.3f}")
    if options.missed:
        for family in families:
            print(
                *(f"{family.name}: {text!r:.160}" for text in family.missed),
                sep="\n",
                end="\n" if family.missed else "",
            )


def judge(path: Path, strict: Scanner, loose: Scanner, *, everything: bool) -> Family:
    family = Family(path.stem)
    for rule in yaml.safe_load(path.read_text())["rules"]:
        kinds = set(rule.get("categories") or ())
        if not everything and ("secret" not in kinds or kinds & UNCLAIMED):
            continue
        for text in rule.get("examples") or ():
            family.counts["examples"] += 1
            what = outcome(text, strict, loose)
            family.counts[what] += 1
            family.counts["provider"] += is_named(family.name, strict.scan(text, "src/settings", salt=b"bench"))
            if what == "missed":
                family.missed.append(text)
        for text in rule.get("negative_examples") or ():
            family.counts["negatives"] += 1
            family.counts["wrong"] += outcome(text, strict, loose) == "found"
            family.counts["wrongly listed"] += outcome(text, strict, loose) in LISTED
    return family


def outcome(text: str, strict: Scanner, loose: Scanner) -> str:
    """The scan result of one example; `placeholder`: found only when placeholders count as secrets."""
    found = strict.scan(text, "src/settings", salt=b"bench")
    if any(one.counts for one in found):
        return "found"
    if found:
        return "sequence" if all(one.discount is Discount.SEQUENCE for one in found) else "generic"
    with patch.object(scanning, "is_placeholder", lambda _: False):
        return "placeholder" if loose.scan(text, "src/settings", salt=b"bench") else "missed"


def is_named(family: str, findings: Iterable[Finding]) -> bool:
    """Whether the provider or the pattern of a finding has the name of the family."""
    wanted = _letters(family)
    names = [_letters(name) for one in findings for name in (one.provider, one.pattern.partition("-")[0])]
    return any(name and (wanted in name or name in wanted) for name in names)


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _without_entropy(rules: RuleSet) -> RuleSet:
    return replace(rules, rules=tuple(replace(rule, entropy=0, random=False) for rule in rules.rules))


def row(name: str, counts: Counter[str]) -> str:
    columns = ("examples", "found", "generic", "sequence", "provider", "placeholder", "missed", "negatives", "wrong")
    return f"| {name} | " + " | ".join(str(counts[column]) for column in columns) + " |"


if __name__ == "__main__":
    main()
