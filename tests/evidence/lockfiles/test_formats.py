from __future__ import annotations

import pytest

from evidence.lockfiles import FORMATS, Lockfile, Unreadable, find_format, parse_lockfile
from tests.evidence.lockfiles.samples import SAMPLES, short


def read(form: str, text: str | bytes) -> Lockfile | Unreadable:
    return parse_lockfile(FORMATS[form], text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format_says_what_is_locked(name: str) -> None:
    sample = SAMPLES[name]
    found = read(sample.format, sample.text)
    assert isinstance(found, Lockfile), found
    assert tuple(short(item) for item in found.dependencies) == sample.expected
    assert found.faults == ()


def test_every_format_has_a_sample() -> None:
    assert {sample.format for sample in SAMPLES.values()} == set(FORMATS)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_dependency_belongs_to_the_ecosystem_of_its_format(name: str) -> None:
    sample = SAMPLES[name]
    found = read(sample.format, sample.text)
    assert isinstance(found, Lockfile)
    assert {item.ecosystem for item in found.dependencies} == {FORMATS[sample.format].ecosystem}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/b/package-lock.json", "package-lock"),
        ("npm-shrinkwrap.json", "package-lock"),
        ("requirements-dev.txt", "requirements"),
        ("dev-requirements.txt", "requirements"),
        ("pylock.dev.toml", "pylock"),
        ("win\\Cargo.lock", "cargo"),
        ("a/requirements/dev.txt", "requirements"),
        ("requirements/readme.md", None),
        ("my-requirements/dev.txt", None),
        ("package.json", None),
        ("yarn.lock/readme.md", None),
    ],
)
def test_a_format_is_known_by_the_name_of_the_file(path: str, expected: str | None) -> None:
    found = find_format(path)
    assert (found.id if found else None) == expected


@pytest.mark.parametrize("name", ["package-lock 1", "requirements"])
def test_no_credential_of_a_url_is_kept(name: str) -> None:
    found = repr(read(SAMPLES[name].format, SAMPLES[name].text))
    assert "secret" not in found
    assert "token" not in found


def test_windows_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    for sample in SAMPLES.values():
        dressed = b"\xef\xbb\xbf" + sample.data.replace(b"\n", b"\r\n")
        assert read(sample.format, dressed) == read(sample.format, sample.data), sample.format


def test_requirements_in_utf_16_are_read() -> None:
    found = read("requirements", "pear==1.2.3\n".encode("utf-16"))
    assert isinstance(found, Lockfile)
    assert [short(item) for item in found.dependencies] == ["pear 1.2.3 unstated registry"]


def test_a_package_found_twice_is_needed_at_run_time_when_one_of_the_two_is() -> None:
    found = read("pipfile", '{"default": {"Pear": {"version": "==1"}}, "develop": {"pear": {"version": "==1"}}}')
    assert isinstance(found, Lockfile)
    assert [short(item) for item in found.dependencies] == ["pear 1 unstated registry"]


def test_an_alias_is_recorded_beside_its_package() -> None:
    found = read("package-lock", SAMPLES["package-lock 3"].text)
    assert isinstance(found, Lockfile)
    assert [(item.alias, item.name) for item in found.dependencies if item.alias] == [
        ("plum", "prune"),
    ]


def test_a_long_key_of_pnpm_stands_on_two_lines() -> None:
    peers = "(leaf@4.1.2)" * 120
    text = (
        "lockfileVersion: '6.0'\n\ndependencies:\n  pear:\n    specifier: '*'\n"
        f"    version: 1.2.3{peers}\n\npackages:\n\n  ? /pear@1.2.3{peers}\n"
        "  : resolution: {integrity: sha512-AAAA==}\n    dev: false\n\n  /leaf@4.1.2:\n    dev: true\n"
    )
    found = read("pnpm", text)
    assert isinstance(found, Lockfile)
    assert [short(item) for item in found.dependencies] == [
        "leaf 4.1.2 unstated registry dev",
        "pear 1.2.3 direct registry",
    ]


def test_every_document_of_a_pnpm_lock_counts() -> None:
    first = SAMPLES["pnpm 6"].text
    found = read("pnpm", f"---\n{first}---\n{SAMPLES['pnpm 9'].text}")
    assert isinstance(found, Lockfile)
    assert len(found.dependencies) == 4


