"""Trees with planted secrets and look-alikes, and a label for each: written out when they are used, since no whole
token may stand in this repository.

    python -m tests.evidence.secrets.planted DIR

writes the trees below DIR, and beside each one its labels for `hallmark lab secrets --labels`.

A tree is a text per file. A line begins with a mark: `+ ` holds a secret, `- ` a look-alike, and two blanks neither. Of
a secret of several lines the first one is marked. `<w36>` and the like are fields of `samples.write`; `‹x›`
stands for the Base64 of x in the form of web tokens.
"""

from __future__ import annotations

import json
import re
import sys
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evidence.patterns.secrets.samples import write_sample
from tests.evidence.secrets import planted_first, planted_formats, planted_further, planted_places

TREES: Mapping[str, Mapping[str, str]] = {
    "first": planted_first.FILES,
    "second": {**planted_formats.FILES, **planted_places.FILES},
    "third": planted_further.FILES,
}
_MARKS = {"+": True, "-": False}


@dataclass(frozen=True)
class Planted:
    """A file: its text, and for each labelled line whether it holds a secret."""

    path: str
    text: str
    labels: Mapping[int, bool]


def planted(tree: str, seed: str = "") -> tuple[Planted, ...]:
    """The files of a tree; another seed plants other secrets."""
    return tuple(_planted(path, source, seed) for path, source in TREES[tree].items())


def _planted(path: str, source: str, seed: str) -> Planted:
    rows = source.strip("\n").split("\n")
    text = "\n".join(wrapped(write_sample(row[2:], f"{seed}{path}{number}")) for number, row in enumerate(rows)) + "\n"
    labels = {number: _MARKS[row[0]] for number, row in enumerate(rows, 1) if row[:1] in _MARKS}
    return Planted(path, text, labels)


def wrapped(text: str) -> str:
    """The text with the parts of web tokens encoded."""
    return re.sub("‹(.*?)›", lambda part: urlsafe_b64encode(part[1].encode()).decode().rstrip("="), text)


def plant(where: Path, tree: str) -> None:
    """Write a tree and its labels."""
    labels = []
    for file in planted(tree):
        path = where / tree / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)
        labels += [{"path": file.path, "line": line, "secret": secret} for line, secret in file.labels.items()]
    (where / f"{tree}.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels))


if __name__ == "__main__":
    for name in TREES:
        plant(Path(sys.argv[1]), name)
