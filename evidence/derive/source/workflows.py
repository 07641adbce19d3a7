"""Reads workflows of GitHub Actions: actions that are not pinned, the rights of the token, and code of strangers.

The questions are those of OpenSSF Scorecard: Pinned-Dependencies, Token-Permissions and Dangerous-Workflow
(https://github.com/ossf/scorecard/blob/main/docs/checks.md). A workflow is composed to nodes and never constructed, and
only a bounded number of its steps is read, whatever its aliases repeat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import re2
import yaml

from evidence.canonical import Json

MAX_BYTES: Final = 128 * 1024
MAX_WORKFLOWS: Final = 50

_MOST_STEPS: Final = 500
_MOST_FOUND: Final = 20
_MAX_TEXT: Final = 200
_DEPTH: Final = 50
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_PATH: Final = re.compile(r"\.github/workflows/[^/]+\.ya?ml")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_IMAGE_DIGEST: Final = re.compile(r"@sha256:[0-9a-f]{64}$")
_CHECKOUT: Final = re.compile(r"actions/checkout@", re.IGNORECASE)
_PRIVILEGED_EVENTS: Final = frozenset({"pull_request_target", "workflow_run"})
"""Events by which a pull request of a fork starts a run with the secrets of the repository."""

_OPEN_EVENTS: Final = _PRIVILEGED_EVENTS | {"issues", "issue_comment", "discussion", "discussion_comment"}
"""Events that a stranger can cause, whose runs have the rights of the repository."""

_UNTRUSTED_REF: Final = re2.compile(
    r"github\.event\.pull_request\.(?:head|merge_commit_sha)|github\.head_ref"
    r"|github\.event\.workflow_run\.head_(?:sha|branch|commit)|refs/pull/"
)
_UNTRUSTED_TEXT: Final = re2.compile(
    r"\$\{\{[^}]*?\bgithub\.(?:head_ref|event\.(?:"
    r"issue\.(?:title|body)|pull_request\.(?:title|body|head\.(?:ref|label|repo\.default_branch))"
    r"|(?:comment|review|review_comment|discussion)\.(?:body|title)|pages[^}]*?\.page_name"
    r"|(?:head_commit|commits[^}]*?|workflow_run\.head_commit)\.(?:message|author\.(?:email|name))"
    r"|workflow_run\.head_branch))\b"
)
"""Texts that a stranger writes: https://docs.github.com/en/actions/concepts/security/script-injections."""

_QUESTION: Final = re2.compile(r"(?i)\b(?:contains|startsWith|endsWith)\([^(){}]*\)")
"""A question about a text, of which only true or false reaches the script."""

_HARMLESS_WRITES: Final = frozenset({"attestations", "id-token", "models"})
"""Rights to write that change nothing of the repository, its packages or its issues."""


def is_workflow(path: str) -> bool:
    """Whether GitHub runs the file, by its path from the root of the repository."""
    return _PATH.fullmatch(path) is not None


def read_workflow(path: str, data: bytes | None) -> dict[str, Json]:
    """What one workflow does, as in kind `source`; `why` says what was not read. `data` is None for a large file."""
    if data is None or len(data) > MAX_BYTES:
        return {"path": path, "why": f"more than {MAX_BYTES} bytes"}
    root = _compose(data)
    if _get(root, "jobs") is None:
        return {"path": path, "why": "not a workflow that can be read"}
    jobs = _mappings(value for _, value in _pairs(_get(root, "jobs")))
    steps = _mappings(step for steps in _sequences(_get(job, "steps") for job in jobs) for step in steps.value)
    used = [use for node in (*jobs, *steps[:_MOST_STEPS]) for use in _uses(node)]
    return {
        "path": path,
        "why": f"more than {_MOST_STEPS} steps" if len(steps) > _MOST_STEPS else None,
        "uses": len(used),
        "unpinned": _cut(f"{line} {_clip(use)}" for line, use in used if not _is_pinned(use)),
        "rights": _rights(root, jobs),
        "writes": _cut(sorted(set(_writes(_get(root, "permissions"))))),
        "untrusted": _cut(_untrusted(steps[:_MOST_STEPS], _events(_get(root, "on")))),
    }