def test_a_go_mod_without_indirect_modules_says_where_they_are() -> None:
    found = read("go.mod", "module a\n\ngo 1.16\n\nrequire b.example/c v1.0.0\n")
    assert isinstance(found, Lockfile)
    assert [fault.kind for fault in found.faults] == ["elsewhere"]
    assert not found.complete


def test_another_file_of_requirements_is_named_and_not_opened() -> None:
    found = read("requirements", "-r base.txt\npear==1.0\n--constraint=limits.txt\n")
    assert isinstance(found, Lockfile)
    assert [(fault.kind, fault.line) for fault in found.faults] == [("elsewhere", 1), ("elsewhere", 3)]


def test_a_path_of_pnpm_may_begin_with_the_host_of_a_registry() -> None:
    text = "lockfileVersion: '6.0'\npackages:\n  npm.example/@fig/leaf@4.1.2(pear@1.2.3):\n    dev: false\n"
    found = read("pnpm", text)
    assert isinstance(found, Lockfile)
    assert [short(item) for item in found.dependencies] == ["@fig/leaf 4.1.2 unstated registry"]


def test_text_outside_the_sections_of_a_gemfile_lock_is_a_fault() -> None:
    found = read("gemfile", SAMPLES["gemfile"].text.replace("PLATFORMS", "what is this"))
    assert isinstance(found, Lockfile)
    assert [fault.kind for fault in found.faults] == ["entry"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pear==1.2", "pear 1.2 unstated registry"),
        ("pear==1.2,>=1", "pear 1.2 unstated registry"),
        ("pear >=1 , ==1.2 , !=1.3", "pear 1.2 unstated registry"),
        ("pear==1.2,==1.3", "pear ?==1.2,==1.3 unstated registry"),
        ("pear==1.*", "pear ?==1.* unstated registry"),
        ("pear-1.2.tar.gz", "pear ?pear-1.2.tar.gz unstated path"),
        ("https://code.example/pear-tree-1.2.zip", "pear-tree ?https://code.example/pear-tree-1.2.zip unstated url"),
        ("pear-1.2-py3-none-any.whl", "pear ?pear-1.2-py3-none-any.whl unstated path"),
    ],
)
def test_a_requirement_is_a_pin_when_it_admits_one_version(line: str, expected: str) -> None:
    found = read("requirements", line + "\n")
    assert isinstance(found, Lockfile)
    assert [short(item) for item in found.dependencies] == [expected]


def test_a_pom_may_name_the_version_of_its_parent_in_old_words() -> None:
    text = (
        "<project><parent><groupId>g</groupId><artifactId>p</artifactId><version>7</version></parent><dependencies>"
        "<dependency><groupId>${parent.groupId}</groupId><artifactId>a</artifactId><version>${pom.parent.version}"
        "</version></dependency></dependencies></project>"
    )
    found = read("pom", text)
    assert isinstance(found, Lockfile)
    assert [short(item) for item in found.dependencies] == ["g:a 7 direct registry"]


def test_a_pom_with_a_parent_is_incomplete() -> None:
    dependency = "<dependency><groupId>g</groupId><artifactId>a</artifactId><version>1</version></dependency>"
    whole = f"<project><dependencies>{dependency}</dependencies></project>"
    for text, expected in ((whole, []), (whole.replace("<dependencies>", "<parent/><dependencies>"), ["elsewhere"])):
        found = read("pom", text)
        assert isinstance(found, Lockfile)
        assert [short(item) for item in found.dependencies] == ["g:a 1 direct registry"]
        assert [fault.kind for fault in found.faults] == expected


def test_a_byte_of_latin_1_in_a_comment_hides_no_requirement() -> None:
    found = read("requirements", "# for Zoë\npear==1.2.3\nzoë==1\n".encode("latin-1"))
    assert isinstance(found, Lockfile)
    assert [short(item) for item in found.dependencies] == ["pear 1.2.3 unstated registry"]
    assert [(fault.kind, fault.line) for fault in found.faults] == [("entry", 3)]
