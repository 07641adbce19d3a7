"""Entries are cut out of a text exactly as they are, whatever is inside them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.json_spans import split_elements, split_members
from evidence.canonical import NotJson

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(values, max_size=5), st.sampled_from([None, 1, 3]), st.booleans())
def test_elements_are_the_texts_that_were_joined(items: list[object], indent: int | None, ascii_only: bool) -> None:
    texts = [
        json.dumps(item, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass") for item in items
    ]
    assert split_elements(b" [ " + b" ,\n".join(texts) + b" ]\r\n") == texts


@given(st.dictionaries(st.text(), values, max_size=5))
def test_members_are_the_texts_that_were_joined(object_: dict[str, object]) -> None:
    texts = {name: json.dumps(value).encode() for name, value in object_.items()}
    text = ", ".join(f"{json.dumps(name)} : {value.decode()}" for name, value in texts.items())
    assert dict(split_members(b"{" + text.encode() + b"}")) == texts


@pytest.mark.parametrize("text", [b"", b"{}", b"[", b"[1", b"[[1]", b'["a]', b"[1] 2", b"[1]]", b"null", b'["\\"]'])
def test_unbalanced_arrays_are_refused(text: bytes) -> None:
    with pytest.raises(NotJson):
        split_elements(text)


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{", b'{"a"}', b'{"a" 1}', b"{1: 2}", b"{a: 2}", b'{"a": 1, }', b'{"a": "}']
)
def test_unbalanced_objects_are_refused(text: bytes) -> None:
    with pytest.raises(NotJson):
        split_members(text)


def test_depth_does_not_matter() -> None:
    deep = b"[" * 200_000 + b"]" * 200_000
    assert split_elements(b"[1," + deep + b"]") == [b"1", deep]
