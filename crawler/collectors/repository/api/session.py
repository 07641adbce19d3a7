"""The only module that imports PyGithub, which takes half a second to import and blocks; both are done in threads."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Final, Self

import requests
from github import Auth, Github
from github.GithubException import GithubException
from urllib3 import BaseHTTPResponse, Retry
from urllib3.connectionpool import ConnectionPool

from crawler.collectors.repository.api.request import Request
from crawler.collectors.repository.api.responses import ApiResponse, GitHubTimedOut, GitHubUnreachable

API_VERSION: Final = "2022-11-28"


class _Untried(Retry):
    """Leaves every status to us, and raises 202, on which PyGithub would sleep in its thread and recurse without end.

    GithubRetry would block a thread for up to the hour of a quota, and does not handle a 429 without Retry-After.
    """

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: BaseHTTPResponse | None = None,
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: TracebackType | None = None,
    ) -> Self:
        """Raise the answer that urllib3 would have tried again."""
        if response is not None:
            response.drain_conn()
            raise GithubException(response.status, None, {k.lower(): v for k, v in response.headers.items()})
        return super().increment(method, url, response, error, _pool, _stacktrace)


class GitHubSession:
    """One token's connections to the API at `base`; `timeout` in seconds bounds each wait for a byte."""

    def __init__(self, base: str, token: str | None, *, timeout: int, connections: int, user_agent: str) -> None:
        # PyGithub writes whole answers and the addresses of signed archives to its debug log.
        logging.getLogger("github").setLevel(logging.WARNING)
        self._github = Github(
            auth=Auth.Token(token) if token is not None else None,
            base_url=base,
            timeout=timeout,
            user_agent=user_agent,
            retry=_Untried(total=0, status_forcelist={202}, allowed_methods=None),
            pool_size=connections,
            seconds_between_requests=None,
            seconds_between_writes=None,
            api_version=API_VERSION,
        )

    def send(self, request: Request) -> ApiResponse:
        """The answer with any status; raise GitHubUnreachable when there is none, or it redirects to another host."""
        requester = self._github.requester
        url = request.path or requester.graphql_url
        parameters, headers = dict(request.parameters), dict(request.headers)
        try:
            return ApiResponse(*requester.requestJson(request.verb, url, parameters, headers, request.payload))
        except GithubException as error:
            return ApiResponse(error.status, error.headers or {}, "")
        except requests.ReadTimeout as error:
            raise GitHubTimedOut("GitHub took too long") from error
        except OSError as error:
            raise GitHubUnreachable from error
        except (RuntimeError, ValueError, AssertionError) as error:
            # PyGithub's errors for a redirect to another host or in a circle, and for non-numeric headers.
            raise GitHubUnreachable("GitHub's answer cannot be followed") from error

    def close(self) -> None:
        self._github.close()
