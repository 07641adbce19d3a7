"""Describes the shortest upgrade that ends a flaw, and whether the server's code imports the package at all."""

from __future__ import annotations

from typing import Final

from evidence.compiled_on_use import compile_on_use
from evidence.kinds.advisories import Group, Reach
from evidence.kinds.dependencies import INSTALLED
from scoring.text.evidence_path import clip_text

_COMMANDS: Final = {
    "package-lock": "npm update {name}",
    "uv": "uv lock --upgrade-package {name}",
    "poetry": "poetry update {name}",
    "cargo": "cargo update -p {name} --precise {fixed}",
    "go.mod": "go get {name}@v{fixed}",
    "composer": "composer update {name}",
    "gemfile": "bundle update {name}",
}
"""Commands that raise one package of a lockfile, transitive ones too, within the ranges of the others."""
_WORD: Final = compile_on_use(r"[@A-Za-z0-9][A-Za-z0-9@/._+-]{0,99}")
"""What may stand in a command: no character that a shell reads."""


def describe_upgrade(group: Group) -> str:
    """What to raise to which version, and what is known of imports; for the end of a message."""
    return f"{_describe_fix(group)}{_describe_imports(group)}"


def _describe_fix(group: Group) -> str:
    if not group.fixed:
        return "no fix is known"
    fixed = f"fixed in {clip_text(group.fixed)}"
    command = _find_command(group)
    if group.admitted:
        return f"{fixed}: {_describe_renewal(group, command)}, since all declared ranges allow it"
    if group.held_by:
        return f"{fixed}: {_describe_held(group)}"
    if group.relation is Reach.DIRECT:
        return f"{fixed}: raise {clip_text(group.package)} to it"
    if group.via:
        how = f"raise it in the lockfile (`{command}`)" if command else "raise it in the lockfile"
        return f"{fixed}: {how}, or {_join(group.via)}, which brings it"
    return f"{fixed}: `{command}`, if the other packages allow it" if command else fixed


def _describe_renewal(group: Group, command: str) -> str:
    if group.lock == INSTALLED:
        return "a new installation brings it"
    return f"`{command}` suffices" if command else f"renew {clip_text(group.package)} in the lockfile"


def _describe_held(group: Group) -> str:
    """The upgrade when declared ranges exclude the fixed version: they must be raised first."""
    package, declared = next((pair for pair in group.held_by if pair[0]), group.held_by[0])
    if not package:
        return f"raise your range {clip_text(declared)} of {clip_text(group.package)}"
    through = "" if group.relation is Reach.DIRECT or package in group.via or not group.via else _join(group.via)
    how = f"raise it through {through}" if through else "raise it"
    return f"{clip_text(package)} allows only {clip_text(declared)}: {how}, or override the version"


def _find_command(group: Group) -> str:
    words = (group.package, group.fixed)
    if group.lock not in _COMMANDS or not all(map(_WORD.fullmatch, words)):
        return ""
    return _COMMANDS[group.lock].format(name=group.package, fixed=group.fixed)


def _describe_imports(group: Group) -> str:
    if group.imported is False:
        return "; the code imports neither it nor what brings it" if group.via else "; the code imports it nowhere"
    return ""


def _join(names: tuple[str, ...]) -> str:
    return " or ".join(clip_text(name) for name in names)
