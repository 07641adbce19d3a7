"""Rule `remote-variable-undeclared`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_remote
from scoring.results.outcome import Severity
from scoring.scopes.base import Remote
from scoring.text.evidence_path import clip_text

_VARIABLE = re.compile(r"\{([^{}]+)\}")


@rule(
    "remote-variable-undeclared",
    scope=Remote,
    reads="registration",
    severity=Severity.WARNING,
    title="The URL of a remote has a variable that is not declared",
    remedy="Declare each placeholder of the `url` in `variables` of the remote, under the same name and with a "
    "`description`.",
    since="2026.1",
    version=1,
    fix=(
        build_remote(url="https://{tenant}.notes.example/mcp"),
        build_remote(url="https://{tenant}.notes.example/mcp", variables={"tenant": {"description": "Your tenant"}}),
    ),
    good=[build_remote()],
)
def remote_variable_undeclared(remote: Remote) -> Iterator[str]:
    """The user must fill in each placeholder of the URL and needs to know its value.

    Declare it in `variables`.
    """
    variables = remote.raw.get("variables")
    declared = variables if isinstance(variables, Mapping) else {}
    for name in dict.fromkeys(_VARIABLE.findall(remote.text("url"))):
        if name not in declared:
            yield f"{{{clip_text(name)}}} is not in variables"
