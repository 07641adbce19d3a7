"""Words of uvx, npx, python and node are separated from the arguments of the server that they start."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.registries.targets import find_reachable_targets
from evidence.launch_options import LaunchOptions
from evidence.model import Target


def target(kind: str, identifier: str, *words: str, runtime: tuple[str, ...] = ()) -> Target:
    """The target of a package with these arguments; a word that begins with a hyphen is named, `--a=b` has a value."""
    entry = {
        "registryType": kind,
        "identifier": identifier,
        "packageArguments": [argument(word) for word in words],
        "runtimeArguments": [argument(word) for word in runtime],
    }
    [found] = find_reachable_targets({"packages": [entry]}).targets
    return found


def argument(word: str) -> dict[str, Any]:
    name, mark, value = word.partition("=")
    if not word.startswith("-"):
        return {"type": "positional", "value": word, "isRequired": True}
    return {"type": "named", "name": name, **({"value": value} if mark else {}), "isRequired": bool(mark)}


@pytest.mark.parametrize(
    ("words", "command", "rest"),
    [
        (("--directory=/path/to/server", "run", "my-server", "--port=1"), "my-server", ("--port", "1")),
        (("--directory=/path/to/server", "run", "server.py"), "", ()),
        (("uvx", "my_server", "--verbose"), "my_server", ("--verbose",)),
        (("--from=my-server", "other-command", "go"), "other-command", ("go",)),
        (("--from=my-server",), "", ()),
        (("-m=my_server.cli", "--transport=stdio"), "-m my_server.cli", ("--transport", "stdio")),
        (("-m my_server.cli",), "-m my_server.cli", ()),
        (("run main.py",), "", ()),
        (("my-server",), "my-server", ()),
    ],
)
def test_the_words_of_a_python_launcher_are_no_arguments(
    words: tuple[str, ...], command: str, rest: tuple[str, ...]
) -> None:
    found = target("pypi", "my-server", *words)
    assert (found.launch.command, found.arguments, found.inputs) == (command, rest, ())


@pytest.mark.parametrize(
    ("words", "command", "rest"),
    [
        (("-y", "@scope/server", "--flag"), "", ("--flag",)),
        (("/path/to/server/build/index.js", "go"), "", ("go",)),
        (("node", "start-here.js", "go"), "", ("go",)),
        (("openapi.config.js",), "", ("openapi.config.js",)),
        (("--experimental-modules", "--max-old-space-size=4096", "node/dist/index.mjs"), "", ()),
        (("--package=@scope/server", "other"), "other", ()),
    ],
)
def test_the_words_of_npx_and_node_are_no_arguments(
    words: tuple[str, ...], command: str, rest: tuple[str, ...]
) -> None:
    found = target("npm", "@scope/server", *words)
    assert (found.launch.command, found.arguments) == (command, rest)


@pytest.mark.parametrize(
    "words",
    [
        ("start",),
        ("mcp", "run"),
        ("--directory=here",),
        ("--python=3.12", "serve"),
        ("--port=80", "server"),
        ("-m=llama3", "go"),
    ],
)
def test_arguments_that_only_resemble_a_launchers_stay(words: tuple[str, ...]) -> None:
    found = target("pypi", "my-server", *words)
    assert found.launch == LaunchOptions()
    assert found.arguments == tuple(part for word in words for part in word.split("="))


def test_arguments_of_the_runtime_choose_python_packages_and_command() -> None:
    runtime = (
        "--python=3.12",
        "--with=pandas>=2",
        "--with=git+https://host.example/x",
        "--from=my-server[cli]==1",
        "go",
    )
    found = target("pypi", "my-server", "--verbose", runtime=runtime)
    assert found.launch == LaunchOptions(command="go", python="3.12", requirements=("pandas>=2", "my-server[cli]"))
    assert found.arguments == ("--verbose",)


def test_no_address_or_path_becomes_a_requirement() -> None:
    runtime = ("--with=x @ https://host.example/x.whl", "--with=./here", "--with=/etc/x", "--with=-r/etc/passwd")
    assert target("pypi", "my-server", runtime=runtime).launch == LaunchOptions()


def test_only_a_local_address_of_the_transport_is_kept() -> None:
    def url(address: str) -> str:
        package = {
            "registryType": "npm",
            "identifier": "server",
            "transport": {"type": "streamable-http", "url": address},
        }
        return find_reachable_targets({"packages": [package]}).targets[0].launch.url

    assert url("http://localhost:8080/mcp") == "http://localhost:8080/mcp"
    assert [url(address) for address in ("https://host.example.com/mcp", "", "http://127.0.0.1:{port}/mcp", "x")] == [
        ""
    ] * 4


def test_an_optional_path_is_left_out_and_a_required_one_is_asked_for() -> None:
    package = {
        "registryType": "npm",
        "identifier": "server",
        "packageArguments": [
            {"type": "named", "name": "--config", "default": "/etc/server/config.json"},
            {"type": "named", "name": "--level", "default": "info"},
            {"type": "positional", "value": "/Users/ann/notes", "isRequired": True},
        ],
    }
    [found] = find_reachable_targets({"packages": [package]}).targets
    assert found.arguments == ("--level", "info")
    assert [each.required for each in found.inputs] == [True]
