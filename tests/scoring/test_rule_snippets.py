"""The snippets of rules: right in their language, short, and checked by the rules where an example is their source."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

import pytest
import tree_sitter
import tree_sitter_typescript
import yaml
from msgspec.structs import asdict

from evidence.derive.source.code_features import find_transports
from evidence.derive.source.readme import parse_readme
from scoring.engine import catalogue
from scoring.engine.assess import ask_rule
from scoring.engine.rule import Rule
from scoring.engine.snippet import Language
from scoring.engine.walk import list_params
from scoring.example_builders.handout_texts import build_resource_text, build_tool_result
from scoring.example_builders.listing import build_tool_with_params
from scoring.example_builders.server_access import build_open_access, build_protected_access
from scoring.example_builders.source_files import build_code, build_readme
from scoring.example_builders.trials import build_trial, build_trial_with_mistake
from scoring.results.outcome import Inapplicable, Level, Undecided
from scoring.rule_snippets import make_snippet
from scoring.scopes.base import Scope

LINES: Final = 14
WIDTH: Final = 78
"""The terminal output indents by two."""
SNIPPETS: Final = {rule.id: snippet for rule in catalogue.list_rules() if (snippet := make_snippet(rule))}
PAIRS: Final = [rule for rule in catalogue.list_rules() if isinstance(rule.fix, tuple)]
PYTHON_VALUE: Final = re.compile(r"\b(None|True|False)\b|'")


def parse_http(text: str) -> None:
    head, _, body = text.partition("\n\n")
    status, *headers = head.split("\n")
    assert re.fullmatch(r"HTTP/1\.1 [1-5]\d\d [A-Z][A-Za-z ]+", status), status
    assert [line for line in headers if not re.fullmatch(r"[A-Za-z-]+: \S.*", line)] == []
    if "Content-Type: application/json" in headers:
        json.loads(body)
    elif "Content-Type: text/event-stream" in headers:
        for line in filter(None, body.split("\n")):
            assert re.fullmatch(r"(event|id|data):( \S.*)?", line), line


def parse_markdown(text: str) -> None:
    assert text.count("```") % 2 == 0
    for found in re.findall(r"```json\n(.*?)```", text, re.DOTALL):
        json.loads(found)


def parse_typescript(text: str) -> None:
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_typescript.language_typescript()))
    assert not parser.parse(text.encode()).root_node.has_error


PARSERS: Final[Mapping[Language, Callable[[str], object]]] = {
    Language.HTTP: parse_http,
    Language.JSON: json.loads,
    Language.MARKDOWN: parse_markdown,
    Language.PYTHON: lambda text: compile(text, "snippet", "exec"),
    Language.TYPESCRIPT: parse_typescript,
    Language.YAML: yaml.safe_load,
}


def asked(rule: Rule, thing: Scope) -> list[str]:
    """The messages of a rule about a thing; none if it cannot judge it."""
    try:
        return [finding.message for finding in ask_rule(rule, thing, "digest")]
    except (Inapplicable, Undecided):
        return []


def build_trial_of(text: str) -> Scope:
    result = json.loads(text)
    outcome = "tool_error" if result.get("isError") else "result"
    return build_trial(outcome, text=result["content"][0]["text"])


def build_mistake(kind: str) -> Callable[[str], Scope]:
    return lambda text: build_trial_with_mistake("tool_error" if json.loads(text).get("isError") else "result", kind)


def build_resource_metadata(text: str) -> Scope:
    return build_protected_access(resource=json.loads(text), versions={"modern": "2026-07-28"})


def build_issuer_metadata(text: str) -> Scope:
    return build_protected_access(issuer=json.loads(text), versions={"modern": "2026-07-28"})


def build_only_param(text: str) -> Scope:
    return list_params(build_tool_with_params(**json.loads(text)))[-1]


def build_readme_of(text: str) -> Scope:
    parts = asdict(parse_readme(text)) if text else dict.fromkeys(("install", "snippet", "environment"))
    kept = ("install", "snippet", "environment", "examples", "tools")
    return build_readme(**{name: parts.get(name) for name in kept})


def build_code_of(text: str) -> Scope:
    marks = list(find_transports("server.py", text))
    return build_code(transports={mark.what: [f"server.py:{mark.line}"] for mark in marks})


READERS: Final[Mapping[str, Callable[[str], Scope]]] = {
    "resource-metadata-incomplete": build_resource_metadata,
    "resource-metadata-names-other-server": build_resource_metadata,
    "scope-offline-access": build_resource_metadata,
    "issuer-endpoint-not-encrypted": build_issuer_metadata,
    "issuer-mismatched": build_issuer_metadata,
    "issuer-without-pkce": build_issuer_metadata,
    "issuer-without-client-documents": build_issuer_metadata,
    "issuer-without-response-issuer": build_issuer_metadata,
    "param-sensitive": build_only_param,
    "error-instructs-model": build_trial_of,
    "trial-error-shows-internals": build_trial_of,
    "trial-error-unexplained": build_trial_of,
    "trial-invalid-type-accepted": build_mistake("invalid_type"),
    "trial-missing-required-accepted": build_mistake("missing_required"),
    "result-instructs-model": lambda text: build_tool_result(json.loads(text)["content"][0]["text"]),
    "resource-instructs-model": lambda text: build_resource_text(json.loads(text)["contents"][0]["text"]),
    "readme-without-client-configuration": build_readme_of,
    "readme-without-example": build_readme_of,
    "readme-without-installation": build_readme_of,
    "readme-without-tools": build_readme_of,
    "code-stdio-only": build_code_of,
    "address-takes-token": lambda text: build_open_access(registered=json.loads(text)["url"]),
}
"""How evidence of a rule is read from its text, for texts that are written by hand."""


def test_most_rules_show_what_to_edit() -> None:
    """The numbers of changes/rule-snippets.feature.md."""
    assert len(catalogue.list_rules()) == 278
    assert len(SNIPPETS) == 234
    assert sum(snippet.before is not None for snippet in SNIPPETS.values()) == 221


@pytest.mark.parametrize("rule", SNIPPETS)
def test_a_snippet_is_right_in_its_language(rule: str) -> None:
    snippet = SNIPPETS[rule]
    for text in filter(None, (snippet.before, snippet.after)):
        PARSERS[snippet.language](text)


@pytest.mark.parametrize("rule", SNIPPETS)
def test_a_snippet_fits_a_terminal_and_shows_a_change(rule: str) -> None:
    snippet = SNIPPETS[rule]
    assert snippet.after
    assert snippet.after != snippet.before
    for text in filter(None, (snippet.before, snippet.after)):
        lines = text.split("\n")
        assert len(lines) <= LINES
        assert max(map(len, lines)) <= WIDTH
        assert text.replace("\n", "").isascii()
        assert all(line == line.rstrip() and (not line or line.isprintable()) for line in lines)


def test_no_snippet_shows_a_python_value() -> None:
    other = {rule: one for rule, one in SNIPPETS.items() if one.language in {Language.JSON, Language.HTTP}}
    shown = {rule: re.sub(r'"(?:[^"\\]|\\.)*"', '""', f"{one.before or ''} {one.after}") for rule, one in other.items()}
    assert len(other) > len(SNIPPETS) / 2
    assert [rule for rule, text in shown.items() if PYTHON_VALUE.search(text)] == []


@pytest.mark.parametrize("declared", PAIRS, ids=lambda declared: declared.id)
def test_what_a_fix_shows_breaks_no_requirement(declared: Rule) -> None:
    assert isinstance(declared.fix, tuple)
    after = declared.fix[1]
    required = [
        rule
        for rule in catalogue.list_rules()
        if rule.scope is declared.scope
        and (rule.level is Level.MUST or any(check.level is Level.MUST for check in rule.checks))
    ]
    assert {rule.id: found for rule in required if (found := asked(rule, after))} == {}


@pytest.mark.parametrize("rule", READERS)
def test_a_text_written_by_hand_fails_its_rule_before_and_passes_it_after(rule: str) -> None:
    declared, snippet = catalogue.get_rule(rule), SNIPPETS[rule]
    assert asked(declared, READERS[rule](snippet.before or "")) != []
    assert ask_rule(declared, READERS[rule](snippet.after), "digest") == ()
