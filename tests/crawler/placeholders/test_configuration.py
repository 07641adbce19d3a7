"""A configured target is complete; what was made up for it is known by name and kind, never by value."""

from __future__ import annotations

import json
from typing import Any

from crawler.placeholders import configure_target, find_named_inputs
from crawler.registries.targets import find_reachable_targets
from evidence.model import Target, TargetType
from evidence.package_inputs import InputPlace, PackageInput

DOCUMENT: dict[str, Any] = {
    "packages": [
        {
            "registryType": "npm",
            "identifier": "thing",
            "environmentVariables": [
                {"name": "MODE", "default": "safe"},
                {"name": "THING_TOKEN", "isRequired": True, "isSecret": True, "value": "leaked"},
                {"name": "THING_URL", "isRequired": True, "description": "Your URL"},
                {"name": "THING_EXTRA", "isSecret": True},
            ],
            "packageArguments": [
                {"type": "positional", "value": "serve"},
                {"type": "named", "name": "--level", "isRequired": True, "choices": ["low", "high"]},
                {"type": "positional", "valueHint": "folder", "isRequired": True, "format": "filepath"},
                {"type": "positional", "value": "last"},
                {"type": "positional", "valueHint": "more"},
            ],
        }
    ]
}


def declared() -> Target:
    return find_reachable_targets(DOCUMENT).targets[0]


def test_required_inputs_get_placeholders_in_their_places_and_optional_ones_none() -> None:
    target = configure_target(declared()).target
    assert dict(target.environment) == {"MODE": "safe", "THING_TOKEN": "0" * 32, "THING_URL": "https://example.invalid"}
    assert target.arguments == ("serve", "--level", "low", "/tmp/work", "last")
    assert target.inputs == ()


def test_an_optional_input_that_a_message_names_is_given_as_it_is_declared() -> None:
    found = configure_target(declared(), find_named_inputs("THING_EXTRA is required, and so is THING_NAME"))
    assert {"THING_EXTRA", "THING_NAME"} <= dict(found.target.environment).keys()
    assert [each.name for each in found.given if not each.declared] == ["THING_NAME"]


def test_named_options_and_words_come_last() -> None:
    target = Target(type=TargetType.NPM, identifier="thing", arguments=("serve",))
    found = configure_target(
        target, find_named_inputs("x: error: the following arguments are required: path, --api-key")
    )
    assert found.target.arguments == ("serve", "--api-key", "0" * 32, "/tmp/work")


def test_a_declared_value_is_never_replaced() -> None:
    found = configure_target(declared(), find_named_inputs("MODE_X must be set\nMODE environment variable is required"))
    assert dict(found.target.environment)["MODE"] == "safe"


def test_facts_hold_names_and_kinds_and_no_value() -> None:
    found = configure_target(declared(), find_named_inputs("THING_NAME is required"))
    facts = json.dumps(found.facts)
    assert found.facts["placeholders"] == {
        "environment": {"THING_TOKEN": "secret", "THING_URL": "url", "THING_NAME": "text"},
        "arguments": [{"name": "--level", "kind": "choice"}, {"name": "folder", "kind": "folder"}],
        "undeclared": ["THING_NAME"],
    }
    assert "leaked" not in facts
    assert "0000" not in facts


def test_a_target_that_asks_for_nothing_is_left_as_it_is() -> None:
    target = Target(type=TargetType.PYPI, identifier="thing", arguments=("a",), environment=(("B", "c"),))
    assert configure_target(target).target == target
    assert configure_target(target).facts == {}


def test_the_number_of_placeholders_is_bounded() -> None:
    many = tuple(PackageInput(place=InputPlace.ENVIRONMENT, name=f"NAME_{n}", required=True) for n in range(500))
    assert len(configure_target(Target(type=TargetType.NPM, identifier="thing", inputs=many)).given) == 60
