"""Compares what packages list in the sandbox with recorded listings of the same versions (`bench.packages --captures`).

A capture is a JSON object with `package`, `version`, `capture.ecosystem` (`npm` or `pypi`), and `tools`, `prompts`,
`resources` and `resourceTemplates`, the items as received.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.launching import Stopwatch, plain, probe_once, target_of
from crawler.sandbox import Sandbox
from evidence.canonical import Json
from evidence.kinds.listing import LISTS, Listing
from evidence.model import Absent


def load(folder: Path) -> Iterator[Mapping[str, Any]]:
    """The captures of a folder, in the order of their files' names."""
    for path in sorted(folder.glob("*.json")):
        yield json.loads(path.read_text("utf-8"))


def entry_of(capture: Mapping[str, Any], declared: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The entry of the captured package, at the captured version; None when it is not declared."""
    own = (capture["capture"]["ecosystem"], capture["package"])
    known = next((one for one in declared if (one["registryType"], one["identifier"]) == own), None)
    return {**known, "version": capture["version"]} if known else None


async def compare(box: Sandbox, capture: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    """A row of the table for one capture: what the sandbox lists, and every difference."""
    found = (await probe_once(Stopwatch(box), target_of(entry))).content
    name = f"| `{entry['registryType']}:{capture['package']}` | {capture['version']} |"
    if isinstance(found, Absent):
        return f"{name} {len(capture['tools'])} | – | `{found.reason.value}`: {plain(found.detail)} |"
    listing = Listing.parse(found.body)
    changes = [text for kind in LISTS for text in differences(kind, capture[kind], listing.list_of(kind).items)]
    return (
        f"{name} {len(capture['tools'])} | {len(listing.tools.items)} | {'; '.join(map(plain, changes)) or 'equal'} |"
    )


def differences(kind: str, before: Sequence[Json], now: Sequence[Any]) -> Iterator[str]:
    """The differences between two versions of one list, item by item and member by member."""
    old, new = by_name(before), by_name([item.raw for item in now])
    for what, names in (("only recorded", old.keys() - new.keys()), ("only in the sandbox", new.keys() - old.keys())):
        if names:
            yield f"{kind} {what}: {', '.join(sorted(names))}"
    changed: dict[str, list[str]] = {}
    for name in sorted(old.keys() & new.keys()):
        members = [key for key in sorted({*old[name], *new[name]}) if old[name].get(key) != new[name].get(key)]
        if members:
            changed.setdefault(", ".join(members), []).append(name)
    for which, altered in changed.items():
        yield f"{kind} with another {which}: {', '.join(altered)}"
    if not changed and list(old) != list(new) and old.keys() == new.keys():
        yield f"{kind} in another order"


def by_name(items: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Items by name, or address where they have none."""
    return {str(item.get("name") or item.get("uri") or item.get("uriTemplate")): item for item in items}
