"""Renders the disputed item of an accepted dispute as an example for its rule.

A false positive becomes a `good=` example, which the rule must pass from then on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pprint import pformat
from typing import Any, Final

from evidence.kinds import listing
from evidence.kinds.listing import Listing
from evidence.model import Dossier
from evidence.store.community.dispute_values import Dispute
from publish.text.redaction import redact_json
from scoring.engine.rule import Rule, discover_rules

_LISTS: Final = {"tools": "build_tool", "resources": "build_resource", "prompts": "build_prompt"}
_WIDTH: Final = 100


def render_rule_example(dispute: Dispute, dossier: Dossier) -> str:
    """Python code for the declaration of the rule, with a comment on its origin.

    If the place is no tool, parameter, resource or prompt, the comment names the evidence instead.
    """
    declared = discover_rules().get(dispute.line.rule or "")
    lines = list(_about(dispute, declared))
    built = _built(dispute.line.at, dossier)
    if built is None:
        record = dossier.records.get(declared.reads if declared else listing.KIND)
        digest = record.digest if record is not None else "not kept"
        lines.append(f"# no single thing stands at this place: make one of the evidence, digest {digest}")
    else:
        lines.append(f"{built},")
    return "\n".join(lines) + "\n"


def _about(dispute: Dispute, declared: Rule | None) -> Iterator[str]:
    line = dispute.line
    module = "its rule" if declared is None else declared.module.replace(".", "/") + ".py"
    yield f"# good= of {line.rule or line.cites}, in {module}"
    yield f"# {dispute.id}: {line.server}, run {line.run}, at {line.at!a}"


def _built(at: str, dossier: Dossier) -> str | None:
    kind, _, rest = at.partition("/")
    seen = dossier.parsed(listing.KIND, Listing.parse)
    if kind not in _LISTS or seen is None:
        return None
    for item in seen.list_of(kind).items:
        if not isinstance(item.raw, Mapping):
            continue
        named = item.text("name") or item.text("uri")
        if named == rest:
            return _call(_LISTS[kind], redact_json(dict(item.raw)))
        if kind == "tools" and rest.startswith(f"{named}/"):
            return _parameter(dict(item.raw), rest.removeprefix(f"{named}/"))
    return None


def _parameter(tool: dict[str, Any], name: str) -> str | None:
    schema = redact_json(tool).get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or name not in properties:
        return None
    return f"build_param({name!r}, {pformat(properties[name], width=_WIDTH)})"


def _call(builder: str, members: Mapping[str, Any]) -> str:
    given = pformat(dict(members), width=_WIDTH, sort_dicts=False)
    return f"{builder}(**{given})"
