"""Trains the linear model of how orders to an agent are worded, from texts of this repository only.

    python -m bench.poisoning_training [--write]

Each source is judged by a model that is trained on the others: texts of one author resemble each other, so that random
parts would overrate it. Chosen is the lowest threshold with a precision of LEAST_PRECISION on the blind sets. `--write`
then trains on all rows and writes the table of `evidence.patterns.poisoning.resemblance`. The half of the blind sets
that was never read is not opened. Two runs write the same table.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any, Final

import numpy as np
from msgspec import Struct

from bench.poisoning_blind import FOLDER, SETS, half_of
from evidence.derive.poisoning import fold_text
from evidence.derive.poisoning.resemblance import limit_texts, list_tool_features, measure_scale
from evidence.derive.poisoning.security_purpose import SecurityPurpose
from evidence.derive.poisoning.structure import describe_tool
from evidence.kinds.listing import Item, Listing
from evidence.model import Observed
from evidence.patterns.poisoning.resemblance import TABLE
from tests.dossiers import captures

VERSION: Final = 3
LEAST_PRECISION: Final = 0.98
PENALTY: Final = 1.0
"""Of the square of a weight."""
CONCEPT_VALUE: Final = 0.5
"""Value of a concept beside that of a word, which is 1: the lists of concepts were made for the texts of the read half,
so cross-validation overrates them.
"""
COMMON: Final = 6
"""Negative logarithm of the share of rows from which on a feature has its full value. Words such as "and" are in most
long texts of any kind: the value of a feature falls with the logarithm of its share.
"""
LEAST_ROWS: Final = 2
LEAST_WEIGHT: Final = 10
"""Rows with a feature, and hundredths of its weight, below which it is left out."""
STEPS: Final = 400
PROMISING: Final = -200
"""Hundredths that single words must reach: 97 % of the trained texts that resemble an order do, 6 % of real tools."""
UNLIKE: Final = -250
"""Hundredths below which a text differs from orders. Below the bias: words must speak for it, as a text with few known
words is unlike everything.
"""

OLDER: Final = (1, 2, 4, 5)
LATER: Final = tuple(FOLDER.with_name(name) for name in ("blind_second", "blind_third", "blind_fourth"))
BLIND: Final = ("blind", "blind_second", "blind_third", "blind_fourth")
"""Sources that were written before their authors knew what is found."""
PAIRS: Final = tuple(sorted((FOLDER.parent / "training").glob("*.jsonl")))
"""Texts of several authors who wrote orders and honest texts of the same subjects to train on."""
RECORDED: Final = FOLDER.with_name("recorded_tools.jsonl")
"""Tools of packages that nights started, at most 30 of one server."""
HONEST: Final = FOLDER.parent / "honest"
SENTENCES: Final = {"honest_sentences": False, "honest_near_patterns": False, "neighbouring_attacks": True}


class Row(Struct, frozen=True):
    """A tool, or a sentence of one. `source`: rows that are trained and tested together."""

    source: str
    is_attack: bool
    tool: Mapping[str, Any]


class Matrix(Struct, frozen=True):
    """Values of features by row, as coordinates."""

    rows: Any
    columns: Any
    values: Any
    height: int
    width: int

    def times(self, weights: Any) -> Any:
        return np.bincount(self.rows, self.values * weights[self.columns], self.height)

    def transposed_times(self, column: Any) -> Any:
        return np.bincount(self.columns, self.values * column[self.rows], self.width)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = list(list_rows())
    features = [weigh_features(row) for row in rows]
    scores = cross_validate(rows, features)
    threshold = choose_threshold(rows, scores)
    for name, tally in sorted(count_found(rows, scores, threshold).items()):
        print(f"{name:28} {dict(tally)}")
    print(f"threshold {threshold}")
    if options.write:
        TABLE.write_text(format_table(rows, features, threshold), encoding="utf-8")


def list_rows() -> Iterator[Row]:
    """All texts that are trained on; none of the half that was never read."""
    yield from _list_tools()
    for name, is_attack in SENTENCES.items():
        for row in _read(HONEST / f"{name}.jsonl"):
            yield Row("sentences", is_attack, _place(row))
    for path in PAIRS:
        for row in _read(path):
            yield Row(path.stem, bool(row["label"]), _place(row))
    for row in _read(RECORDED):
        yield Row("recorded", False, row)
    for _, dossier in sorted(captures().items()):
        content = dossier.read("listing")
        if isinstance(content, Observed):
            yield from (Row("captures", False, item.raw) for item in Listing.parse(content.body).tools.items)


def _list_tools() -> Iterator[Row]:
    """Tools of the sets that were written blind, then read."""
    for name in SETS:
        for row in _read(FOLDER / f"{name}.jsonl"):
            if half_of(row["id"]) == "read":
                yield Row("blind", bool(row["label"]), row)
        for folder in LATER:
            yield from (Row(folder.name, bool(row["label"]), row) for row in _read(folder / f"{name}.jsonl"))
    for number in OLDER:
        for row in _read(FOLDER / f"poisoning_blind_{number}.jsonl"):
            yield Row("older", bool(row["label"]), row)


def weigh_features(row: Row) -> dict[str, float]:
    """The values of a row's features."""
    tool = Item({key: row.tool[key] for key in ("name", "description", "inputSchema") if key in row.tool}, 0)
    features = list_tool_features(limit_texts(_list_texts(tool)), describe_tool(tool, frozenset()))
    scale = measure_scale(features)
    return {feature: (CONCEPT_VALUE if feature[0] == "#" else 1.0) / scale for feature in sorted(features)}


