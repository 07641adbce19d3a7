"""A server beside an attacker: whether what is recorded of it is what is recorded of it alone, and what the other saw.

The attacks are the functions of `beside/beside_attacker.py`; the server, `beside/beside_innocent.py`, uses everything
that they take, lock, watch or exhaust.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from crawler.sandbox import Sandbox
from evidence.kinds.listing import KIND, Listing
from evidence.model import Absent
from tests.crawler.sandbox.attacks.arena import Arena, Conversation, collected, read_report, started
from tests.crawler.sandbox.attacks.outcome import Outcome
from tests.crawler.sandbox.attacks.packing import BESIDE, SOURCES

ATTACKER, INNOCENT = "beside_attacker", "beside_innocent"
PATIENCE = 20.0


def _names() -> list[str]:
    """The attacks in the order of their file: functions without arguments that `NAMES` there has too."""
    tree = ast.parse((SOURCES / "beside" / f"{ATTACKER}.py").read_text("utf-8"))
    return [
        one.name
        for one in tree.body
        if isinstance(one, ast.FunctionDef) and not one.args.args and one.name not in {"attack", "interpreter"}
    ]


NAMES = _names()
OFTEN = (
    "lock_files", "lock_folders", "record_locks_of_files", "write_leases", "file_notices",
    "watch_instances", "ask_which_pages_are_in_memory", "keys", "locks_of_others", "large_pipes", "pending_signals",
    "shared_names", "abstract_sockets", "ports", "watch_files",
)  # fmt: skip
"""Attacks of every kind that one box can make at once, for `make test`."""
KNOWN: Mapping[str, frozenset[str]] = {
    "lock_devices": frozenset({"lock of /dev/null", "lock of /dev/urandom"}),
    "record_locks_of_devices": frozenset({"lock of a device"}),
    "open_file_locks_of_devices": frozenset({"lock of a device"}),
    "watch_devices": frozenset({"watch of /dev/null"}),
    "pipes": frozenset({"pipe"}),
    "descriptors_in_flight": frozenset({"descriptors sent"}),
}
"""What boxes of one ordinary user do to each other: they share his device nodes, and what the kernel counts for him."""
SLOWS = frozenset({"switches"})
"""What slows the boxes of one ordinary user down so much that a deadline may end them."""
LISTING = "record of the listing"


async def record_alone(place: Arena, box: Sandbox) -> Mapping[str, str]:
    """What is recorded of the server without neighbours: the listing, and each use that it lists."""
    records = await collected(box, place.target("pypi", BESIDE, INNOCENT), PATIENCE)
    content = records[KIND].content
    if isinstance(content, Absent):
        return {"listing": f"{content.reason.value}: {content.detail}"}
    report = read_report(Listing.parse(content.body).tools.items[0].raw)
    return {**report, LISTING: content.body.decode()}


async def visit(place: Arena, attacks: Sequence[str], alone: Mapping[str, str], box: Sandbox) -> Outcome:
    """Collect the server while an attacker makes these attacks."""
    aimed = replace(place, aims={**place.aims, "hold": list(attacks)})
    launched = await started(box, aimed.target("pypi", BESIDE, ATTACKER))
    talk = Conversation(launched)
    opened = await talk.open()
    held = await talk.report(ATTACKER)
    beside = await record_alone(place, box)
    seen = await talk.report(ATTACKER)
    end = await launched.stop()
    assert opened, end
    assert held, end
    assert seen, end
    changed = {
        use: "refused: as alone" if beside.get(use) == said else f"got through: {said} became {beside.get(use)}"
        for use, said in alone.items()
    }
    user = f"user {os.geteuid()}"
    return Outcome(reports={**held, **seen, **changed}, detail=user, stopped=end.stderr[-300:])
