"""Fingerprints of the code that gives answers: they change when an answer may, not when a line is reformatted.

Only the lock test reads them. What a run pins are versions, which need no source text.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator
from typing import Final

from evidence.canonical import Json, canonical_json, sha256
from scoring.engine.rubric import Check, Dimension, Rubric
from scoring.engine.rule import Rule

ENGINE_MODULES: Final = (
    "evidence.authority",
    "evidence.derive.tool_instructions",
    "evidence.derive.poisoning",
    "evidence.kinds.access",
    "evidence.kinds.advisories",
    "evidence.kinds.dependencies",
    "evidence.kinds.drift",
    "evidence.kinds.exchanges",
    "evidence.kinds.handouts",
    "evidence.kinds.listing",
    "evidence.kinds.package",
    "evidence.kinds.registration",
    "evidence.kinds.repository",
    "evidence.kinds.secrets",
    "evidence.kinds.source",
    "evidence.kinds.trials",
    "evidence.patterns.poisoning",
    "scoring.scopes.server_access",
    "scoring.json_schema.references",
    "scoring.results.arithmetic",
    "scoring.engine.assess",
    "scoring.engine.assessment",
    "scoring.analysis.advisory_costs",
    "scoring.analysis.description_style",
    "scoring.protocol.error_codes",
    "scoring.json_schema.compilation",
    "scoring.rubrics.component_scores",
    "scoring.protocol.conformance",
    "scoring.scopes.conversation",
    "scoring.text.timestamps",
    "scoring.text.domains",
    "scoring.json_schema.draft07",
    "scoring.json_schema.ecma_regex",
    "scoring.rubrics.line_folding",
    "scoring.scopes.handout_texts",
    "scoring.text.javascript",
    "scoring.analysis.tool_mentions",
    "scoring.json_schema.parameter_schemas",
    "scoring.text.origins",
    "scoring.scopes.external",
    "scoring.protocol.list_pages",
    "scoring.text.evidence_path",
    "scoring.scopes.project",
    "scoring.scopes.publisher",
    "scoring.protocol.replies",
    "scoring.rubrics.protocol_checks",
    "scoring.engine.revision",
    "scoring.scopes.samples",
    "scoring.json_schema.dialects",
    "scoring.scopes.base",
    "scoring.text.secret_names",
    "scoring.protocol.result_schemas",
    "scoring.scopes.source_files",
    "scoring.protocol.streamable_http",
    "scoring.json_schema.subschemas",
    "scoring.scopes.supply_chain",
    "scoring.scopes.trials",
    "scoring.scopes.maintenance",
    "scoring.text.uris",
    "scoring.vocabularies.abbreviations",
    "scoring.vocabularies.effects",
    "scoring.vocabularies.parameters",
    "scoring.vocabularies.phrases",
    "scoring.vocabularies.terms",
    "scoring.vocabularies.verbs",
    "scoring.engine.walk",
    "scoring.results.weighting",
    "scoring.text.words",
)
"""Code shared by rules and rubrics, packages with all their modules; `ENGINE_VERSION` is its version."""

_WORDS: Final = frozenset(
    {"title", "good", "bad", "unjudged", "since", "version", "spec", "summary", "settled", "source"}
)
_UNTYPED: Final = frozenset({"type_params", "type_comment", "type_ignores", "kind", "ctx"})


def rule_fingerprint(rule: Rule) -> str:
    """Of a rule's module without examples, prose and version."""
    return _of_modules([rule.module])


def rubric_fingerprint(rubric: Rubric) -> str:
    """Of a rubric's module (prose aside), and of its criteria and dimensions as data."""
    criteria = [
        [
            part.cites,
            part.rule,
            part.severity.value,
            str(part.points),
            sorted(map(str, part.params.items())),
            part.pages,
        ]
        for part in rubric.criteria
    ]
    parts = [_of_dimension(dimension) for dimension in rubric.dimensions]
    return sha256(canonical_json([_of_modules([rubric.judge.__module__]), criteria, parts]))[:16]


def _of_dimension(dimension: Dimension) -> Json:
    return [
        [dimension.name, str(dimension.weight)],
        [[part.name, str(part.weight), [_of_check(check) for check in part.checks]] for part in dimension.components],
    ]


def _of_check(check: Check) -> Json:
    asked = [[part.rule, part.pages.value] for part in check.criteria]
    return [asked, str(check.weight), check.beside, _of_check(check.otherwise) if check.otherwise else None]


def engine_fingerprint() -> str:
    """Of everything that rules and rubrics share."""
    return _of_modules(ENGINE_MODULES)


def _of_modules(names: Iterable[str]) -> str:
    return source_fingerprint(
        inspect.getsource(importlib.import_module(part)) for name in names for part in _inside(name)
    )


def _inside(name: str) -> Iterator[str]:
    """A module, and when it is a package everything in it."""
    yield name
    folder = getattr(importlib.import_module(name), "__path__", None)
    for found in sorted(pkgutil.walk_packages(folder, f"{name}."), key=lambda found: found.name) if folder else ():
        yield found.name


def source_fingerprint(sources: Iterable[str]) -> str:
    """Sixteen hexadecimal digits of the syntax trees, in which comments, layout, docstrings and prose do not count."""
    return sha256("\n".join("".join(_dump(ast.parse(source))) for source in sources).encode())[:16]


def _dump(node: object) -> Iterator[str]:
    """The tree as text. `ast.dump` is not used because its output differs between versions of Python."""
    if isinstance(node, list):
        for item in node:
            yield from _dump(item)
            yield ","
    elif isinstance(node, ast.AST):
        yield type(node).__name__ + "("
        for name, value in ast.iter_fields(node):
            if name not in _UNTYPED and value not in (None, []):
                yield f"{name}="
                yield from _dump(_without_prose(value))
        yield ")"
    else:
        yield repr(node)


def _without_prose(value: object) -> object:
    """A list of statements without docstrings, a list of keyword arguments without those that are only words."""
    if not isinstance(value, list):
        return value
    return [item for item in value if not _is_docstring(item) and not _is_words(item)]


def _is_docstring(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_words(node: object) -> bool:
    return isinstance(node, ast.keyword) and node.arg in _WORDS
