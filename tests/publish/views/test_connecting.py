"""How a client connects: quoted commands, encoded JSON, and nothing for what a client cannot start."""

from __future__ import annotations

import json
import shlex

import pytest

from evidence.launch_options import LaunchOptions
from evidence.model import Server, Target, TargetType
from evidence.package_inputs import InputPlace, PackageInput
from publish.views.connecting import describe_connection
from tests.publish import samples


def server(*targets: Target, name: str = "com.example/notes") -> Server:
    return Server(ref="npm:notes", name=name, targets=targets)


@pytest.mark.parametrize(
    ("target", "command"),
    [
        (Target(type=TargetType.NPM, identifier="@a/b", version="1.2.3"), "npx -y @a/b@1.2.3"),
        (Target(type=TargetType.NPM, identifier="b", arguments=("a b", "$(x)")), "npx -y b 'a b' '$(x)'"),
        (Target(type=TargetType.NPM, identifier="b", launch=LaunchOptions(command="c")), "npx -y --package b c"),
        (Target(type=TargetType.PYPI, identifier="b", version="1"), "uvx b@1"),
        (
            Target(
                type=TargetType.PYPI,
                identifier="b",
                launch=LaunchOptions(command="-m b.cli", python="3.12", requirements=("x<2",)),
            ),
            "uvx --python 3.12 --with 'x<2' --from b python -m b.cli",
        ),
        (Target(type=TargetType.OCI, identifier="x.example/b", version="1"), "docker run -i --rm x.example/b:1"),
        (
            Target(type=TargetType.OCI, identifier="x.example/b", version="sha256:00"),
            "docker run -i --rm x.example/b@sha256:00",
        ),
        (Target(type=TargetType.STREAMABLE_HTTP, identifier="https://a.example/mcp"), "https://a.example/mcp"),
    ],
)
def test_the_command_of_each_kind_of_target(target: Target, command: str) -> None:
    made = describe_connection(server(target))
    assert made is not None
    assert made.command == command
    (name, entry), *others = json.loads(made.config)["mcpServers"].items()
    assert (name, others) == ("notes", [])
    words = [entry["url"]] if target.type.is_remote else [entry["command"], *entry["args"]]
    assert words == ([command] if target.type.is_remote else shlex.split(command))


def test_required_inputs_are_named_and_no_value_is_made_up() -> None:
    inputs = (
        PackageInput(place=InputPlace.ENVIRONMENT, name="API_KEY", required=True, secret=True),
        PackageInput(place=InputPlace.ENVIRONMENT, name="REGION"),
        PackageInput(place=InputPlace.OPTION, name="--root", required=True),
        PackageInput(place=InputPlace.WORD, name="folder", required=True),
    )
    target = Target(type=TargetType.NPM, identifier="b", environment=(("MODE", "very fast"),), inputs=inputs)
    made = describe_connection(server(target))
    assert made is not None
    assert made.command == "MODE='very fast' API_KEY=YOUR_API_KEY npx -y b --root YOUR_ROOT YOUR_FOLDER"
    entry = json.loads(made.config)["mcpServers"]["notes"]
    assert entry["env"] == {"MODE": "very fast", "API_KEY": "YOUR_API_KEY"}
    assert entry["args"] == ["-y", "b", "--root", "YOUR_ROOT", "YOUR_FOLDER"]


def test_a_container_gets_its_variables_and_a_remote_its_headers() -> None:
    inputs = (PackageInput(place=InputPlace.ENVIRONMENT, name="KEY", required=True),)
    image = describe_connection(server(Target(type=TargetType.OCI, identifier="x.example/b", inputs=inputs)))
    remote = describe_connection(
        server(Target(type=TargetType.SSE, identifier="https://a.example/sse", headers=(("X-Plan", "free"),)))
    )
    assert image is not None and remote is not None
    assert image.command == "KEY=YOUR_KEY docker run -i --rm -e KEY x.example/b"
    assert json.loads(remote.config)["mcpServers"]["notes"]["headers"] == {"X-Plan": "free"}


@pytest.mark.parametrize(
    "target",
    [
        Target(type=TargetType.COMMAND, identifier="/home/x", arguments=("server",)),
        Target(type=TargetType.CARGO, identifier="b"),
        Target(type=TargetType.NPM, identifier="b" * 300),
        Target(type=TargetType.NPM, identifier="b\n; rm -rf"),
        Target(type=TargetType.NPM, identifier="b", arguments=("x\u202e",)),
        Target(type=TargetType.STREAMABLE_HTTP, identifier=samples.HOSTILE),
    ],
    ids=lambda target: target.type.value,
)
def test_what_a_client_cannot_start_and_hostile_names_have_no_command(target: Target) -> None:
    assert describe_connection(server(target)) is None


def test_the_first_target_that_can_be_described_is_taken_and_any_name_makes_a_key() -> None:
    npm = Target(type=TargetType.NPM, identifier="b")
    made = describe_connection(server(Target(type=TargetType.CARGO, identifier="b"), npm, name="天気/🎉"))
    assert made is not None
    assert list(json.loads(made.config)["mcpServers"]) == ["server"]
