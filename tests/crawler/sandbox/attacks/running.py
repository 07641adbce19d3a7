"""Runs attacks and writes down what came of them, with a census before and after each box."""

from __future__ import annotations

import asyncio
import gc
import os
import stat
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from crawler.sandbox import Sandbox
from crawler.sandbox.runtime_selection import AUTO, RUNTIMES
from evidence.kinds.listing import KIND, Listing
from evidence.model import Absent, Target
from tests.crawler.sandbox import census
from tests.crawler.sandbox.attacks import archives, neighbours, outcome, roster
from tests.crawler.sandbox.attacks.arena import Arena, Conversation, arena, collected, read_report, started
from tests.crawler.sandbox.attacks.outcome import Outcome
from tests.crawler.sandbox.attacks.packing import PARADE

ECOSYSTEMS = ("npm", "pypi")
KEPT = ("index", "layers", "locks", "seals", "uses")
Attack = Callable[[Sandbox], Awaitable[Outcome]]


def run(
    cache: Path, home: Path, *, thorough: bool = False, few: bool = False, runtime: str = AUTO
) -> dict[str, Outcome]:
    """Every attack, by name. `thorough`: each is installed from its own package and gets a box of its own.

    `few`: only some of those that need a box of their own, and of the archives.
    """
    census.adopt_orphans()
    gc.freeze()  # each census looks for garbage, and finds none in what was imported
    with arena(cache, home, runtime) as place:
        return asyncio.run(_run(place, thorough=thorough, few=few))


async def _run(place: Arena, *, thorough: bool, few: bool) -> dict[str, Outcome]:
    box, found = await place.sandbox(), dict[str, Outcome]()
    for ecosystem in ECOSYSTEMS:
        found |= await (_one_by_one if thorough else _parade)(place, box, ecosystem)
        for name in [one for one in roster.alone(ecosystem) if not few or one in roster.OFTEN]:
            package = (name.replace("_", "-"),) if thorough else (PARADE, name)
            found[name] = await _watched(place, box, partial(_by_itself, place, ecosystem, name, package))
    for archive in archives.OFTEN if few else archives.ALL:
        found[archive.name] = await _watched(place, box, partial(archives.visit, place, archive))
    if place.runtime == AUTO:
        found |= await _beside(place, box, few=few)
    for ecosystem in ECOSYSTEMS:
        found[f"victim ({ecosystem})"] = await _watched(place, box, partial(archives.visit_victim, place, ecosystem))
    return found


async def _beside(place: Arena, box: Sandbox, *, few: bool) -> dict[str, Outcome]:
    """A server beside attackers: beside each, or beside one that makes some of the attacks at once."""
    alone = await neighbours.record_alone(place, box)
    if few:
        found = await _watched(place, box, partial(neighbours.visit, place, neighbours.OFTEN, alone))
        return dict.fromkeys(neighbours.OFTEN, found)
    return {
        name: await _watched(place, box, partial(neighbours.visit, place, (name,), alone)) for name in neighbours.NAMES
    }


async def _watched(place: Arena, box: Sandbox, attack: Attack) -> Outcome:
    """An attack between two censuses."""
    before, began = census.take(place.cache), time.monotonic()
    try:
        found = await attack(box)
    except AssertionError as error:
        found = Outcome(reports={"itself": f"got through: it was not run ({error})"[:500]})
    seconds = round(time.monotonic() - began, 2)
    left = [one for one in census.take(place.cache).leaks(before) if not _meant(one)]
    left += [f"visitors: {count}" for count in [place.visitors()] if count]
    return replace(found, left=(*found.left, *left, *_faults(place.cache)), seconds=seconds)


def _meant(one: str) -> bool:
    """What an installation is there to leave: the layer, and what is known of it."""
    kind, _, name = one.partition(": ")
    top, _, rest = name.partition("/")
    return kind == "cache" and "/" not in rest and (not rest or top in KEPT)