def cross_validate(rows: Sequence[Row], features: Sequence[Mapping[str, float]]) -> list[int]:
    """The score of each row, in hundredths, by a model that did not see its source."""
    scores = [0] * len(rows)
    for source in sorted({row.source for row in rows}):
        for at, score in judge_source(rows, features, source).items():
            scores[at] = score
    return scores


def judge_source(rows: Sequence[Row], features: Sequence[Mapping[str, float]], source: str) -> dict[int, int]:
    """By index, the scores of the rows of a source, in hundredths, by a model that all other rows train."""
    seen = [at for at, row in enumerate(rows) if row.source != source]
    weights, bias = train([features[at] for at in seen], [rows[at].is_attack for at in seen])
    totals = {
        at: sum(weights.get(feature, 0) * value for feature, value in features[at].items())
        for at, row in enumerate(rows)
        if row.source == source
    }
    return {at: round(100 * (bias + total)) for at, total in totals.items()}


def choose_threshold(rows: Sequence[Row], scores: Sequence[int]) -> int:
    """The lowest threshold above which the precision on the blind sets is LEAST_PRECISION."""
    judged = sorted(
        (score, row.is_attack)
        for row, score in zip(rows, scores, strict=True)
        if row.source in BLIND and not is_about_attacks(row)
    )
    lowest, found, accused = judged[-1][0], 0, 0
    for score, is_attack in reversed(judged):
        found, accused = found + is_attack, accused + (not is_attack)
        if is_attack and found >= LEAST_PRECISION * (found + accused):
            lowest = score - 1
    return lowest


def is_about_attacks(row: Row) -> bool:
    """Whether the scan judges a tool by its patterns alone, as it is about attacks."""
    listing = Listing({"lists": {"tools": {"end": "complete", "pages": [{"tools": [row.tool]}]}}})
    return SecurityPurpose(listing).may_quote_attacks(str(row.tool["name"]))


def count_found(rows: Iterable[Row], scores: Iterable[int], threshold: int) -> dict[str, Counter[str]]:
    tallies: dict[str, Counter[str]] = {}
    for row, score in zip(rows, scores, strict=True):
        tally = tallies.setdefault(row.source, Counter())
        kind = "attacks" if row.is_attack else "honest"
        tally[kind] += 1
        tally[f"{kind} found"] += score > threshold
    return tallies


