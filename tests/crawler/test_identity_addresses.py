"""One spelling per address, and nothing that hides another."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.addresses import (
    OciReference,
    UnusableAddress,
    is_local_url,
    normalise_bundle_url,
    normalise_folder,
    normalise_npm_name,
    normalise_pypi_name,
    normalise_repository_url,
    normalise_url,
    parse_oci_reference,
)
from tests.sampling import examples


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.com", "https://example.com"),
        ("https://example.com/", "https://example.com"),
        ("HTTPS://EXAMPLE.com.:443/Path/", "https://example.com/Path"),
        ("http://example.com:80/a//", "http://example.com/a"),
        ("http://example.com:0443/", "http://example.com:443"),
        ("https://example.com/a?q=1&Q=%7e%2f#frag", "https://example.com/a?q=1&Q=~%2F"),
        ("https://example.com/?", "https://example.com"),
        ("https://example.com/a/../b/./c", "https://example.com/b/c"),
        ("https://example.com/../../a", "https://example.com/a"),
        ("https://example.com/%7Euser/%e2%9c%93", "https://example.com/~user/%E2%9C%93"),
        ("https://example.com/✓", "https://example.com/%E2%9C%93"),
        ("https://bücher.example/x", "https://xn--bcher-kva.example/x"),
        ("https://BÜCHER.example/x", "https://xn--bcher-kva.example/x"),
        ("https://[2001:DB8:0:0::1]:8443/x", "https://[2001:db8::1]:8443/x"),
        ("http://127.0.0.1:8000/s/1/mcp", "http://127.0.0.1:8000/s/1/mcp"),
        ("https://a_b.example.com/x", "https://a_b.example.com/x"),
    ],
)
def test_urls_have_one_spelling(url: str, expected: str) -> None:
    assert normalise_url(url) == expected
    assert normalise_url(expected) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "ftp://example.com",
        "file:///etc/passwd",
        "https://",
        "https:///path",
        "https://user@example.com",
        "https://user:secret@example.com",
        "https://@example.com",
        "https://{tenant}.example.com",
        "https://example.com/{id}",
        "https://example.com/a b",
        "https://example.com/\n",
        "https://example.com\\@evil.example",
        "https://example.com/\ud800",
        "https://example.com/%zz",
        "https://example.com:99999",
        "https://example.com:0",
        "https://example.com:x",
        "https://exa mple.com",
        "https://-bad.example.com",
        "https://a..example.com",
        "https://" + "a" * 64 + ".example.com",
        "https://0x7f.1/",
        "https://2130706433/",
        "https://127.1/",
        "https://1.2.3.4.5/",
        "https://[::1",
        "https://[fe80::1%25eth0]/",
        "https://\u2024.example.com/",
        "https://example.com/" + "a" * 3000,
    ],
)
def test_what_hides_or_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(UnusableAddress):
        normalise_url(url)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:3000/mcp", True),
        ("http://127.0.0.1/mcp", True),
        ("http://[::1]/mcp", True),
        ("http://192.168.1.2/mcp", True),
        ("http://printer.local/mcp", True),
        ("http://intranet/mcp", True),
        ("https://example.com/mcp", False),
        ("https://1.1.1.1/mcp", False),
    ],
)
def test_local_addresses_are_known(url: str, local: bool) -> None:
    assert is_local_url(url) is local


@pytest.mark.parametrize("name", ["a", "@a/b", "@a-b/c.d", "JSONStream", "a_b", "~x"])
def test_npm_names_are_kept(name: str) -> None:
    assert normalise_npm_name(name) == name


@pytest.mark.parametrize(
    "name", ["", ".a", "_a", "-a", "a/b", "@a", "@a/", "@/a", "@A/b", "a b", "a@1", "../a", "a\n", "é", "a" * 215]
)
def test_what_is_no_npm_name_is_refused(name: str) -> None:
    with pytest.raises(UnusableAddress):
        normalise_npm_name(name)


@pytest.mark.parametrize("name", ["Foo.Bar", "foo-bar", "foo__bar", "FOO-_.bar"])
def test_python_names_have_one_spelling(name: str) -> None:
    assert normalise_pypi_name(name) == "foo-bar"


@pytest.mark.parametrize("name", ["", "-a", "a-", "a b", "a==1", "a[x]", "a;x", "a\n", "-r x", "é"])
def test_what_is_no_python_name_is_refused(name: str) -> None:
    with pytest.raises(UnusableAddress):
        normalise_pypi_name(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("time", OciReference("docker.io/library/time")),
        ("mcp/time", OciReference("docker.io/mcp/time")),
        ("docker.io/mcp/time:1.0", OciReference("docker.io/mcp/time", "1.0")),
        ("index.docker.io/mcp/time", OciReference("docker.io/mcp/time")),
        ("ghcr.io/a/b/c:v1", OciReference("ghcr.io/a/b/c", "v1")),
        ("localhost:5000/a:1", OciReference("localhost:5000/a", "1")),
        ("GHCR.io/a/b", OciReference("ghcr.io/a/b")),
        ("a/b:1@sha256:" + "0" * 64, OciReference("docker.io/a/b", "1", "sha256:" + "0" * 64)),
    ],
)
def test_image_references_have_one_spelling(text: str, expected: OciReference) -> None:
    assert parse_oci_reference(text) == expected


@pytest.mark.parametrize(
    "text", ["", "A/b", "@a/b", "a b", "a/b@", "a/b@sha256:xyz", "a//b", "-x", "a:b:c", "a/b:", "h:x/a", "../a", "a\n"]
)
def test_what_is_no_image_reference_is_refused(text: str) -> None:
    with pytest.raises(UnusableAddress):
        parse_oci_reference(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://github.com/Owner/Repo", "https://github.com/owner/repo"),
        ("https://www.github.com/Owner/Repo.git/", "https://github.com/owner/repo"),
        ("git@github.com:Owner/Repo.git", "https://github.com/owner/repo"),
        ("ssh://git@github.com:22/Owner/Repo.git", "https://github.com/owner/repo"),
        ("git+https://github.com/owner/repo.git", "https://github.com/owner/repo"),
        ("git://github.com/owner/repo", "https://github.com/owner/repo"),
        ("github:owner/repo", "https://github.com/owner/repo"),
        ("http://github.com/owner/repo?tab=readme", "https://github.com/owner/repo"),
        ("https://github.com/Owner/Repo/tree/main/src/Time", "https://github.com/owner/repo#src/Time"),
        ("https://github.com/owner/repo/tree/main", "https://github.com/owner/repo"),
        ("https://github.com/owner/repo#src/time", "https://github.com/owner/repo#src/time"),
        ("https://gitlab.com/Group/Sub/Repo/-/tree/main/x", "https://gitlab.com/group/sub/repo#x"),
        ("https://git.example.com/Case/Kept.git", "https://git.example.com/Case/Kept"),
    ],
)
def test_repositories_have_one_spelling(text: str, expected: str) -> None:
    assert normalise_repository_url(text) == expected
    assert normalise_repository_url(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "https://github.com/owner",
        "https://github.com",
        "file:///x",
        "https://github.com/a/b#../..",
        "a:b",
    ],
)
def test_what_is_no_repository_is_refused(text: str) -> None:
    with pytest.raises(UnusableAddress):
        normalise_repository_url(text)


@pytest.mark.parametrize(("folder", "expected"), [("src/x", "src/x"), ("./src//x/", "src/x"), ("", ""), (".", "")])
def test_folders_have_one_spelling(folder: str, expected: str) -> None:
    assert normalise_folder(folder) == expected


def test_releases_of_a_bundle_are_one_server() -> None:
    base = "https://github.com/Owner/repo/releases/download"
    first = normalise_bundle_url(f"{base}/v1.7.2/thing-1.7.2.mcpb")
    assert (
        first == normalise_bundle_url(f"{base}/v1.7.3/thing-1.7.3.mcpb") == "https://github.com/owner/repo#thing-*.mcpb"
    )
    assert normalise_bundle_url("https://example.com/thing.mcpb") == "https://example.com/thing.mcpb"


@settings(max_examples=examples(500))
@given(st.text(max_size=60) | st.text("htps:/.@[]%#?0123xn-{}\\ aéß", max_size=40).map(lambda text: "https://" + text))
def test_every_normalisation_is_stable_or_refuses(text: str) -> None:
    for normalise in (normalise_url, normalise_npm_name, normalise_pypi_name, normalise_repository_url):
        with contextlib.suppress(UnusableAddress):
            once = normalise(text)
            assert normalise(once) == once
            once.encode("utf-8")
    with contextlib.suppress(UnusableAddress):
        once = parse_oci_reference(text).repository
        assert parse_oci_reference(once).repository == once
    with contextlib.suppress(UnusableAddress):
        normalise_bundle_url(text)
