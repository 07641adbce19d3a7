from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.lockfiles import FORMATS, Lockfile, Relation, Unreadable, parse_lockfile
from tests.evidence.lockfiles.samples import SAMPLES, Sample, short

JSON = [name for name, sample in SAMPLES.items() if sample.format in {"package-lock", "pipfile", "composer", "nuget"}]
BLOCKS = ["uv", "poetry", "pdm", "cargo"]
ENDED = [*JSON, "bun", "poetry", "gemfile", "gradle", "pom"]
DAMAGE = [b"", b'"', b"{", b"]", b":", b"\n", b"  ", b"null", b"[1]", b"- ", b"\xff", b"#", b"=", b"'"]
LINES = [name for name in SAMPLES if name not in {*ENDED, "requirements"}]


def locked(data: bytes, form: str) -> set[tuple[str, str]] | None:
    """Names and versions, or None when the file is said to be unreadable or incomplete."""
    found = parse_lockfile(FORMATS[form], data)
    if isinstance(found, Unreadable) or found.faults:
        return None
    return {(item.name, str(item.version)) for item in found.dependencies}


@pytest.mark.parametrize("name", ENDED)
def test_no_beginning_of_a_file_with_an_end_passes_for_the_whole(name: str) -> None:
    sample = SAMPLES[name]
    whole = locked(sample.data, sample.format)
    for end in range(len(sample.data)):
        assert locked(sample.data[:end], sample.format) in (None, whole), sample.text[:end][-60:]


@pytest.mark.parametrize("name", LINES)
def test_a_file_of_lines_that_ends_within_one_is_never_called_whole(name: str) -> None:
    sample = SAMPLES[name]
    whole = locked(sample.data, sample.format)
    for end in range(len(sample.data)):
        if not sample.text[:end].endswith("\n"):
            assert locked(sample.data[:end], sample.format) in (None, whole), sample.text[:end][-60:]


TOOL = '\n[[package]]\nname = "tool"'


@pytest.mark.parametrize(
    ("name", "lost"), [("yarn 1", '"@fig/leaf@^4'), ("pnpm 9", "  leaf@4.1.2: {}"), ("uv", TOOL), ("cargo", TOOL)]
)
def test_a_package_that_others_depend_on_is_missed(name: str, lost: str) -> None:
    sample = SAMPLES[name]
    at = sample.text.index(lost)
    end = sample.text.find("\n\n", at + 1)
    found = parse_lockfile(
        FORMATS[sample.format], (sample.text[:at] + (sample.text[end + 1 :] if end > 0 else "\n")).encode()
    )
    assert isinstance(found, Lockfile)
    assert "missing" in {fault.kind for fault in found.faults}


@pytest.mark.parametrize("name", JSON)
@given(data=st.data())
def test_the_order_of_entries_does_not_matter_in_json(name: str, data: st.DataObject) -> None:
    sample = SAMPLES[name]
    mixed = json.dumps(_mixed(json.loads(sample.text), data)).encode()
    assert parse_lockfile(FORMATS[sample.format], mixed) == parse_lockfile(FORMATS[sample.format], sample.data)


@pytest.mark.parametrize("name", BLOCKS)
@given(data=st.data())
def test_the_order_of_packages_does_not_matter_in_toml(name: str, data: st.DataObject) -> None:
    sample = SAMPLES[name]
    head, *blocks = sample.text.split("[[package]]\n")
    tail = blocks[-1].partition("[metadata]")
    blocks[-1] = tail[0]
    order = data.draw(st.permutations(blocks))
    mixed = head + "".join(f"[[package]]\n{block.rstrip()}\n\n" for block in order) + tail[1] + tail[2]
    assert tomllib.loads(mixed)
    assert parse_lockfile(FORMATS[sample.format], mixed.encode()) == parse_lockfile(FORMATS[sample.format], sample.data)


@pytest.mark.parametrize("name", ["requirements", "go.sum", "gradle", "yarn 1"])
@given(data=st.data())
def test_the_order_of_lines_or_paragraphs_does_not_matter(name: str, data: st.DataObject) -> None:
    sample = SAMPLES[name]
    parts = _paragraphs(sample)
    between = "\n\n" if name == "yarn 1" else "\n"
    mixed = between.join(data.draw(st.permutations(parts))) + "\n"
    assert parse_lockfile(FORMATS[sample.format], mixed.encode()) == parse_lockfile(FORMATS[sample.format], sample.data)


@pytest.mark.parametrize("form", FORMATS)
@given(data=st.binary(max_size=200))
def test_any_bytes_get_an_outcome(form: str, data: bytes) -> None:
    assert isinstance(parse_lockfile(FORMATS[form], data), Lockfile | Unreadable)


@pytest.mark.parametrize("name", SAMPLES)
@given(data=st.data())
def test_a_damaged_file_gets_an_outcome(name: str, data: st.DataObject) -> None:
    sample = SAMPLES[name]
    damaged = bytearray(sample.data)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at : at + data.draw(st.integers(0, 6))] = data.draw(
            st.sampled_from(
                [b"", b'"', b"{", b"]", b":", b"\n", b"  ", b"null", b"[1]", b"- ", b"\xff", b"#", b"=", b"'"]
            )
        )
    found = parse_lockfile(FORMATS[sample.format], bytes(damaged))
    assert isinstance(found, Lockfile | Unreadable)


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("wrong", [None, 1, "x", [], [1], {}, {"x": 1}, True])
def test_a_value_of_another_type_anywhere_gets_an_outcome(name: str, wrong: Any) -> None:
    sample = SAMPLES[name]
    for changed in _replaced(json.loads(sample.text), wrong):
        assert isinstance(parse_lockfile(FORMATS[sample.format], json.dumps(changed).encode()), Lockfile | Unreadable)


@given(names=st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=12, unique=True))
def test_as_many_packages_come_out_as_went_in(names: list[str]) -> None:
    lock = {"lockfileVersion": 3, "packages": {f"node_modules/{name}": {"version": "1.0.0"} for name in names}}
    found = parse_lockfile(FORMATS["package-lock"], json.dumps(lock).encode())
    assert isinstance(found, Lockfile)
    assert [short(item) for item in found.dependencies] == [
        f"{name} 1.0.0 {Relation.TRANSITIVE} registry" for name in sorted(names)
    ]


def _mixed(value: Any, data: st.DataObject) -> Any:
    if isinstance(value, Mapping):
        return {key: _mixed(value[key], data) for key in data.draw(st.permutations(list(value)))}
    return [_mixed(item, data) for item in value] if isinstance(value, list) else value


def _paragraphs(sample: Sample) -> list[str]:
    if sample.format == "yarn":
        head, *parts = sample.text.strip().split("\n\n")
        return [part.strip("\n") for part in parts] if head.startswith("#") else [head, *parts]
    return sample.text.replace("\\\n", "").strip().split("\n")


def _replaced(value: Any, wrong: Any) -> list[Any]:
    """The value with each of its parts replaced once."""
    found = [wrong]
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        for changed in _replaced(part, wrong):
            copy: Any = dict(value) if isinstance(value, Mapping) else list(value)
            copy[key] = changed
            found.append(copy)
    return found
