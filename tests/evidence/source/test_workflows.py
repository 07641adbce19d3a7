"""Workflows: pins, rights and strangers' code are read as Scorecard reads them; hostile files cost little."""

from __future__ import annotations

import time
from typing import Any

import pytest

from evidence.derive.source.workflows import MAX_BYTES, is_workflow, read_workflow

SHA = "0123456789abcdef0123456789abcdef01234567"
STEP = "    steps:\n      - "


def _read(text: str) -> dict[str, Any]:
    return read_workflow(".github/workflows/ci.yml", text.encode())


def _job(step: str, *, on: str = "push") -> str:
    return f"on: {on}\npermissions: {{contents: read}}\njobs:\n  a:\n    runs-on: x\n{STEP}{step}\n"


def test_only_files_that_github_runs_are_workflows() -> None:
    assert is_workflow(".github/workflows/ci.yml")
    assert is_workflow(".github/workflows/ci.yaml")
    assert not is_workflow("src/.github/workflows/ci.yml")
    assert not is_workflow(".github/workflows/scripts/x.yml")
    assert not is_workflow(".github/workflows/README.md")


@pytest.mark.parametrize(
    ("use", "pinned"),
    [
        ("actions/checkout@v4", False),
        ("actions/checkout@main", False),
        ("actions/checkout", False),
        (f"actions/checkout@{SHA[:12]}", False),
        (f"actions/checkout@{SHA}", True),
        (f"octo/tools/.github/workflows/x.yml@{SHA}", True),
        ("./.github/actions/own", True),
        ("docker://alpine:3", False),
        (f"docker://alpine@sha256:{'0' * 64}", True),
        ("'actions/checkout@v4' # a comment", False),
    ],
)
def test_an_action_needs_a_whole_commit(use: str, pinned: bool) -> None:
    found = _read(_job(f"uses: {use}"))["unpinned"]
    assert found == ([] if pinned else [f"7 {use.partition(' #')[0].strip(chr(39))}"])


def test_a_reusable_workflow_of_a_job_needs_a_pin_too() -> None:
    assert _read("on: push\njobs:\n  a:\n    uses: octo/x/.github/workflows/y.yml@v1\n")["unpinned"] == [
        "4 octo/x/.github/workflows/y.yml@v1"
    ]


@pytest.mark.parametrize(
    ("top", "own", "rights", "writes"),
    [
        ("", "", "default", []),
        ("permissions: write-all", "", "write-all", []),
        ("permissions: read-all", "", "declared", []),
        ("permissions: {}", "", "declared", []),
        ("permissions: {contents: write, id-token: write, pages: read}", "", "declared", ["contents"]),
        ("", "permissions: {contents: write}", "declared", []),
        ("", "permissions: write-all", "default", []),
    ],
)
def test_the_rights_of_the_token(top: str, own: str, rights: str, writes: list[str]) -> None:
    found = _read(f"on: push\n{top}\njobs:\n  a:\n    runs-on: x\n    {own}\n{STEP}run: x\n")
    assert (found["rights"], found["writes"]) == (rights, writes)


def test_rights_of_one_job_do_not_limit_another() -> None:
    text = f"on: push\njobs:\n  a:\n    permissions: {{}}\n{STEP}run: x\n  b:\n    runs-on: x\n"
    assert _read(text)["rights"] == "default"


HEAD = "${{ github.event.pull_request.head.sha }}"
TITLE = "echo ${{ github.event.issue.title }}"


@pytest.mark.parametrize(
    ("on", "step", "untrusted"),
    [
        ("pull_request_target", f"uses: actions/checkout@v4\n        with: {{ref: '{HEAD}'}}", ["7 checkout"]),
        ("[push, pull_request_target]", f"uses: actions/checkout@v4\n        with: {{ref: '{HEAD}'}}", ["7 checkout"]),
        ("workflow_run", "uses: actions/checkout@v4\n        with: {ref: '${{github.head_ref}}'}", ["7 checkout"]),
        ("pull_request", f"uses: actions/checkout@v4\n        with: {{ref: '{HEAD}'}}", []),
        ("pull_request_target", "uses: actions/checkout@v4", []),
        ("issues", f"run: {TITLE}", ["7 script"]),
        ("{issue_comment: {types: [created]}}", "run: echo '${{ github.event.comment.body }}'", ["7 script"]),
        ("push", f"run: {TITLE}", []),
        ("issues", "run: echo $T\n        env: {T: '${{ github.event.issue.title }}'}", []),
        ("issues", "run: echo ${{ github.event.issue.number }}", []),
        ("issues", "run: echo github.event.issue.title", []),
        ("issues", "run: echo ${{ !contains(github.event.issue.title, 'wip') }}", []),
        ("issues", "run: echo ${{ contains('a', 'b') && github.event.issue.title }}", ["7 script"]),
        ("issues", "run: echo contains( ${{ github.event.issue.title }} )", ["7 script"]),
    ],
)
def test_only_what_a_stranger_can_start_with_rights_is_untrusted(on: str, step: str, untrusted: list[str]) -> None:
    assert _read(_job(step, on=on))["untrusted"] == untrusted


@pytest.mark.parametrize(
    "text",
    ["", "\x00", "a: [", "on: push", "- jobs", "jobs", "&a [*a]", "jobs: {a: &a {x: *a}}", "[" * 60_000, "- " * 60_000],
    ids=range(10),
)  # fmt: skip
def test_what_is_no_workflow_is_said(text: str) -> None:
    assert _read(text)["why"] in {"not a workflow that can be read", None}
    assert _read("jobs: {}")["why"] is None
    assert read_workflow("x", None)["why"] == f"more than {MAX_BYTES} bytes"
    assert read_workflow("x", b"a" * (MAX_BYTES + 1))["why"] == f"more than {MAX_BYTES} bytes"
    assert read_workflow("x", b"\xff\xfe")["why"] == "not a workflow that can be read"


def test_aliases_repeat_nothing_and_long_scripts_cost_no_time() -> None:
    step = f"- &s {{uses: a/b@v1, run: '{'${{ ' * 10_000}'}}\n"
    text = f"on: issues\njobs:\n  a: &j\n    steps:\n      {step}" + "      - *s\n" * 6_000
    text += "".join(f"  j{number}: *j\n" for number in range(1_000))
    started = time.process_time()
    found = _read(text)
    assert time.process_time() - started < 5
    assert (found["uses"], found["why"]) == (1, None)


def test_many_jobs_that_repeat_one_long_list_of_steps_cost_no_time() -> None:
    jobs = "".join(f"  j{number}: {{steps: *s}}\n" for number in range(2_500))
    text = f"x: &s [{'{},' * 16_000}{{}}]\non: push\njobs:\n{jobs}"
    started = time.process_time()
    assert _read(text)["why"] == "more than 500 steps"
    assert time.process_time() - started < 1


def test_more_steps_than_the_bound_are_said() -> None:
    found = _read("on: push\njobs:\n  a:\n    steps:\n" + "      - {uses: a/b@v1}\n" * 600)
    assert (found["uses"], found["why"], len(found["unpinned"])) == (500, "more than 500 steps", 20)
