"""Methods that run a function in a transaction of their own and pass it the connection as its first argument."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from evidence.store.database import Database

P = ParamSpec("P")
R = TypeVar("R")


class DatabaseAccess:
    """Base of the classes whose methods each are one transaction on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database


def read_method(function: Callable[Concatenate[Connection, P], R]) -> Callable[Concatenate[DatabaseAccess, P], R]:
    """A method that calls a function in a transaction that only reads."""

    @wraps(function)
    def method(self: DatabaseAccess, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._database.reading() as connection:
            return function(connection, *args, **kwargs)

    return method


def write_method(function: Callable[Concatenate[Connection, P], R]) -> Callable[Concatenate[DatabaseAccess, P], R]:
    """A method that calls a function in a transaction that is rolled back when the function raises."""

    @wraps(function)
    def method(self: DatabaseAccess, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._database.writing() as connection:
            return function(connection, *args, **kwargs)

    return method