def _compose(data: bytes) -> yaml.Node | None:
    """The document of a workflow; None for what is none. Composing recurses, so the depth is bounded before."""
    try:
        text = data.decode("utf-8")
        depth = 0
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEPTH:
                return None
        return yaml.compose(text, Loader=_LOADER)
    except (yaml.YAMLError, UnicodeDecodeError):
        return None


def _mappings(nodes: Iterable[yaml.Node]) -> list[yaml.MappingNode]:
    """The mappings, each once: an alias repeats a node without its text."""
    return list({id(node): node for node in nodes if isinstance(node, yaml.MappingNode)}.values())


def _sequences(nodes: Iterable[yaml.Node | None]) -> list[yaml.SequenceNode]:
    """The sequences, each once: many jobs may repeat one long list by an alias."""
    return list({id(node): node for node in nodes if isinstance(node, yaml.SequenceNode)}.values())


def _uses(node: yaml.MappingNode) -> Iterator[tuple[int, str]]:
    """The action, workflow or image that a step or a job uses; what the repository itself has needs no pin."""
    used = _get(node, "uses")
    if (text := _text(used)) and not text.startswith("./"):
        yield _line(used), text


def _is_pinned(use: str) -> bool:
    if use.startswith("docker://"):
        return _IMAGE_DIGEST.search(use) is not None
    return _COMMIT.fullmatch(use.rpartition("@")[2]) is not None


def _rights(root: yaml.Node | None, jobs: list[yaml.MappingNode]) -> str:
    """`declared` when the workflow or each job limits the rights of the token, `write-all`, else `default`."""
    stated = _get(root, "permissions")
    if _text(stated) == "write-all":
        return "write-all"
    if stated is not None:
        return "declared"
    each = [_get(job, "permissions") for job in jobs]
    return "declared" if each and all(own is not None and _text(own) != "write-all" for own in each) else "default"


def _writes(stated: yaml.Node | None) -> Iterator[str]:
    """What the token of every job may write, as far as it matters."""
    for scope, access in _pairs(stated):
        if _text(access) == "write" and (name := _text(scope)) not in _HARMLESS_WRITES:
            yield _clip(name)


def _untrusted(steps: list[yaml.MappingNode], events: frozenset[str]) -> Iterator[str]:
    """Steps in which a stranger's code or text runs with the rights of the repository."""
    for step in steps:
        used, script = _get(step, "uses"), _get(step, "run")
        ref = _text(_get(_get(step, "with"), "ref")) if _CHECKOUT.match(_text(used)) else ""
        if events & _PRIVILEGED_EVENTS and _UNTRUSTED_REF.search(ref):
            yield f"{_line(used)} checkout"
        if events & _OPEN_EVENTS and _UNTRUSTED_TEXT.search(_QUESTION.sub("", _text(script))):
            yield f"{_line(script)} script"


def _events(stated: yaml.Node | None) -> frozenset[str]:
    return frozenset({_text(stated), *map(_text, _items(stated)), *(_text(event) for event, _ in _pairs(stated))})


def _get(node: yaml.Node | None, name: str) -> yaml.Node | None:
    return next((value for key, value in _pairs(node) if _text(key) == name), None)


def _pairs(node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
    return node.value if isinstance(node, yaml.MappingNode) else []


def _items(node: yaml.Node | None) -> list[yaml.Node]:
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _text(node: yaml.Node | None) -> str:
    return node.value if isinstance(node, yaml.ScalarNode) else ""


def _line(node: yaml.Node | None) -> int:
    return node.start_mark.line + 1 if node is not None else 0


def _cut(found: Iterable[str]) -> list[Json]:
    return list(islice(found, _MOST_FOUND))


def _clip(text: str) -> str:
    return text[:_MAX_TEXT].encode("utf-8", "replace").decode()
