"""A registration of another person's server changes none of its scorecards."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crawler.identity import merge_references, order_by_trust
from evidence.kinds import registration
from evidence.model import Observed, ServerRef, Status, Target, TargetType, Trigger
from evidence.store import Stage
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.receipt import encode_scorecard
from tests.sampling import examples
from tests.scoring.dossiers import GOOD_ENTRY, GOOD_TOOL, dossier, listed
from tests.workers.world import ScriptedRegistry, World, context, ref
from workers import pipeline
from workers.runs.options import RunOptions

PACKAGE = Target(type=TargetType.NPM, identifier="@notes/notes-mcp")
SECRETS = [{"name": f"SECRET_TOKEN_{number}"} for number in range(30)]
EVIL_ENTRY = {"name": "io.evil/x", "packages": [{"identifier": "@notes/notes-mcp", "environmentVariables": SECRETS}]}


def entered(registry: str, name: str, entry: Any, status: Status = Status.ACTIVE) -> ServerRef:
    raw = json.dumps(entry).encode()
    return ServerRef(registry=registry, name=name, version="1", status=status, entry=raw, targets=(PACKAGE,))


OWN = entered("official", "io.github.notes/notes", GOOD_ENTRY)


def judged(refs: Sequence[ServerRef]) -> list[str]:
    """The receipts of the server, without the digests of what they rest on."""
    content = registration.compose_registration(order_by_trust(refs, merge_references(refs).ref))
    assessment = assess_dossier(dossier(listed=listed(GOOD_TOOL), registered=content))
    cards = [replace(rubric.score(assessment), evidence={}) for rubric in catalogue.list_rubrics()]
    return [re.sub(r"\b[0-9a-f]{64}\b", "", encode_scorecard(card).decode()) for card in cards]


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.text(max_size=10), st.sampled_from(["http://x.example/?token=1", "sse"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["name", "url", "type", "identifier", "version", "environmentVariables", "isSecret"]),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)
ENTRIES = st.one_of(
    st.just(EVIL_ENTRY),
    st.dictionaries(
        st.sampled_from(["name", "title", "description", "version", "repository", "packages", "remotes", "server"]),
        VALUES,
        max_size=6,
    ),
)
STRANGERS = st.lists(
    st.builds(
        entered,
        st.sampled_from(["official", "docker", "a", "zz"]),
        st.sampled_from(["a/a", "io.evil/x", "zz.evil/x", "io.github.evil/notes"]),
        ENTRIES,
        st.sampled_from([Status.ACTIVE, Status.DEPRECATED, Status.DELETED]),
    ),
    max_size=4,
)


def test_a_stranger_with_thirty_secrets_changes_no_score() -> None:
    assert judged([entered("a", "io.evil/x", EVIL_ENTRY), OWN]) == judged([OWN])


@settings(max_examples=examples(60), deadline=None)
@given(strangers=STRANGERS, place=st.integers(0, 4))
def test_less_trusted_entries_never_change_a_scorecard(strangers: list[ServerRef], place: int) -> None:
    assert judged([*strangers[:place], OWN, *strangers[place:]]) == judged([OWN])


@pytest.mark.parametrize("order", [("a", "official"), ("official", "a")])
def test_the_order_of_discovery_does_not_decide_whose_entry_counts(tmp_path: Path, order: tuple[str, str]) -> None:
    own = ref(0, registry="official")
    evil = replace(ref(0, registry="a"), name="io.evil/x", entry=json.dumps(EVIL_ENTRY).encode())
    pages = {"a": [[evil]], "official": [[own]]}

    async def main() -> None:
        async with context(tmp_path, World([ScriptedRegistry(name, pages[name]) for name in order])) as ctx:
            run = None
            for name in order:
                run = pipeline.start_run(ctx, Trigger.LOCAL, RunOptions(registries=(name,)))
                await pipeline.discover(ctx, run)
            assert run is not None
            [server] = ctx.store.list_pending_servers(run.id, Stage.COLLECT)
            await pipeline.collect(ctx, run, [server])
            [found] = ctx.store.read_dossiers(run.id, [server])
            content = found.read(registration.KIND)
            assert isinstance(content, Observed)
            view = registration.Registration.parse(content.body)
            assert [item["registry"] for item in view.refs] == ["official", "a"]
            assert view.settings == ()

    asyncio.run(main())
