"""Computes the width of a line of text in the typeface of the badges, without a browser."""

from __future__ import annotations

from typing import Final

_EM: Final = 2048

_ADVANCES: Final = {
    563: "'",
    569: "ijl",
    604: "IJ",
    651: " ,.·",
    690: "/:;\\|",
    721: "f",
    739: "-",
    799: "()[]",
    803: "t",
    821: "!",
    842: "r",
    942: '"',
    1024: "*_`–",
    1067: "s",
    1075: "z",
    1087: "?",
    1126: "c",
    1141: "L",
    1178: "F",
    1186: "k",
    1212: "vxy",
    1235: "P",
    1251: "TY",
    1253: "o",
    1255: "a",
    1260: "e",
    1294: "E",
    1298: "hnu",
    1300: "Sbdgpq",
    1303: "$0123456789{}",
    1343: "K",
    1401: "AV",
    1403: "XZ",
    1405: "B",
    1423: "R",
    1430: "C",
    1499: "U",
    1532: "N",
    1540: "H",
    1577: "D",
    1587: "G",
    1597: "&",
    1612: "OQ",
    1675: "w",
    1716: "#+<=>^~",
    1767: "M",
    1946: "%",
    1995: "m",
    2025: "W",
    2048: "@…",
}
"""Advance widths of DejaVu Sans in 2048ths of an em, read from its `hmtx` table; Verdana's are within a hundredth."""

_WIDTHS: Final = {character: width for width, characters in _ADVANCES.items() for character in characters}


def text_width(text: str, size: float) -> float:
    """The width of a text in the units of `size`; a character that the table lacks is as wide as an em."""
    return sum(_WIDTHS.get(character, _EM) for character in text) * size / _EM
