"""Phrases of good descriptions."""

from __future__ import annotations

from typing import Final

WHEN: Final = (
    "when",
    "if ",
    "use this to",
    "use this for",
    "use this when",
    "used to",
    "used for",
    "used when",
    "useful for",
    "useful when",
    "helps to",
    "helps with",
    "for ",
    "in order to",
    "to ",
    "allows you to",
    "enables",
    "lets you",
    "designed for",
    "intended for",
    "meant for",
    "best for",
    "ideal for",
    "suitable for",
    "appropriate when",
    "recommended when",
    "should be used",
    "can be used",
    "typically used",
    "commonly used",
    "primarily used",
    "mainly used",
    "often used",
    "especially useful",
    "particularly useful",
    "helpful for",
    "helpful when",
)
"""Text that says when to use a tool."""

EXAMPLE: Final = (
    "example",
    "e.g.",
    "e.g,",
    "eg.",
    "eg:",
    "for instance",
    "for example",
    "such as",
    "like ",
    "including",
    "sample",
    "```",
    '"',
    "'",
)
"""Text that announces an example."""

WORKFLOW: Final = (
    "first",
    "before",
    "after",
    "then",
    "instead",
    "alternatively",
    "prerequisite",
    "requires",
    "following",
    "prior to",
    "once",
    "next",
    "finally",
    "subsequently",
    "in advance",
)
"""Words about what comes before, after or instead."""
