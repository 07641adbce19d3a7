"""What a document asks for without a value is kept as an input, in its author's words and without their secrets."""

from __future__ import annotations

from typing import Any

from crawler.registries.targets import find_reachable_targets
from evidence.model import Target
from evidence.package_inputs import InputPlace, PackageInput
from evidence.store.sql.json_columns import targets_from_json, targets_to_json


def target(kind: str = "npm", **members: Any) -> Target:
    return find_reachable_targets({"packages": [{"registryType": kind, "identifier": "thing", **members}]}).targets[0]


def variables(*given: dict[str, Any]) -> tuple[PackageInput, ...]:
    return target(environmentVariables=list(given)).inputs


def test_variables_without_a_value_become_inputs_and_others_do_not() -> None:
    found = variables(
        {"name": "MODE", "default": "safe"},
        {"name": "API_KEY", "isSecret": True, "isRequired": True, "default": "s3cr3t", "placeholder": "key_…"},
        {"name": "LEVEL", "choices": ["low", 3, "high"], "description": "How much"},
        {"name": "BAD-NAME", "isRequired": True},
    )
    assert found == (
        PackageInput(place=InputPlace.ENVIRONMENT, name="API_KEY", required=True, secret=True, hint="key_…"),
        PackageInput(place=InputPlace.ENVIRONMENT, name="LEVEL", choices=("low", "high"), hint="How much"),
    )


def test_what_stands_for_the_readers_own_value_is_no_value() -> None:
    for sample in ("<your-key>", "${input:key}", "YOUR_API_KEY", "/path/to/folder"):
        found = target(environmentVariables=[{"name": "THING", "value": sample}])
        assert found.environment == ()
        assert found.inputs == (PackageInput(place=InputPlace.ENVIRONMENT, name="THING", hint=sample, required=True),)


def test_a_value_with_unset_variables_keeps_its_form() -> None:
    (found,) = variables(
        {
            "name": "ADDRESS",
            "value": "https://{region}.{host}/{path}",
            "variables": {"region": {"choices": ["eu", "us"]}, "host": {"default": "example.com"}},
        }
    )
    assert found.form == "https://{region}.example.com/{path}"
    assert [(each.name, each.choices) for each in found.variables] == [("region", ("eu", "us")), ("path", ())]


def test_arguments_know_where_they_stand() -> None:
    found = target(
        packageArguments=[
            {"type": "positional", "value": "serve"},
            {"type": "named", "name": "--key", "isRequired": True},
            {"type": "named", "name": "--verbose"},
            {"type": "positional", "valueHint": "folder"},
            {"type": "named", "name": "not an option", "isRequired": True},
        ]
    )
    assert found.arguments == ("serve", "--verbose")
    assert [(each.place, each.name, each.at) for each in found.inputs] == [
        (InputPlace.OPTION, "--key", 1),
        (InputPlace.WORD, "folder", 2),
    ]


def test_an_image_takes_variables_from_the_arguments_of_its_runtime() -> None:
    found = target(
        "oci",
        runtimeArguments=[
            {"type": "named", "name": "-e", "value": "MODE=safe"},
            {"type": "named", "name": "-e", "value": "TOKEN={token}", "variables": {"token": {"isSecret": True}}},
            {"type": "named", "name": "-v", "value": "/:/host"},
        ],
    )
    assert found.environment == (("MODE", "safe"),)
    assert [each.name for each in found.inputs] == ["TOKEN"]


def test_inputs_are_stored_and_read_back() -> None:
    found = target(
        environmentVariables=[
            {"name": "ADDRESS", "value": "{a}", "variables": {"a": {"isSecret": True, "choices": ["x"]}}},
            {"name": "KEY", "isRequired": True, "isSecret": True, "description": "\ud800 odd"},
        ],
        packageArguments=[{"type": "positional", "valueHint": "folder", "format": "filepath"}],
    )
    assert targets_from_json(targets_to_json([found])) == (found,)


def test_huge_declarations_are_bounded() -> None:
    found = variables(*({"name": f"V{n}", "description": "x" * 10_000, "choices": ["y"] * 500} for n in range(500)))
    assert len(found) == 100
    assert all(len(each.hint) <= 300 and len(each.choices) <= 20 for each in found)
