"""Which parameters a description documents, in the styles that are in use, and in linear time."""

from __future__ import annotations

import pytest

from scoring.engine import catalogue
from scoring.engine.assess import ask_rule
from scoring.example_builders.listing import build_tool
from tests.durations import cpu_below

RULE = catalogue.get_rule("tool-documents-undeclared-parameter")

STYLES = {
    "google": "Adds.\n\nArgs:\n    sidenote: What to say.",
    "google after another": "Adds.\n\nArgs:\n    a (int): One\n        of two.\n\n    sidenote (str, optional): What.",
    "indented as a whole": "\n        Adds.\n\n        Args:\n            sidenote: What.\n        ",
    "tabs": "Adds.\n\nArgs:\n\tsidenote: What.",
    "bullets": "Adds.\n\nParameters:\n- a: One\n- sidenote: What.",
    "bold bullets": "Adds.\n\n**Parameters:**\n* **sidenote** (string) - What.",
    "code bullets": "Adds.\n\n## Params:\n  - `sidenote`: What.",
    "fields": "Adds.\n\n:param a: One.\n:param sidenote: What.\n:return: The sum.",
    "typed fields": "Adds.\n\n:param Optional[str] sidenote: What.",
    "javadoc": "Adds.\n * @param {number} a One.\n * @param {string} [sidenote] What.",
    "carriage returns": "Adds.\r\n\r\nArgs:\r\n    sidenote: What.",
}
OTHERS = {
    "no section": "Adds. sidenote: a word.",
    "the section is over": "Args:\n    a: One.\n\nReturns:\n    sidenote: What.",
    "text after the section": "Args:\n    a: One.\nsidenote: What.",
    "flat text": "Input:\nsidenote: What.",
    "nothing": "Args:\n    None: it takes nothing",
    "values of a parameter": "Parameters:\n- a: One of\n  - sidenote: What.",
    "another spelling": "Args:\n    A: One.",
    "words": "The input: sidenote: What.\nparameters are many: sidenote",
}


def findings(description: str) -> int:
    thing = build_tool(
        description=description, inputSchema={"type": "object", "properties": {"a": {"type": "integer"}}}
    )
    return len(ask_rule(RULE, thing))


@pytest.mark.parametrize("style", STYLES)
def test_a_parameter_in_the_text_alone_is_found(style: str) -> None:
    assert findings(STYLES[style]) == 1
    assert findings(STYLES[style].replace("sidenote", "a")) == 0


@pytest.mark.parametrize("other", OTHERS)
def test_other_text_documents_no_parameter(other: str) -> None:
    assert findings(OTHERS[other]) == 0


@pytest.mark.parametrize(
    "unit",
    ["\n", " ", "args:\n", "Args:\n    a: b\n", "- ", "*", ":param ", "@param {", "    x", "\t", "Args:\n  - `a`("],
)
def test_hostile_text_costs_linear_time(unit: str) -> None:
    with cpu_below(3):
        findings(unit * (100_000 // len(unit)))


def test_names_in_the_message_are_few_and_short() -> None:
    text = "Args:\n" + "".join(f"    p{number}{'x' * 50}: What.\n" for number in range(300))
    ((found,),) = [ask_rule(RULE, build_tool(description=text))]
    assert "and 295 more" in found.message
    assert len(found.message) < 500
