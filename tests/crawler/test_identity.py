"""Which entries are one server; and one publisher cannot claim the server of another."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.identity import canonical_ref, merge_references, owns_address, target_ref
from evidence.model import ServerRef, Status, Target, TargetType

URL = "https://mcp.example.com/mcp"


def remote(url: str = URL, **members: tuple[tuple[str, str], ...]) -> Target:
    return Target(type=TargetType.STREAMABLE_HTTP, identifier=url, **members)


def ref(
    registry: str = "official",
    name: str = "com.example/server",
    *targets: Target,
    status: Status = Status.ACTIVE,
    repository: str | None = None,
    version: str = "1",
) -> ServerRef:
    return ServerRef(
        registry=registry,
        name=name,
        version=version,
        status=status,
        entry=b"{}",
        targets=targets,
        repository=repository,
        error="bad" if status is Status.INVALID else None,
    )


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (remote("HTTPS://MCP.Example.com:443/mcp/#x"), URL),
        (Target(type=TargetType.SSE, identifier=URL), URL),
        (Target(type=TargetType.NPM, identifier="@a/b", version="1"), "npm:@a/b"),
        (Target(type=TargetType.PYPI, identifier="Foo__Bar.baz"), "pypi:foo-bar-baz"),
        (Target(type=TargetType.OCI, identifier="time:1"), "oci:docker.io/library/time"),
        (Target(type=TargetType.NUGET, identifier="Example.Thing"), "nuget:example.thing"),
        (Target(type=TargetType.CARGO, identifier="Thing_one"), "cargo:thing-one"),
    ],
)
def test_the_first_target_decides_who_a_server_is(target: Target, expected: str) -> None:
    assert canonical_ref(ref("a", "a/b", target, remote("https://other.example"))) == expected == target_ref(target)


def test_without_a_target_the_repository_decides_and_without_both_the_entry() -> None:
    assert canonical_ref(ref(repository="git@github.com:A/B.git")) == "repo:https://github.com/a/b"
    assert canonical_ref(ref(repository="https://github.com/a/b#src/c")) == "repo:https://github.com/a/b#src/c"
    assert canonical_ref(ref()) == "entry:official/com.example/server"
    assert canonical_ref(ref(repository="nonsense")) == "entry:official/com.example/server"


def test_an_invalid_entry_is_only_itself() -> None:
    assert canonical_ref(ref("a", "x/y", remote(), status=Status.INVALID)) == "entry:a/x/y"


def test_templates_and_commands_are_no_identity() -> None:
    assert canonical_ref(ref("a", "x/y", remote("https://{tenant}.example.com/mcp"))) == "entry:a/x/y"
    command = Target(type=TargetType.COMMAND, identifier="/tmp", arguments=("true",))
    assert canonical_ref(ref("a", "x/y", command)) == "entry:a/x/y"


def test_one_server_in_two_registries_is_one_server() -> None:
    official = ref("official", "com.example/server", remote(), repository="https://github.com/example/server")
    docker = ref("docker", "example", Target(type=TargetType.SSE, identifier=URL + "/"))
    server = merge_references([docker, official])
    assert (server.ref, server.name, server.seen_in) == (URL, "com.example/server", ("docker", "official"))
    assert server.repository == "https://github.com/example/server"
    assert server.targets == official.targets


def test_a_less_trusted_registry_adds_nothing() -> None:
    official = ref("official", "com.example/server", remote())
    hostile = ref(
        "https://registry.evil.example",
        "aaa.evil/server",
        remote(headers=(("X-Evil", "1"),)),
        remote("https://evil.example/mcp"),
        repository="https://github.com/evil/evil",
        version="999",
    )
    server = merge_references([hostile, official])
    assert (server.name, server.targets, server.repository) == ("com.example/server", official.targets, None)


def test_in_one_registry_the_name_that_owns_the_address_speaks() -> None:
    owner = ref("official", "com.example/server", remote())
    hostile = ref("official", "aaa.evil/server", remote(), remote("https://evil.example/mcp"))
    assert merge_references([hostile, owner]).name == "com.example/server"


def test_a_deleted_entry_does_not_speak_for_a_living_one() -> None:
    gone = ref("official", "com.example/server", remote(), status=Status.DELETED)
    alive = ref("docker", "example", remote())
    assert (merge_references([gone, alive]).name, merge_references([gone, alive]).seen_in) == ("example", ("docker",))
    assert merge_references([gone]).seen_in == ("official",)


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ("file:mine", "starter"),
        ("starter", "official"),
        ("official", "docker"),
        ("docker", "https://registry.example"),
        ("docker", "a-name-from-the-settings"),
    ],
)
def test_registries_are_trusted_in_a_fixed_order(stronger: str, weaker: str) -> None:
    assert (
        merge_references([ref(weaker, "com.example/weak", remote()), ref(stronger, "z/strong", remote())]).name
        == "z/strong"
    )


def test_refs_of_different_servers_are_not_merged() -> None:
    with pytest.raises(ValueError, match="refs of one server expected"):
        merge_references([ref("a", "x/y", remote()), ref("a", "x/z", remote("https://other.example"))])


@pytest.mark.parametrize(
    ("name", "canonical", "expected"),
    [
        ("com.example/x", "https://mcp.example.com/mcp", True),
        ("com.example.mcp/x", "https://mcp.example.com/mcp", True),
        ("com.example/x", "https://example.com", True),
        ("com.example/x", "https://badexample.com", False),
        ("com.example/x", "https://example.com.evil.org", False),
        ("com/x", "https://example.com", False),
        ("example", "https://example", False),
        ("io.github.User/x", "https://user.github.io/mcp", True),
        ("io.github.user/x", "https://other.github.io/mcp", False),
        ("io.github.user/x", "npm:@user/x", True),
        ("io.github.user/x", "npm:@user2/x", False),
        ("io.github.user/x", "npm:user", False),
        ("io.github.user/x", "repo:https://github.com/user/x", True),
        ("io.github.user.more/x", "npm:@user/x", False),
        ("io.gitlab.user/x", "npm:@user/x", False),
    ],
)
def test_a_namespace_owns_its_domain_and_its_forge_account(name: str, canonical: str, expected: bool) -> None:
    assert owns_address(name, canonical) is expected


names = st.sampled_from(["com.example/a", "com.example/b", "org.evil/a", "io.github.user/x", "plain"])
registries = st.sampled_from(
    ["official", "docker", "starter", "file:mine", "https://one.example", "https://two.example"]
)
extras = st.lists(
    st.sampled_from([remote("https://extra.example/mcp"), Target(type=TargetType.NPM, identifier="extra")]), max_size=2
)
same_server = st.builds(
    lambda registry, name, first, extra, status, repository, version: ref(
        registry, name, remote(first), *extra, status=status, repository=repository, version=version
    ),
    registries,
    names,
    st.sampled_from([URL, URL + "/", "HTTPS://mcp.example.com:443/mcp#f"]),
    extras,
    st.sampled_from([Status.ACTIVE, Status.DEPRECATED, Status.DELETED]),
    st.sampled_from([None, "https://github.com/a/b"]),
    st.sampled_from(["1", "2"]),
)


@given(st.lists(same_server, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_merging_does_not_depend_on_order_or_repetition(refs: list[ServerRef], chance: random.Random) -> None:
    server = merge_references(refs)
    shuffled = refs * 2
    chance.shuffle(shuffled)
    assert merge_references(shuffled) == server


@given(st.lists(same_server, min_size=1, max_size=6))
def test_everything_but_the_registries_comes_from_one_ref(refs: list[ServerRef]) -> None:
    server = merge_references(refs)
    assert (server.name, server.targets, server.repository) in {
        (other.name, other.targets, other.repository) for other in refs
    }
    assert set(server.seen_in) <= {other.registry for other in refs}


@given(st.lists(same_server, min_size=1, max_size=5), st.lists(extras, min_size=1, max_size=3))
def test_no_number_of_registrations_elsewhere_changes_an_owned_server(
    claims: list[ServerRef], more: list[list[Target]]
) -> None:
    owner = ref("official", "com.example/server", remote(), repository="https://github.com/example/server")
    hostile = [
        ref(f"https://evil{index}.example", claim.name, remote(), *extra)
        for index, (claim, extra) in enumerate(zip(claims, more, strict=False))
    ]
    server = merge_references([*hostile, owner])
    assert (server.name, server.targets, server.repository) == (owner.name, owner.targets, owner.repository)
