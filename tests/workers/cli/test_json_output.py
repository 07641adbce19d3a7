"""JSON on stdout is encoded in parts; a program reads the same bytes as if it were encoded at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workers.cli.display.console import print_json

LONG = {
    "rows": [{"n": number, "text": "é\n\"'"} for number in range(250)],
    "cards": [{"lines": [[], {}, [None, True, 1.5]], "facts": {str(number): number for number in range(150)}}],
    "empty": [[], {}],
}


@pytest.mark.parametrize("value", [LONG, {}, [], [LONG], "text", 5, None, list(range(101)), {1: [{None: {True: 1.5}}]}])
def test_parts_add_up_to_the_whole(value: Any, capsys: pytest.CaptureFixture[str]) -> None:
    print_json(value)
    assert capsys.readouterr().out == json.dumps(value, separators=(",", ":")) + "\n"


def test_a_text_longer_than_one_write_stays_whole(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"text": "ab" * 100_000}
    print_json(value)
    assert json.loads(capsys.readouterr().out) == value
