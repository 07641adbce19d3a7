"""Each example of the documents is run: its request is answered, and the answer is the one that is shown."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from publish.api.examples import ORIGIN, ExampleRequest
from publish.api.guide import make_openapi_document
from tests.publish.api.example_site import NOT_RECORDED, ask_all, list_requests, open_example_site, read_answer

GUIDES: Final = Path(__file__).resolve().parents[3] / "docs" / "guide"
JSON: Final = "application/json"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return {name: answer for name, _, answer in ask_all(tmp_path_factory.mktemp("examples"))}


def documented() -> Iterator[tuple[str, dict[str, Any]]]:
    """The successful responses of each operation."""
    for name, _, operation in list_requests():
        yield name, {status: one for status, one in operation["responses"].items() if status.startswith("2")}


@pytest.mark.parametrize("name", [name for name, _ in documented()])
def test_the_request_of_an_operation_gets_the_answer_that_is_shown(answers: dict[str, Any], name: str) -> None:
    answer = answers[name]
    shown = dict(documented())[name]
    assert str(answer.status_code) in shown, answer.text
    content = shown[str(answer.status_code)].get("content", {}).get(JSON)
    assert bool(content) == bool(answer.content)
    if content and name not in NOT_RECORDED:
        assert read_answer(answer) == content["example"], "run: python -m tests.publish.api.example_site --write"


def test_the_commands_of_the_document_are_its_requests() -> None:
    for _, request, operation in list_requests():
        (sample,) = operation["x-codeSamples"]
        assert parse_command(sample["source"]) == request


def test_the_answer_in_the_guide_is_the_answer(answers: dict[str, Any]) -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", (GUIDES / "api.md").read_text("utf-8"), re.DOTALL)
    assert json.loads(shown) == read_answer(answers["getServer"])


def commands() -> list[str]:
    """All command lines of the guides, in a line each."""
    found = []
    for guide in ("api.md", "maintainers.md"):
        text = re.sub(r"\\\n\s*", "", (GUIDES / guide).read_text("utf-8"))
        found += [line.strip() for line in text.splitlines() if line.startswith("    curl ")]
    return found


@pytest.mark.parametrize("command", commands())
def test_the_commands_of_the_guides_run(command: str, tmp_path: Path) -> None:
    with open_example_site(tmp_path) as site:
        request = parse_command(command)
        if request.method == "DELETE" and request.url.endswith("/opt-out"):
            put = next(one for name, one, _ in list_requests() if name == "optOut")
            assert site.ask(put).is_success
        answer = site.ask(request)
        assert answer.is_success, answer.text


def test_each_guide_has_commands() -> None:
    assert len(commands()) > len(list(list_requests())) > 30


def parse_command(text: str) -> ExampleRequest:
    """The request of a command line of curl."""
    server = make_openapi_document()["components"]["schemas"]["Server"]["properties"]["id"]["examples"][0]
    text = text.replace("$API", f"{ORIGIN}/api/v1").replace("$ID", server).partition(" #")[0]
    method, body, url, needs_token = "", "", "", False
    words = iter(shlex.split(text)[1:])
    for word in words:
        if word == "-X":
            method = next(words)
        elif word == "--json":
            body = json.dumps(json.loads(next(words)))
        elif word == "-H":
            needs_token = next(words) == "Authorization: Bearer $TOKEN"
        else:
            url = word
    return ExampleRequest(method or ("POST" if body else "GET"), url, body, needs_token)
