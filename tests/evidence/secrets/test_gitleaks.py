"""A rule file in the format of gitleaks means here what it means there."""

from __future__ import annotations

import pytest

from evidence.derive.secrets import Finding, RulesInvalid, Scanner, load_rules
from evidence.patterns.secrets import PATTERNS

RULE = """
[[rules]]
id = "acme"
description = "Acme token"
regex = '''\\b(acme_(?i)[a-z0-9]{8})\\b'''
keywords = ["ACME_"]
"""


def scan(rules: str, text: str, path: str = "src/app.py") -> tuple[Finding, ...]:
    return Scanner(load_rules(rules)).scan(text, path, salt=b"s")


def patterns(rules: str, text: str, path: str = "src/app.py") -> list[str]:
    return [finding.pattern for finding in scan(rules, text, path)]


def test_a_rule_needs_its_keyword_and_its_expression() -> None:
    assert patterns(RULE, "a\nacme_k3J9d0Qz") == ["acme"]
    assert patterns(RULE, "acme_short") == []
    assert patterns(RULE.replace("ACME_", "missing"), "acme_k3J9d0Qz") == []


def test_entropy_must_be_above_the_threshold() -> None:
    rules = RULE + "entropy = 2.5\n"
    assert patterns(rules, "acme_aaaaaaaa") == []
    assert patterns(rules, "acme_k3J9d0Qz") == ["acme"]


def test_the_secret_is_the_group_that_is_asked_for_or_the_first_that_matched() -> None:
    rule = "[[rules]]\nid = 'pair'\nregex = '''(?:(left)|(right)):(\\w+)'''\n"
    first, second = scan(rule, "right:abcdefgh"), scan(rule + "secretGroup = 3\n", "right:abcdefgh")
    assert first[0].context == "[secret]:abcdefgh"
    assert second[0].context == "right:[secret]"


@pytest.mark.parametrize(
    "allow",
    [
        "paths = ['''^src/''']",
        "regexes = ['''k3J9''']",
        "stopwords = ['K3J9']",
        "regexTarget = 'line'\nregexes = ['''harmless''']",
        "regexTarget = 'match'\nregexes = ['''^acme_k''']",
        "condition = 'AND'\npaths = ['''app''']\nregexes = ['''k3''']",
    ],
)
@pytest.mark.parametrize("place", ["[allowlist]", "[[allowlists]]", "[rules.allowlist]", "[[rules.allowlists]]"])
def test_an_allow_list_lets_pass_what_it_describes(allow: str, place: str) -> None:
    text = "token acme_k3J9d0Qz harmless"
    other = "token acme_Xz77d0Qa"
    assert patterns(f"{RULE}\n{place}\n{allow}\n", text) == []
    assert patterns(f"{RULE}\n{place}\n{allow}\n", other, "lib/x.py") == ["acme"]


def test_every_condition_must_hold_where_the_file_says_so() -> None:
    rules = f"{RULE}\n[[rules.allowlists]]\ncondition = 'AND'\npaths = ['''^lib/''']\nstopwords = ['k3j9']\n"
    assert patterns(rules, "acme_k3J9d0Qz", "src/a") == ["acme"]
    assert patterns(rules, "acme_k3J9d0Qz", "lib/a") == []
    assert patterns(rules.replace("paths = ['''^lib/''']", "commits = ['abc']"), "acme_k3J9d0Qz", "lib/a") == ["acme"]


def test_an_allow_list_may_be_for_some_rules_only() -> None:
    rules = f"{RULE}\n[[allowlists]]\ntargetRules = ['other']\nstopwords = ['k3j9']\n"
    assert patterns(rules, "acme_k3J9d0Qz") == ["acme"]
    assert patterns(rules.replace("'other'", "'acme'"), "acme_k3J9d0Qz") == []


def test_a_path_limits_a_rule_or_is_all_of_it() -> None:
    assert patterns(RULE + "path = '''\\.tf$'''\n", "acme_k3J9d0Qz") == []
    assert patterns(RULE + "path = '''\\.tf$'''\n", "acme_k3J9d0Qz", "a.tf") == ["acme"]
    key = "[[rules]]\nid = 'key-file'\npath = '''\\.p12$'''\n"
    assert [finding.line for finding in scan(key, "", "certs/a.p12")] == [0]
    assert scan(key, "", "certs/a.txt") == ()


def test_a_marked_line_is_left_out() -> None:
    assert patterns(RULE, "acme_k3J9d0Qz # gitleaks:allow\nacme_k3J9d0Qy") == ["acme"]


def test_a_generic_rule_gives_way_and_others_do_not() -> None:
    again = RULE.replace('"acme"', '"acme-again"')
    generic = RULE.replace('"acme"', '"generic-api-key"')
    assert patterns(RULE + again + generic, "acme_k3J9d0Qz") == ["acme", "acme-again"]
    assert [finding.counts for finding in scan(generic, "acme_k3J9d0Qz")] == [False]


def test_a_file_may_extend_the_default_rules_and_disable_some() -> None:
    rules = "[extend]\nuseDefault = true\ndisabledRules = ['github-token']\n"
    assert {rule.id for rule in load_rules(rules).rules} == {one.id for one in PATTERNS} - {"github-token"}


def test_a_file_may_extend_another_one() -> None:
    extending = "[extend]\npath = 'base.toml'\n"
    base = Scanner(load_rules(extending, {"base.toml": RULE}.__getitem__))
    assert [finding.pattern for finding in base.scan("acme_k3J9d0Qz", "a", salt=b"s")] == ["acme"]
    with pytest.raises(RulesInvalid, match=r"base\.toml"):
        load_rules(extending)
    with pytest.raises(RulesInvalid, match="out of reach"):
        load_rules(extending, {"base.toml": extending}.__getitem__)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not toml", "expected TOML"),
        ("title = 'x'", r"\[\[rules\]\]"),
        ("rules = 3", r"\[\[rules\]\]"),
        ("[[rules]]\nregex = 'a'", "id"),
        ("[[rules]]\nid = 'a'", "regex or a path"),
        ("[[rules]]\nid = 'a'\nregex = 'a'\nentropy = 'high'", "number in entropy"),
        ("[[rules]]\nid = 'a'\nregex = 3", "string in regex"),
        ("[[rules]]\nid = 'a'\nregex = 'a'\nkeywords = 'b'", "list of strings"),
        ("[[rules]]\nid = 'a'\nregex = '''(?<=a)b'''", "RE2 expression in rule a"),
    ],
)
def test_what_is_no_rule_file_says_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(RulesInvalid, match=said):
        Scanner(load_rules(text))
