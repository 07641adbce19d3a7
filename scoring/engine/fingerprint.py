"""Fingerprints of the code that decides answers: they change when an answer may change, not when code is reformatted.

Only the test of the lock reads them. A run pins versions, which need no source text.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator
from typing import Final

from evidence.canonical import Json, canonical_json, sha256
from scoring.engine.rubric import Check, Criterion, Dimension, Rubric
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
    "scoring.analysis",
    "scoring.engine.assess",
    "scoring.engine.assessment",
    "scoring.engine.revision",
    "scoring.engine.walk",
    "scoring.json_schema",
    "scoring.protocol",
    "scoring.results.arithmetic",
    "scoring.results.weighting",
    "scoring.rubrics.component_scores",
    "scoring.rubrics.line_folding",
    "scoring.rubrics.protocol_checks",
    "scoring.scopes",
    "scoring.text",
    "scoring.vocabularies",
)
"""Code shared by rules and rubrics, packages with all their modules; `ENGINE_VERSION` is its version."""

_PROSE_KEYWORDS: Final = frozenset(
    {"title", "remedy", "fix", "good", "bad", "unjudged", "since", "version", "spec", "summary", "settled", "source"}
)
_UNTYPED: Final = frozenset({"type_params", "type_comment", "type_ignores", "kind", "ctx"})


def rule_fingerprint(rule: Rule) -> str:
    """Fingerprint of a rule's module without examples, prose and version."""
    return _fingerprint_modules([rule.module])


def rubric_fingerprint(rubric: Rubric) -> str:
    """Fingerprint of a rubric's module without prose, and of its criteria and dimensions as data."""
    criteria = [_describe_criterion(part) for part in rubric.criteria]
    dimensions = [_describe_dimension(dimension) for dimension in rubric.dimensions]
    return sha256(canonical_json([_fingerprint_modules([rubric.judge.__module__]), criteria, dimensions]))[:16]


def _describe_criterion(part: Criterion) -> Json:
    params = sorted(map(str, part.params.items()))
    return [part.cites, part.rule, part.severity.value, str(part.points), params, part.pages]


def _describe_dimension(dimension: Dimension) -> Json:
    return [
        [dimension.name, str(dimension.weight)],
        [
            [part.name, str(part.weight), [_describe_check(check) for check in part.checks]]
            for part in dimension.components
        ],
    ]


def _describe_check(check: Check) -> Json:
    asked = [[part.rule, part.pages.value] for part in check.criteria]
    return [
        asked,
        str(check.weight),
        check.supplementary,
        _describe_check(check.otherwise) if check.otherwise else None,
    ]


def engine_fingerprint() -> str:
    return _fingerprint_modules(ENGINE_MODULES)


def _fingerprint_modules(names: Iterable[str]) -> str:
    return source_fingerprint(
        inspect.getsource(importlib.import_module(part)) for name in names for part in _list_modules(name)
    )


def _list_modules(name: str) -> Iterator[str]:
    """The module, and all modules inside it when it is a package."""
    yield name
    folder = getattr(importlib.import_module(name), "__path__", None)
    for found in sorted(pkgutil.walk_packages(folder, f"{name}."), key=lambda found: found.name) if folder else ():
        yield found.name


def source_fingerprint(sources: Iterable[str]) -> str:
    """Sixteen hexadecimal digits over the syntax trees without comments, layout, docstrings and prose."""
    return sha256("\n".join("".join(_dump(ast.parse(source))) for source in sources).encode())[:16]


def _dump(node: object) -> Iterator[str]:
    """The syntax tree as text. The output of `ast.dump` differs between versions of Python."""
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
    """Remove docstrings from a list of statements, and keyword arguments that hold prose from a list of arguments."""
    if not isinstance(value, list):
        return value
    return [item for item in value if not _is_docstring(item) and not _is_prose_keyword(item)]


def _is_docstring(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_prose_keyword(node: object) -> bool:
    return isinstance(node, ast.keyword) and node.arg in _PROSE_KEYWORDS
