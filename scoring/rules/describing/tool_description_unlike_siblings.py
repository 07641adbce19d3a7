"""Rule `tool-description-unlike-siblings`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from scoring.analysis import description_style
from scoring.analysis.description_style import DescriptionStyle
from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_tool, build_toolset
from scoring.results.outcome import Severity
from scoring.scopes.base import Tool, Toolset

_TRAITS: Final = {
    "verb_first": "does not begin with a verb",
    "when": "does not say when to use it",
    "example": "gives no example",
}


@rule(
    "tool-description-unlike-siblings",
    scope=Toolset,
    reads="listing",
    severity=Severity.WARNING,
    title="Tool is described differently from the other tools of its group",
    remedy="Write the `description` like those of tools with the same name prefix: with a similar length, a verb "
    "such as `Returns` first, a clause with `when`, and an example after `for example`, if they have these.",
    since="2026.1",
    version=1,
    good=[
        build_toolset(
            *(build_tool(name=f"user-{verb}", description=f"{verb}s a user") for verb in ("create", "update", "delete"))
        )
    ],
    bad=[
        build_toolset(
            build_tool(name="user-a", description="Creates a user"),
            build_tool(name="user-b", description="Updates a user"),
            build_tool(name="user-c", description="User removal"),
        )
    ],
)
def tool_description_unlike_siblings(toolset: Toolset) -> Iterator[Answer]:
    """Tools that share the first part of their name are compared with each other.

    A description with other contents, or of another length, than most of the group makes the comparison harder.
    """
    families: dict[str, list[Tool]] = defaultdict(list)
    for member in toolset.tools:
        prefix = description_style.extract_sibling_prefix(member.name)
        if prefix and member.description:
            families[prefix].append(member)
    for family in families.values():
        if len(family) > 2:
            yield from _odd_ones([(member, description_style.parse_style(member)) for member in family])


def _odd_ones(family: list[tuple[Tool, DescriptionStyle]]) -> Iterator[Answer]:
    lengths = Counter(style.length for _, style in family)
    traits = {trait: sum(getattr(style, trait) for _, style in family) for trait in _TRAITS}
    others = len(family) - 1
    for member, style in family:
        odd = [_TRAITS[trait] for trait, count in traits.items() if not getattr(style, trait) and 2 * count > others]
        if any(2 * count > others for length, count in lengths.items() if length is not style.length):
            odd.append("has another length")
        if odd:
            yield member, f"unlike most of the {others} other tools of its group, it {', '.join(odd)}"
