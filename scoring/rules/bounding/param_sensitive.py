"""Rule `param-sensitive`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.listing import build_param
from scoring.json_schema.parameter_schemas import list_suffixes
from scoring.results.outcome import Severity
from scoring.scopes.base import Param
from scoring.text.secret_names import is_secret_name
from scoring.vocabularies import parameters


@rule(
    "param-sensitive",
    scope=Param,
    reads="listing",
    severity=Severity.WARNING,
    title="Parameter has the name of a secret",
    remedy="Remove the parameter. Read the credential from the `Authorization` header (HTTP) or the environment "
    "(stdio), or rename the parameter if its value is not a secret.",
    since="2026.1",
    version=1,
    fix=write_snippet(
        Language.JSON,
        "`properties` of the tool's `inputSchema`",
        before="""
        {
          "query": {"type": "string", "description": "Words to search for."},
          "api_key": {"type": "string", "description": "Key of your account."}
        }
        """,
        after='{"query": {"type": "string", "description": "Words to search for."}}',
    ),
    good=[build_param(name="maxTokens"), build_param(name="author")],
    bad=[build_param(name="apiKey"), build_param(name="password", type="boolean")],
)
def param_sensitive(param: Param, literal: bool = False) -> Iterator[Answer]:
    """A secret in a tool call is visible to the model, its provider and every log.

    Read credentials from the environment or use OAuth. `literal` judges only the parameter itself and finds the words
    anywhere in its name, as the published reference does, so that `author` (auth) and `maxTokens` count.
    """
    for suffix in list_suffixes(
        param.top if literal else param.places, lambda place: _is_sensitive(place.name, literal)
    ):
        yield suffix, "the name is that of a secret"


def _is_sensitive(name: str, literal: bool) -> bool:
    return bool(parameters.SENSITIVE.search(name)) if literal else is_secret_name(name)
