"""Rule `param-sensitive-default`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule
from scoring.example_builders.listing import build_param
from scoring.json_schema.parameter_schemas import ValueSchema, list_suffixes
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.secret_names import is_secret_name
from scoring.vocabularies import parameters


@rule(
    "param-sensitive-default",
    scope=Param,
    reads="listing",
    severity=Severity.ERROR,
    title="Secret parameter has a default value",
    remedy="Remove `default` from the schema of the parameter. Revoke the value if it is a real secret.",
    since="2026.1",
    version=1,
    fix=(
        build_param("password", description="Password of the new account.", default="changeme"),
        build_param("password", description="Password of the new account."),
    ),
    good=[build_param(name="apiKey"), build_param(name="author", default="me")],
    bad=[build_param(name="apiKey", default="sk-test"), build_param(name="password", default=None)],
)
def param_sensitive_default(param: Param, literal: bool = False) -> Iterator[Answer]:
    """The default value of a secret is either a leaked secret or one that all users share.

    `literal` judges only the parameter itself and finds the words anywhere in its name, as the published reference
    does.
    """
    for suffix in list_suffixes(param.top if literal else param.places, lambda place: _gives_secret(place, literal)):
        yield suffix, "a secret with a default value"


def _gives_secret(place: ValueSchema, literal: bool) -> bool:
    if "default" not in place.schema:
        return False
    return bool(parameters.SENSITIVE.search(place.name)) if literal else is_secret_name(place.name)
