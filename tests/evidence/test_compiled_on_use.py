"""Expressions that are compiled on use behave as compiled ones, and each of the product's is valid."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from evidence.compiled_on_use import PatternOnUse, compile_on_use

ROOT = Path(__file__).parents[2]


def test_a_pattern_has_the_members_of_the_compiled_expression() -> None:
    pattern = compile_on_use(r"(?P<first>a)b", re.IGNORECASE)
    compiled = re.compile(r"(?P<first>a)b", re.IGNORECASE)
    found = pattern.search("xAB")
    assert found is not None and found["first"] == "A"
    assert pattern.sub("-", "abxAB") == "-x-"
    assert (pattern.pattern, pattern.flags, pattern.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    assert compile_on_use(rb"\d").fullmatch(b"7")


def test_a_pattern_is_compiled_once_and_not_before_its_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    original = re.compile
    monkeypatch.setattr(re, "compile", lambda text, flags=0: compiled.append(text) or original(text, flags))
    pattern = compile_on_use("a+")
    assert not compiled
    assert pattern.match("aa") and pattern.match("aaa") and not pattern.match("b")
    assert compiled == ["a+"]


def test_a_pattern_has_no_other_attributes() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'find'"):
        compile_on_use("a").find  # type: ignore[attr-defined]  # noqa: B018


def test_every_expression_of_the_product_is_valid() -> None:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for package in ("crawler", "evidence", "publish", "scoring", "workers")
        for path in sorted((ROOT / package).rglob("*.py"))
        if "compile_on_use(" in path.read_text()
    ]
    patterns = [
        pattern
        for module in modules
        for pattern in _list_patterns(list(vars(importlib.import_module(module)).values()))
    ]
    assert len(modules) > 30
    assert len(patterns) > 100
    for pattern in patterns:
        re.compile(pattern._expression, pattern._flags)


def _list_patterns(value: object) -> Iterator[PatternOnUse]:
    if isinstance(value, PatternOnUse):
        yield value
    elif isinstance(value, dict):
        yield from _list_patterns([*value, *value.values()])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _list_patterns(each)