def train(features: Sequence[Mapping[str, float]], labels: Sequence[bool]) -> tuple[dict[str, float], float]:
    """The weights and the bias of logistic regression with a penalty, by accelerated gradient descent."""
    counts = Counter(name for row in features for name in row)
    names = sorted(name for name, count in counts.items() if count >= LEAST_ROWS)
    rarity = {name: _measure_rarity(name, counts[name] / len(features)) for name in names}
    weighed = [{name: value * rarity[name] for name, value in row.items() if name in rarity} for row in features]
    matrix = _build_matrix(weighed, {name: at for at, name in enumerate(names)})
    signs = np.where(np.array(labels), 1.0, -1.0)
    penalty = np.append(np.full(len(names), PENALTY), 0.0)
    step = 1 / (PENALTY + 0.25 * _measure_norm(matrix))
    weights = ahead = np.zeros(matrix.width)
    pace = 1.0
    for _ in range(STEPS):
        slope = -signs / (1 + np.exp(np.clip(signs * matrix.times(ahead), -50, 50)))
        following = ahead - step * (matrix.transposed_times(slope) + penalty * ahead)
        faster = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        if _dot(ahead - following, following - weights) > 0:
            faster = 1.0
        ahead = following + (pace - 1) / faster * (following - weights) if faster > 1 else following
        weights, pace = following, faster
    scaled = {name: float(weight) * rarity[name] for name, weight in zip(names, weights, strict=False)}
    return scaled, float(weights[-1])


def format_table(rows: Sequence[Row], features: Sequence[Mapping[str, float]], threshold: int) -> str:
    """The table of the model that all rows train."""
    weights, bias = train(features, [row.is_attack for row in rows])
    values = {name: weight * (CONCEPT_VALUE if name[0] == "#" else 1) for name, weight in weights.items()}
    kept = {name: round(100 * value) for name, value in values.items() if abs(round(100 * value)) >= LEAST_WEIGHT}
    head = {"version": VERSION, "corpus": digest_corpus(rows), "bias": round(100 * bias), "threshold": threshold}
    head |= {"promising": PROMISING, "unlike": UNLIKE}
    facts = "".join(f"{name}\t{value}\n" for name, value in head.items())
    return facts + "\n" + "".join(f"{name}\t{weight}\n" for name, weight in sorted(kept.items()))


def digest_corpus(rows: Iterable[Row]) -> str:
    """A digest of the texts and labels that are trained on."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps([row.is_attack, row.tool], sort_keys=True, default=dict).encode())
    return digest.hexdigest()


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _place(row: Mapping[str, Any]) -> dict[str, Any]:
    """A tool with the text of a pair, after an empty first sentence or as the description of a parameter."""
    if not row.get("parameter"):
        return {"name": "tool", "description": f". {row['text']}"}
    return {"name": "tool", "inputSchema": {"properties": {"value": {"description": row["text"]}}}}


def _list_texts(tool: Item) -> Iterator[tuple[str, bool]]:
    """The description of a tool and those of its parameters, folded."""
    if tool.text("description"):
        yield fold_text(tool.text("description")), False
    yield from ((fold_text(text), True) for text in _list_described(tool.get("inputSchema")))


def _list_described(schema: Any) -> Iterator[str]:
    """The descriptions in a schema."""
    for key, value in schema.items() if isinstance(schema, Mapping) else ():
        if key == "description" and isinstance(value, str):
            yield value
        yield from _list_described(value)
    for value in schema if isinstance(schema, list) else ():
        yield from _list_described(value)


def _build_matrix(features: Sequence[Mapping[str, float]], columns: Mapping[str, int]) -> Matrix:
    cells = [
        (at, columns[name], value) for at, row in enumerate(features) for name, value in row.items() if name in columns
    ]
    cells += [(at, len(columns), 1.0) for at in range(len(features))]
    rows, places, values = (np.array(part) for part in zip(*cells, strict=True))
    return Matrix(rows, places, values, len(features), len(columns) + 1)


def _measure_rarity(name: str, share: float) -> float:
    """What the value of a word or a pair is multiplied by; concepts have a value of their own."""
    return 1.0 if name[0] == "#" else min(1.0, -log(share) / COMMON)


def _measure_norm(matrix: Matrix) -> float:
    """The largest eigenvalue of the matrix times its transpose, a little too high."""
    direction = np.ones(matrix.width)
    for _ in range(30):
        direction = matrix.transposed_times(matrix.times(direction / np.sqrt(_dot(direction, direction))))
    return 1.05 * float(np.sqrt(_dot(direction, direction)))


def _dot(one: Any, other: Any) -> float:
    """The inner product, in one thread: those of BLAS wait by spinning and take as long as all the rest."""
    return float((one * other).sum())


if __name__ == "__main__":
    main()
