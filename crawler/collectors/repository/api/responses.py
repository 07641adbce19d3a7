"""The outcome of a call to GitHub: an answer, a repository that does not exist, or a failure of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from evidence.canonical import Json, NotJson, parse_json
from evidence.model import Absent, Reason

_LIMITED: Final = re.compile(
    r"rate limit|abuse detection|retry your request again later|wait a few minutes", re.IGNORECASE
)


class ApiResponse(Struct, frozen=True):
    """A response as PyGithub returns it; the names of `headers` are in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str

    def json(self) -> Json:
        """The body; raise NotJson for an error page or anything too large or too deep."""
        return parse_json(self.text.encode("utf-8", "surrogatepass"))

    @property
    def message(self) -> str:
        """GitHub's `message`, or that of the first GraphQL error; empty when there is none."""
        try:
            value = self.json()
        except NotJson:
            return ""
        members = value if isinstance(value, Mapping) else {}
        errors = members.get("errors")
        first = errors[0] if isinstance(errors, Sequence) and errors and not isinstance(errors, str) else None
        stated = members.get("message") or (first.get("message") if isinstance(first, Mapping) else None)
        return stated[:300] if isinstance(stated, str) else ""

    @property
    def limited(self) -> bool:
        """True when GitHub refused because of the number of requests, not because of this request.

        GraphQL reports that with status 200 and an error of type RATE_LIMITED.
        https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
        """
        if self.status == 429:
            return True
        if self.status == 403:
            if "retry-after" in self.headers:
                return True
            # The last request of an hour may be forbidden for another reason: then the message says so.
            message = self.message
            return bool(_LIMITED.search(message)) or (not message and self.headers.get("x-ratelimit-remaining") == "0")
        return self.status == 200 and '"RATE_LIMITED"' in self.text and self._type_of_first_error() == "RATE_LIMITED"

    def _type_of_first_error(self) -> Json:
        try:
            value = self.json()
        except NotJson:
            return None
        errors = value.get("errors") if isinstance(value, Mapping) else None
        first = errors[0] if isinstance(errors, Sequence) and errors and not isinstance(errors, str) else None
        return first.get("type") if isinstance(first, Mapping) else None


class RepositoryGone(Exception):
    """The repository is not public or does not exist: a fact about the world."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.absent: Final = Absent(Reason.NO_REPOSITORY, detail)


class CollectionPrevented(Exception):
    """A failure of ours that shows nothing about the repository. `absent` is recorded without an earlier record."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.absent: Final = Absent(reason, detail)


class GitHubUnreachable(CollectionPrevented):
    """GitHub did not answer, or not in a form that can be parsed."""

    def __init__(self, detail: str = "GitHub did not answer") -> None:
        super().__init__(Reason.UNREACHABLE, detail)


class GitHubTimedOut(GitHubUnreachable):
    """GitHub took too long for one request, which may be the fault of the request."""


class MachineOffline(GitHubUnreachable):
    """GitHub did not answer because this machine has no network."""

    def __init__(self) -> None:
        CollectionPrevented.__init__(self, Reason.COLLECTOR_OFFLINE, "this machine was offline: GitHub did not answer")


class OutOfQuota(CollectionPrevented):
    """No token has requests left, or will have some soon."""

    def __init__(self) -> None:
        super().__init__(Reason.RATE_LIMITED, "the quota of requests to GitHub is used up")


class AccessRefused(CollectionPrevented):
    """GitHub refuses this token or this address."""

    def __init__(self, detail: str) -> None:
        super().__init__(Reason.FORBIDDEN, detail)
