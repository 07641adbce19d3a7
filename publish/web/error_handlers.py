"""Which failures every application of the site answers, and by which kind of answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.responses import Response

from evidence.store import NotMigrated, StoreError, StoreUnavailable

RETRY_SECONDS: Final = 5
"""After how long a request may be repeated that the database did not answer."""

Handler: TypeAlias = Callable[[Request, Exception], Response]


class ErrorHandlers(Struct, frozen=True, kw_only=True):
    """How an application answers each kind of failure."""

    http_error: Handler
    invalid_request: Handler
    unavailable: Handler
    internal_error: Handler

    def install(self, app: FastAPI) -> None:
        handlers: Mapping[type[Exception], Handler] = {
            HTTPException: self.http_error,
            RequestValidationError: self.invalid_request,
            StoreUnavailable: self.unavailable,
            NotMigrated: self.unavailable,
            StoreError: self.internal_error,
            Exception: self.internal_error,
        }
        for failure, handler in handlers.items():
            app.add_exception_handler(failure, handler)
