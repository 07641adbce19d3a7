"""Which checks of the official suite ask what ours ask, and why the two differ where they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scoring.protocol.conformance import CheckResult, Verdict

SAME: Mapping[str, tuple[str, ...]] = {
    "server-initialize": ("LIFE-01",),
    "server-session-id-visible-ascii": ("SESS-01",),
    "server-session-terminated-returns-404": ("SESS-04",),
    "ping": ("PING-01",),
    "tools-list": ("CAP-01", "TOOL-01"),
    "tools-name-format": ("TOOL-05",),
    "tools-list-deterministic-order": ("TOOL-07",),
    "resources-list": ("CAP-03",),
    "prompts-list": ("CAP-02", "PROMPT-02"),
    "localhost-host-rebinding-rejected": ("HTTP-03",),
    "sep-2164-no-empty-contents": ("RES-02",),
    "sep-2243-server-reject-invalid-headers": ("HDR-02", "HDR-03", "HDR-05"),
    "sep-2243-header-name-case-insensitive": ("HDR-07",),
    "sep-2322-not-on-unsupported-requests": ("MRTR-01",),
    "sep-2549-cache-scope-valid": ("CACHE-01",),
    "sep-2549-tools-list-caching-hints": ("CACHE-01",),
    "sep-2549-ttl-non-negative": ("CACHE-01",),
    "sep-2575-discover-capabilities-match-handlers": ("CAP-01",),
    "sep-2575-http-server-error-jsonrpc-id": ("JSON-01",),
    "sep-2575-http-server-header-mismatch-400": ("HDR-01",),
    "sep-2575-http-server-meta-invalid-400": ("META-01", "META-02"),
    "sep-2575-http-server-method-not-found-404": ("METH-01",),
    "sep-2575-http-server-method-not-found-404-logging-setlevel": ("METH-02",),
    "sep-2575-http-server-method-not-found-404-ping": ("METH-02",),
    "sep-2575-http-server-method-not-found-404-resources-subscribe": ("METH-02",),
    "sep-2575-http-server-unsupported-version-400": ("VER-01",),
    "sep-2575-request-meta-client-info-optional": ("META-03",),
    "sep-2575-request-meta-invalid-missing-client-capabilities": ("META-02",),
    "sep-2575-request-meta-invalid-missing-meta": ("META-01",),
    "sep-2575-server-declares-prompts-in-discover": ("CAP-02",),
    "sep-2575-server-identifies-in-result-meta": ("DISC-03",),
    "sep-2575-server-implements-discover": ("DISC-01",),
    "sep-2575-server-unsupported-version-error": ("VER-01",),
}
"""A check of the suite and ours that ask the same; the suite passes when all of ours do."""

REASONS: Mapping[str, str] = {
    "sep-2164-no-empty-contents": "our check also covers the older revisions, in which the server answers another code"
    " than the recommended -32002; about 2026-07-28 both agree",
    "prompts-list": "the server declares no prompts and refuses to list them, as it should; the suite expects some",
    "resources-list": "the server declares no resources and refuses to list them, as it should; the suite expects some",
}
"""Why the two differ, by check of the suite."""

_JUDGED = {"SUCCESS": "pass", "FAILURE": "fail", "WARNING": "warn"}
_WORST = ("FAILURE", "WARNING", "SUCCESS")


@dataclass(frozen=True, slots=True)
class Difference:
    """One check on which the two disagree."""

    server: str
    revision: str
    check: str
    theirs: str
    ours: str
    verdict: str

    @property
    def cells(self) -> list[str]:
        """As cells of a table."""
        return [self.server, self.revision, self.check, self.theirs, self.ours, self.verdict]


def compared(
    server: str, revision: str, suite: Mapping[str, Mapping[str, list[str]]], ours: Mapping[str, CheckResult]
) -> tuple[int, list[Difference]]:
    """How many checks agree, and those that do not; a check that only one of the two judges counts in neither."""
    same, other = 0, list[Difference]()
    for checks in suite.values():
        for check, statuses in checks.items():
            theirs = next((_JUDGED[status] for status in _WORST if status in statuses), None)
            names = SAME.get(check, ())
            verdict = _verdict([ours[name].verdict for name in names])
            if theirs is None or verdict is None or not _spoken(revision, ours):
                continue
            if (theirs == "pass") == (verdict == "pass"):
                same += 1
            else:
                other.append(Difference(server, revision, check, theirs, ", ".join(names), verdict))
    return same, other


def _spoken(revision: str, ours: Mapping[str, CheckResult]) -> bool:
    """True when the server speaks the revision: else the suite fails everything, and we ask nothing."""
    era = ours["DISC-01"] if revision == "2026-07-28" else ours["LIFE-01"]
    return era.verdict is not Verdict.NOT_APPLICABLE


def _verdict(found: list[Verdict]) -> str | None:
    judged = [one for one in found if one in {Verdict.PASS, Verdict.FAIL, Verdict.WARN}]
    if not judged:
        return None
    return next((one.value for one in (Verdict.FAIL, Verdict.WARN) if one in judged), "pass")
