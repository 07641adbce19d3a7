"""Words for what a rule judges, for readers who do not know the names of our classes."""

from __future__ import annotations

from typing import Final

from scoring.engine.rule import Rule

_SUBJECTS: Final = {
    "Access": "server, as it answers without credentials",
    "Attempt": "attempt to connect",
    "Audit": "list of advisories about a server",
    "Code": "source code of a server",
    "Conversation": "conversation with a server",
    "Drifted": "listing that was approved before",
    "Encounter": "session with the official client",
    "ListedResource": "resource or resource template",
    "Locked": "project that declares dependencies",
    "Package": "package of a registry entry",
    "Param": "parameter of a tool",
    "Project": "project of a server",
    "Prompt": "prompt",
    "PromptArg": "argument of a prompt",
    "Published": "package in its index",
    "Publisher": "publisher of a server",
    "ReadResource": "resource that was read",
    "Readme": "README",
    "Registered": "server in a registry",
    "Remote": "remote address of a registry entry",
    "Resource": "resource",
    "Said": "server, all its texts for models",
    "Searched": "source code of a server, searched for secrets",
    "Server": "server",
    "Setting": "setting that a user provides",
    "Survival": "server, after requests that stop some servers",
    "Tool": "tool",
    "ToolResult": "result of a tool",
    "Toolset": "server, all its tools together",
    "Trial": "test call of a tool",
    "Variable": "environment variable in the code",
    "Workflow": "workflow of GitHub Actions",
}
"""By the name of the scope; each reads on after "each"."""


def describe_subject(rule: Rule) -> str:
    """What a rule judges, such as "parameter of a tool"; KeyError for a scope without words."""
    return _SUBJECTS[rule.scope.__name__]
