"""Synthetic observations of probes, shaped like those of collectors; `python -m bench.visits FILE` trains a dictionary.

Values that change with every probe (durations, dates, sizes, ids) are random; constant parts are as collectors write.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evidence.canonical import Json
from evidence.store.records.record_notes import RecordNote, write_notes
from evidence.zstd import train_dict

TRAINED_ON = 4_000
DICTIONARY_BYTES = 16_384

_SERVERS = ("cloudflare", "nginx", "uvicorn", "Google Frontend", "Vercel", "awselb/2.0", "railway-edge", "Fly/2a1")
_TOOLS = ("search", "get", "list", "fetch", "query", "read", "describe", "lookup", "status", "resolve")
_THINGS = ("documents", "user", "issues", "page", "weather", "files", "records", "events", "project", "library")
_STEPS = ("ping", "tools/list", "resources/list", "prompts/list", "logging/setLevel", "completion/complete")


def observations(chance: random.Random, at: datetime, *, open_: bool = True) -> dict[str, Mapping[str, Json]]:
    """The observations of one probe of a remote, by kind; `open_` is False if it required credentials."""
    methods = ["server/discover", "initialize"]
    if open_:
        methods += ["notifications/initialized", "tools/list", "tools/call"]
        methods += chance.choices(["resources/list", "prompts/list", "tools/call"], k=chance.randint(0, 3))
        methods += ["DELETE"] * chance.randint(0, 1)
    exchanges = [_exchange(chance, method, open_=open_) for method in methods]
    headers = {"server": chance.choice(_SERVERS), "date": at.strftime("%a, %d %b %Y %H:%M:%S GMT")}
    era: dict[str, Json] = {"session": chance.random() < 0.4, "eras": [chance.choice(["legacy", "modern"])]}
    listing: dict[str, Json] = {"requests": len(exchanges), "exchanges": exchanges, **(era if open_ else {})}
    asked = [] if open_ else [_exchange(chance, "GET", open_=True) for _ in range(chance.randint(1, 3))]
    calls = [_call(chance) for _ in range(chance.randint(0, 3) if open_ else 0)]
    return {
        "access": {"requests": len(asked) * 2, "metadata_requests": len(asked), "asked": asked},
        "drift": {},
        "exchanges": _conversation(chance, at) if open_ else {},
        "listing": {**listing, "headers": headers, "target": 0},
        "registration": {},
        "trials": {"calls": calls} if open_ else {},
    }


def _exchange(chance: random.Random, method: str, *, open_: bool) -> Mapping[str, Json]:
    transport = chance.choice(["streamable-http"] * 9 + ["sse"])
    size = int(chance.lognormvariate(6, 2)) if method != "notifications/initialized" else 0
    status = chance.choice([200, 200, 200, 202, 400, 404, 405, 500]) if open_ else chance.choice([401, 403])
    return {"transport": transport, "method": method, "ms": _ms(chance), "bytes": size, "status": status}


def _conversation(chance: random.Random, at: datetime) -> Mapping[str, Json]:
    seen: dict[str, Json] = {"requests": chance.randint(4, 24)}
    if chance.random() < 0.4:
        full = (at - timedelta(days=chance.randint(0, 7))).isoformat()
        seen |= {"full_at": full, "carried_from": full, "ms": {step: _ms(chance) for step in _STEPS}}
    return seen


def _call(chance: random.Random) -> Mapping[str, Json]:
    return {"tool": f"{chance.choice(_TOOLS)}_{chance.choice(_THINGS)}", "kind": "call", "ms": _ms(chance)}


def _ms(chance: random.Random) -> float:
    return round(chance.lognormvariate(5.5, 0.8), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    chance = random.Random(1)
    texts = []
    for number in range(TRAINED_ON):
        at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number, microseconds=chance.randrange(10**9))
        seen = observations(chance, at, open_=number % 3 > 0)
        if number % 4 == 0:
            seen |= _project_observations(chance, at)
        texts.append(write_notes(at, [RecordNote(at, seen[kind]) for kind in sorted(seen)]))
    options.file.write_bytes(train_dict(texts, DICTIONARY_BYTES).dict_content)


def _project_observations(chance: random.Random, at: datetime) -> dict[str, Mapping[str, Json]]:
    """Observations of sources other than the server itself."""
    fetched_at = at.isoformat()
    tags: dict[str, Json] = {
        name: f'W/"{chance.getrandbits(256):064x}"' for name in ("repository", "commits", "issues")
    }
    return {
        "advisories": {"looked_at": fetched_at, "by": "mirror"},
        "dependencies": {"looked_at": fetched_at, "carried": True},
        "package": {"looked_at": fetched_at, "documents": {}},
        "repository": {"looked_at": fetched_at, "full_at": fetched_at, "etags": tags, "way": "graphql"},
        "secrets": {"looked_at": fetched_at},
        "source": {"looked_at": fetched_at, "carried": True},
    }


if __name__ == "__main__":
    main()
