"""Files that mean harm are refused, in bounded time, and with the reason. Sizes are small."""

from __future__ import annotations

import pytest

from evidence.lockfiles import FORMATS, FaultKind, Lockfile, UnknownVersion, Unreadable, parse_lockfile
from evidence.lockfiles.parsing.bounded import MAX_BYTES, MAX_LINE, MAX_VALUES
from tests.durations import cpu_below
from tests.sampling import some

SECONDS = 20.0
"""A quadratic reader takes minutes for these; the slowest honest one takes under a second on an idle machine."""

LONG = 900_000

REFUSED = {
    "too large": ("package-lock", b" " * (MAX_BYTES + 1), FaultKind.TOO_LARGE),
    "dense": ("package-lock", b"[" + b"[]," * MAX_VALUES + b"]", FaultKind.TOO_LARGE),
    "deep JSON": ("package-lock", b'{"a":' * 10_000, FaultKind.TOO_DEEP),
    "deep arrays": ("bun", b"[" * 10_000, FaultKind.TOO_DEEP),
    "a key twice": ("package-lock", b'{"packages": {},\n "packages": {}}', FaultKind.DUPLICATE_KEY),
    "a key twice in YAML": ("pnpm", b"lockfileVersion: 5.4\nlockfileVersion: 5.4\n", FaultKind.DUPLICATE_KEY),
    "a key twice in TOML": ("uv", b"version = 1\nversion = 2\n", FaultKind.SYNTAX),
    "not UTF-8": ("poetry", b'[metadata]\nx = "\xff"\n', FaultKind.ENCODING),
    "anchors": ("pnpm", b"a: &a [x, x]\nb: [*a, *a]\n", FaultKind.REFUSED),
    "aliases": ("pnpm", b"a: *b\n", FaultKind.REFUSED),
    "tags": ("pnpm", b"a: !!python/object/apply:os.system [x]\n", FaultKind.REFUSED),
    "deep YAML": ("pnpm", b"\n".join(b" " * depth + b"a:" for depth in range(500)), FaultKind.TOO_DEEP),
    "deep flow": ("pnpm", b"a: " + b"[" * 1000 + b"]" * 1000 + b"\n", FaultKind.SYNTAX),
    "endless flow": ("pnpm", b"a: {" + b"b" * 100_000 + b"\n", FaultKind.TOO_LARGE),
    "an endless line": ("yarn", b"a" * (MAX_LINE + 1), FaultKind.TOO_LARGE),
    "a conflict": ("yarn", b"a@1:\n<<<<<<< ours\n", FaultKind.SYNTAX),
    "entities": ("pom", b'<!DOCTYPE p [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><project>&b;</project>', FaultKind.REFUSED),
    "an outer entity": ("pom", b'<!DOCTYPE p SYSTEM "file:///etc/passwd"><project/>', FaultKind.REFUSED),
    "deep XML": ("pom", b"<a>" * 1000, FaultKind.TOO_DEEP),
    "another XML": ("pom", b"<html></html>", FaultKind.SHAPE),
    "dotted keys": ("uv", b"a." * 50_000 + b"a = 1\n", FaultKind.TOO_DEEP),
    "deep TOML": ("uv", b"a = " + b"[" * 50_000, FaultKind.TOO_DEEP),
    "many tables": ("uv", b"".join(b"[a%d]\n" % number for number in range(600_001)), FaultKind.TOO_LARGE),
    "null": ("package-lock", b"null", FaultKind.SHAPE),
    "nothing": ("composer", b"", FaultKind.EMPTY),
    "a folder of folders": ("bun", b'{"packages": {"' + b"a/" * 1000 + b'": ["a@1.0.0"]}}', FaultKind.TOO_DEEP),
    "NUL bytes": ("requirements", b"\0" * 1000, FaultKind.SYNTAX),
}

