"""The terms that pages use, each with a definition for a reader who sees the project for the first time."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

GLOSSARY: Final = MappingProxyType(
    {
        "server": "A program that gives tools, data and prompts to AI applications by the Model Context Protocol.",
        "score": "Points from 0 to 100 under one methodology. Under the main methodology they are what the evidence"
        " guarantees.",
        "grade": "A letter for the score, from A+ to F. It can be lower than the score alone would give: see cap.",
        "cap": "The best grade that a server can have while a certain harm lasts, such as leaked secrets.",
        "range": "The lowest and the highest score that complete evidence could give.",
        "floor": "The score if everything that was not measured had no points: what the evidence guarantees.",
        "coverage": "The share of the methodology's weight that could be measured.",
        "dimension": "A part of the score, such as security or maintenance, with its own points and weight.",
        "methodology": "A published set of rules and weights by which scores are computed. Each has versions.",
        "rule": "One question about a server, such as whether each tool has a description, with the points that a fault"
        " costs.",
        "receipt": "The complete calculation of one score, line by line, with the evidence of each line.",
        "evidence": "What was received from or about a server in a run: answers, files, advisories, data of its"
        " repository. It is stored as received.",
        "run": "One pass over all servers with fixed versions of all rules. It usually happens every night.",
        "probe": "The requests by which a server is tested.",
        "measured": "All lists that the server declares (tools, prompts, resources) were read to the end.",
        "partial": "The server answered, but a list failed or was too long to be read to the end.",
        "not testable": "The server could not be opened. The reason is stated; it is not a score of zero.",
        "sandbox": "A closed environment without network in which packages are installed and started.",
        "thin evidence": "Too little was measured for a comparison with other servers.",
        "transport": "How a client talks to the server: stdio for a program on the same computer, streamable HTTP or"
        " the older SSE for an address on the web.",
        "access": "Whether the server asked for credentials when it was tested.",
        "effect": "Whether every tool states that it only reads. The statement is the server's own.",
        "advisory": "A published report of a vulnerability in the server's package or in a dependency.",
        "finding": "A place where a rule found a fault.",
        "disclosure": "A security finding of our own stays private until the vendor is informed and has time to act."
        " Until then only the points are shown.",
        "dispute": "An objection to one line of a receipt. A person decides, and the answer is published.",
        "re-test": "A new test of one server, on request, between two runs.",
        "badge": "An image with the grade of a server, for its README or website.",
        "registry": "A public list of servers, from which servers are discovered.",
        "ecosystem": "Where a server comes from: a package index such as npm or PyPI, or a remote address.",
        "poisoning": "Text of a tool that tries to give instructions to the AI model that reads it.",
    }
)
"""Definitions by term, in the order in which the page of the glossary explains them."""


def define(term: str) -> str:
    """The definition of a term; raise KeyError for a term that the glossary lacks."""
    return GLOSSARY[term]


def anchor(term: str) -> str:
    """The id of a term on the page of the glossary."""
    return term.replace(" ", "-")
