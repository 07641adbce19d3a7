"""Describes the shortest upgrade that ends a flaw, and whether the server's code imports the package at all."""

from __future__ import annotations

from evidence.kinds.advisories import Group, Reach
from scoring.text.evidence_path import clip_text


def describe_upgrade(group: Group) -> str:
    """What to raise to which version, and what is known of imports; for the end of a message."""
    return f"{_describe_fix(group)}{_describe_imports(group)}"


def _describe_fix(group: Group) -> str:
    if not group.fixed:
        return "no fix is known"
    fixed = clip_text(group.fixed)
    if group.relation is Reach.DIRECT:
        return f"fixed in {fixed}: raise {clip_text(group.package)} to it"
    if group.via:
        return f"fixed in {fixed}: raise it in the lockfile, or {_join(group.via)}, which brings it"
    return f"fixed in {fixed}"


def _describe_imports(group: Group) -> str:
    if group.imported is False:
        return "; the code imports neither it nor what brings it" if group.via else "; the code imports it nowhere"
    return ""


def _join(names: tuple[str, ...]) -> str:
    return " or ".join(clip_text(name) for name in names)