SLOW_FOR_OTHERS = {
    "blanks in a key": ("yarn", b"# yarn lockfile v1\na" + b" " * LONG + b"b:\n"),
    "quotes in a key": ("yarn", b"# yarn lockfile v1\n" + b'"\\' * (LONG // 2) + b":\n"),
    "blanks before a comment": ("pnpm", b"a: b" + b" " * LONG + b"c #\n"),
    "unfinished comments": ("bun", b"/*" * LONG),
    "escapes": ("bun", b'"\\' * LONG),
    "digits": ("uv", b"a = " + b"1" * LONG + b"\n"),
    "quotes of go": ("go.mod", b'"\\' * (LONG // 2) + b"\n"),
    "dashes in a name": ("requirements", b"a" + b"-" * LONG + b"\n"),
    "a name without end": ("requirements", b"a" * LONG + b"\n"),
    "blanks in a requirement": ("requirements", b"a @ b" + b" " * LONG + b"c\n"),
    "wheels": ("requirements", b"-0" * (LONG // 2) + b".whl\n"),
    "one folder behind many links": (
        "package-lock",
        b'{"packages": {"node_modules/%s": {"link": true, "resolved": "x"}' % (b"node_modules/a/" * 20_000)
        + b"".join(b', "node_modules/a%d": {"link": true, "resolved": "x"}' % number for number in range(20_000))
        + b"}}",
    ),
    "many versions of what many need": (
        "uv",
        b"".join(
            b'[[package]]\nname = "a"\nversion = "%d"\nsource = {virtual = "."}\n'
            b'dependencies = [{name = "a", extra = ["x", "y"]}]\noptional-dependencies = {x = [{name = "a"}]}\n'
            % number
            for number in range(6_000)
        ),
    ),
    "a long name with many needs": (
        "pdm",
        b'[metadata]\n[[package]]\nname = "%s"\nversion = "1"\ndependencies = [\n' % (b"a" * 300_000)
        + b'"b",\n' * 20_000
        + b"]\n",
    ),
    "deep folders with many needs": (
        "bun",
        b'{"packages": {"%s": ["a@1.0.0", "", {"dependencies": {' % b"/".join([b"a" * 200] * 128)
        + b",".join(b'"b%d": "1"' % number for number in range(40_000))
        + b"}}]}}",
    ),
    "properties that grow again for each dependency": (
        "pom",
        b"<project><properties>"
        + b"".join(b"<p%d>%s</p%d>" % (n, b"${p%d}" % (n + 1) * 100, n) for n in range(20))
        + b"<big>"
        + b"x" * 1_000_000
        + b"</big></properties><dependencies>"
        + b"".join(
            b"<dependency><groupId>${p0}%d</groupId><artifactId>${big}</artifactId></dependency>" % n
            for n in range(5000)
        )
        + b"</dependencies></project>",
    ),
    "nested properties": (
        "pom",
        b"<project><properties>"
        + b"".join(b"<p%d>%s</p%d>" % (n, b"${p%d}" % (n + 1) * 100, n) for n in range(50))
        + b"</properties><dependencies>"
        + b"<dependency><groupId>g</groupId><artifactId>a</artifactId><version>${p0}</version></dependency>" * 500
        + b"</dependencies></project>",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_file_is_refused_with_the_reason(name: str) -> None:
    form, data, kind = REFUSED[name]
    with cpu_below(SECONDS):
        found = parse_lockfile(FORMATS[form], data)
        assert isinstance(found, Unreadable), found
        assert found.fault.kind is kind, found
        assert len(found.fault.message) < 600


def test_more_packages_than_any_lock_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidence.lockfiles.lockfile.MAX_ENTRIES", 1000)
    lines = [b"g:a%d:1=x\n" % number for number in range(1001)]
    assert isinstance(parse_lockfile(FORMATS["gradle"], b"".join(lines[:1000])), Lockfile)
    found = parse_lockfile(FORMATS["gradle"], b"".join(lines))
    assert isinstance(found, Unreadable)
    assert found.fault.kind is FaultKind.TOO_LARGE


@pytest.mark.parametrize("name", some(SLOW_FOR_OTHERS, 6))
def test_time_is_linear_in_what_is_sent(name: str) -> None:
    form, data = SLOW_FOR_OTHERS[name]
    with cpu_below(SECONDS):
        assert isinstance(parse_lockfile(FORMATS[form], data), Lockfile | Unreadable)


@pytest.mark.parametrize(
    ("form", "data", "line", "column"),
    [
        ("package-lock", b'{"packages": {\n  "a": }\n}', 2, 8),
        ("package-lock", b'{"packages": {},\n  "packages": {}}', 2, 3),
        ("bun", b'{\n  // fine\n  "packages": x\n}', 3, 15),
        ("uv", b"version = 1\nname = \n", 2, 8),
        ("poetry", b"a = 1\nb = '\xff'\n", 2, 6),
        ("pom", b"<project>\n<a></b></project>", 2, 6),
    ],
)
def test_a_fault_says_where_it_is(form: str, data: bytes, line: int, column: int) -> None:
    found = parse_lockfile(FORMATS[form], data)
    assert isinstance(found, Unreadable)
    assert (found.fault.line, found.fault.column) == (line, column), found


def test_faults_are_counted_and_not_all_listed() -> None:
    found = parse_lockfile(FORMATS["gradle"], b"x\n" * 5000 + b"y\n" * 10 + b"empty=\n")
    assert isinstance(found, Lockfile)
    assert len(found.faults) == 101
    assert found.faults[-1].message == "and 4910 more"


def test_a_long_credential_is_not_cut_into_sight() -> None:
    found = parse_lockfile(
        FORMATS["requirements"], b"a @ https://u:" + b"s3cret" * 200 + b"@code.example/x?sig=s3cret\n"
    )
    assert "s3cret" not in repr(found)


def test_the_name_of_a_package_cannot_be_a_page() -> None:
    found = parse_lockfile(FORMATS["go.sum"], b"x" * 1000 + b" v1.0.0 h1:a\n")
    assert isinstance(found, Lockfile)
    assert found.dependencies == ()
    assert [fault.kind for fault in found.faults] == [FaultKind.ENTRY]


@pytest.mark.parametrize("encoding", ["none-such", "idna", "punycode", "hex", "utf-32", "undefined", "big5"])
def test_an_encoding_that_xml_cannot_be_read_in_is_a_fault(encoding: str) -> None:
    found = parse_lockfile(FORMATS["pom"], f'<?xml version="1.0" encoding="{encoding}"?><project/>'.encode())
    assert isinstance(found, Unreadable)
    assert found.fault.kind is FaultKind.ENCODING


def test_a_release_of_go_may_have_thousands_of_digits() -> None:
    found = parse_lockfile(FORMATS["go.mod"], b"module a\n\ngo 1." + b"9" * 9000 + b"\n\nrequire b.example/c v1.0.0\n")
    assert isinstance(found, Lockfile)
    assert [item.name for item in found.dependencies] == ["b.example/c", "stdlib"]


def test_an_unpaired_surrogate_is_in_no_result() -> None:
    half = "\\ud800"
    text = f"""{{"packages": {{"node_modules/a": {{"version": "1.0.0{half}", "resolved": "git+ssh://x.example/{half}"}},
      "node_modules/b{half}": {{"version": "1.0.0"}}, "node_modules/{half}": 1}}}}"""
    found = parse_lockfile(FORMATS["package-lock"], text.encode())
    assert isinstance(found, Lockfile)
    assert "\\ud800" not in repr(found).replace("\\\\ud800", "")
    assert [item.name for item in found.dependencies] == ["a"]
    assert len(found.faults) == 2


def test_digits_of_other_scripts_are_no_version() -> None:
    found = parse_lockfile(FORMATS["yarn"], '# yarn lockfile v1\n\na@1:\n  version "١.٢.٣"\n'.encode())
    assert isinstance(found, Lockfile)
    assert [item.version for item in found.dependencies] == [UnknownVersion("١.٢.٣")]
