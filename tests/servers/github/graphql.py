"""GraphQL: queries of aliases, fragments and variables are parsed and answered; unknown fields are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSyntaxError,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    parse,
    value_from_ast_untyped,
)

from tests.servers.github import schema
from tests.servers.github.schema import Connection, Object
from tests.servers.github.world import Answer, World, broken

NODES = 500_000
_WITHIN = frozenset({"nodes", "totalCount"})


class Invalid(Exception):
    """The query names what there is not."""


class Execution:
    """One query. `cost` is in points, by the documented formula: one for every hundred connections."""

    def __init__(self, world: World, query: str, variables: Mapping[str, Any], token: str | None) -> None:
        self._world = world
        self._variables = dict(variables)
        self._token = token
        document: DocumentNode = parse(query)
        self._fragments = {
            one.name.value: one for one in document.definitions if isinstance(one, FragmentDefinitionNode)
        }
        [self._operation] = [one for one in document.definitions if isinstance(one, OperationDefinitionNode)]
        self._connections = 0
        self._nodes = 0
        self.errors: list[dict[str, Any]] = []
        self._count(self._operation.selection_set, 1)
        self.cost = max(1, round(self._connections / 100))

    @property
    def heavy(self) -> bool:
        asked = list(self._fields(self._operation.selection_set, "Query"))
        named = [self._world.find(self._name(field)) for field in asked]
        return len(asked) > self._world.batch or any(one is not None and one.heavy for one in named)

    @property
    def nodes(self) -> int:
        return self._nodes

    def data(self) -> dict[str, Any]:
        return {
            self._key(field): self._repository(field) for field in self._fields(self._operation.selection_set, "Query")
        }

    def _repository(self, field: FieldNode) -> Any:
        if field.name.value != "repository":
            raise Invalid(f"Field '{field.name.value}' doesn't exist on type 'Query'")
        name, path = self._name(field), [self._key(field)]
        one = self._world.find(name)
        if one is None or one.status != 200 or (one.private and self._token not in one.writers):
            message = f"Could not resolve to a Repository with the name '{name}'."
            self.errors.append({"type": "NOT_FOUND", "path": path, "message": message})
            return None
        if one.kind:
            self.errors.append({"type": one.kind, "path": path, "message": "The repository cannot be shown."})
            return None
        assert field.selection_set is not None
        found = self._object(schema.repository(one), field.selection_set)
        for member in one.withheld:
            found[member] = None
            self.errors.append({"type": "SERVICE_UNAVAILABLE", "path": [*path, member], "message": "Try again later."})
        return found

    def _name(self, field: FieldNode) -> str:
        given = self._given(field)
        return f"{given.get('owner')}/{given.get('name')}"

    def _object(self, value: Object, selection: SelectionSetNode) -> dict[str, Any]:
        answered: dict[str, Any] = {}
        for field in self._fields(selection, value.type):
            name = field.name.value
            if name == "__typename":
                answered[self._key(field)] = value.type
                continue
            if name not in value.fields:
                raise Invalid(f"Field '{name}' doesn't exist on type '{value.type}'")
            member, given = value.fields[name], self._given(field)
            resolved = member(given) if callable(member) else member
            answered[self._key(field)] = self._value(resolved, field, given)
        return answered

    def _value(self, value: Any, field: FieldNode, given: Mapping[str, Any]) -> Any:
        if isinstance(value, Connection):
            assert field.selection_set is not None
            return self._connection(value, field.selection_set, given.get("first"))
        if isinstance(value, Object):
            assert field.selection_set is not None
            return self._object(value, field.selection_set)
        if isinstance(value, list):
            return [self._value(item, field, given) for item in value]
        return value

    def _connection(self, value: Connection, selection: SelectionSetNode, first: int | None) -> dict[str, Any]:
        answered: dict[str, Any] = {}
        for field in self._fields(selection, "Connection"):
            if field.name.value not in _WITHIN:
                raise Invalid(f"Field '{field.name.value}' doesn't exist on a connection")
            if field.name.value == "totalCount":
                answered[self._key(field)] = len(value.nodes)
                continue
            if first is None or not 1 <= first <= 100:
                raise Invalid("You must provide a `first` value from 1 to 100 to properly paginate the connection.")
            assert field.selection_set is not None
            answered[self._key(field)] = [self._object(node, field.selection_set) for node in value.nodes[:first]]
        return answered

    def _fields(self, selection: SelectionSetNode, kind: str) -> Iterator[FieldNode]:
        for part in selection.selections:
            match part:
                case FieldNode():
                    yield part
                case FragmentSpreadNode():
                    yield from self._fields(self._fragments[part.name.value].selection_set, kind)
                case InlineFragmentNode() if part.type_condition is None or part.type_condition.name.value == kind:
                    yield from self._fields(part.selection_set, kind)

    def _every(self, selection: SelectionSetNode) -> Iterator[FieldNode]:
        for part in selection.selections:
            match part:
                case FieldNode():
                    yield part
                case FragmentSpreadNode():
                    yield from self._every(self._fragments[part.name.value].selection_set)
                case InlineFragmentNode():
                    yield from self._every(part.selection_set)

    def _count(self, selection: SelectionSetNode, parents: int) -> None:
        for field in self._every(selection):
            first = self._given(field).get("first")
            if isinstance(first, int):
                self._connections += parents
                self._nodes += parents * first
            if field.selection_set is not None:
                self._count(field.selection_set, parents * (first if isinstance(first, int) else 1))

    def _given(self, field: FieldNode) -> dict[str, Any]:
        return {one.name.value: value_from_ast_untyped(one.value, self._variables) for one in field.arguments or ()}

    @staticmethod
    def _key(field: FieldNode) -> str:
        return field.alias.value if field.alias else field.name.value


def answer(world: World, body: bytes, token: str | None) -> tuple[Answer, int]:
    """The answer to a query, and what it costs in points."""
    if token is None:
        return Answer(401, {"message": "This endpoint requires you to be authenticated."}), 0
    sent = json.loads(body)
    try:
        execution = Execution(world, sent["query"], sent.get("variables") or {}, token)
        if execution.heavy:
            return broken(502), execution.cost
        if execution.nodes > NODES:
            message = f"This query asks for {execution.nodes} nodes, which exceeds the limit of {NODES}."
            return Answer(200, {"errors": [{"type": "MAX_NODE_LIMIT_EXCEEDED", "message": message}]}), 1
        data = execution.data()
    except (GraphQLSyntaxError, Invalid) as error:
        return Answer(200, {"errors": [{"message": str(error), "extensions": {"code": "undefinedField"}}]}), 1
    return Answer(200, {"data": data} | ({"errors": execution.errors} if execution.errors else {})), execution.cost