def _faults(cache: Path) -> list[str]:
    """What no layer may hold: links that lead out of it, files of no ordinary kind or with rights of their own."""
    found = []
    for tree in (cache / "layers").glob("*"):
        for path, mode in _list_modes(tree):
            if stat.S_ISLNK(mode):
                inside = (path.parent / path.readlink()).resolve().is_relative_to(tree.resolve())
                found += [] if inside else [f"link: {path.name}"]
            elif mode & 0o6022 or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                found.append(f"file {mode:o}: {path.name}")
    return found


def _list_modes(tree: Path) -> Iterator[tuple[Path, int]]:
    for folder, folders, files in os.walk(tree):
        for name in (*folders, *files):
            path = Path(folder, name)
            yield path, path.lstat().st_mode


async def _parade(place: Arena, box: Sandbox, ecosystem: str) -> dict[str, Outcome]:
    """All attacks that can share a box, one after another as tools of one server."""
    reports: dict[str, dict[str, str]] = {}

    async def visit(box: Sandbox) -> Outcome:
        waiting = roster.sharing(ecosystem)
        while waiting:
            launched = await started(box, place.target(ecosystem, PARADE))
            talk = Conversation(launched)
            opened = await talk.open()
            while waiting:
                name = waiting.pop(0)
                reports[name] = await talk.report(name)
                if not reports[name]:  # it ended its server, and the rest get another one
                    break
            end = await launched.stop()
            assert opened, end
        return Outcome(stopped=end.stderr[-300:])

    whole = await _watched(place, box, visit)
    return {name: replace(whole, reports=reports.get(name, whole.reports)) for name in roster.sharing(ecosystem)}


async def _one_by_one(place: Arena, box: Sandbox, ecosystem: str) -> dict[str, Outcome]:
    """The same attacks, each from its own package and in its own box."""
    names = roster.sharing(ecosystem)
    return {name: await _watched(place, box, partial(_probed, place, ecosystem, name)) for name in names}


async def _by_itself(place: Arena, ecosystem: str, name: str, package: tuple[str, ...], box: Sandbox) -> Outcome:
    chosen = roster.ALONE[name]
    target, box = place.target(ecosystem, *package), replace(box, limits=chosen.limits)
    return await (_called(box, target, name, chosen.patience) if chosen.called else _collected(box, target, chosen))


async def _called(box: Sandbox, target: Target, name: str, patience: float) -> Outcome:
    """What an attack says when its tool is called, if it says anything."""
    launched = await started(box, target)
    talk = Conversation(launched)
    opened = await talk.open()
    reports = await talk.report(name, patience)
    end = await launched.stop()
    assert opened, end
    return Outcome(reports=reports, stopped=end.stderr[-300:])


async def _collected(box: Sandbox, target: Target, chosen: roster.Alone) -> Outcome:
    """What the real collector records."""
    records = await collected(box, target, chosen.patience)
    content = records[KIND].content
    stopped = str(records[KIND].observation.get("stderr", ""))[-300:]
    if isinstance(content, Absent):
        return Outcome(reason=content.reason.value, detail=content.detail, stopped=stopped)
    tools = Listing.parse(content.body).tools
    reports = read_report(tools.items[0].raw) if tools.items else {}
    return Outcome(reports=reports, detail=f"tools: {tools.end} {tools.error}", stopped=stopped)


async def _probed(place: Arena, ecosystem: str, name: str, box: Sandbox) -> Outcome:
    """An attack that needs no limits, by itself: what the collector records, and what its tool then says."""
    target = place.target(ecosystem, name.replace("_", "-"))
    recorded = await _collected(box, target, roster.Alone())
    called = await _called(box, target, name, 30.0)
    return replace(recorded, reports={**recorded.reports, **called.reports})


if __name__ == "__main__":
    where, home, into, *rest = sys.argv[1:]
    contained_by = next((name for name in RUNTIMES if name in rest), AUTO)
    how = {"thorough": "thorough" in rest, "few": "few" in rest}
    outcome.save(run(Path(where), Path(home), **how, runtime=contained_by), Path(into))
