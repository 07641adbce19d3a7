"""Which checks of the official suite ask what ours ask, and why the two differ where they do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from evidence.kinds.exchanges import LEGACY, MODERN, REVISIONS
from scoring.protocol.conformance import CheckResult, Verdict

SAME: Mapping[str, tuple[str, ...]] = {
    "server-initialize": ("LIFE-01",),
    "server-session-id-visible-ascii": ("SESS-01",),
    "server-session-initialized-accepted": ("HTTP-06",),
    "server-session-terminated-returns-404": ("SESS-04",),
    "ping": ("PING-01",),
    "tools-list": ("CAP-01", "TOOL-01"),
    "tools-name-format": ("TOOL-05",),
    "tools-list-deterministic-order": ("TOOL-07",),
    "resources-list": ("CAP-03",),
    "prompts-list": ("CAP-02", "PROMPT-02"),
    "localhost-host-rebinding-rejected": ("HTTP-03",),
    "sep-2164-error-code": ("RES-02",),
    "sep-2164-no-empty-contents": ("RES-02",),
    "sep-2243-server-reject-error-code": ("HDR-02", "HDR-03", "HDR-05"),
    "sep-2243-server-reject-invalid-headers": ("HDR-02", "HDR-03", "HDR-05"),
    "sep-2243-header-name-case-insensitive": ("HDR-07",),
    "sep-2322-not-on-unsupported-requests": ("MRTR-01",),
    "sep-2549-cache-scope-valid": ("CACHE-01",),
    "sep-2549-prompts-list-caching-hints": ("CACHE-01",),
    "sep-2549-resources-list-caching-hints": ("CACHE-01",),
    "sep-2549-resources-templates-list-caching-hints": ("CACHE-01",),
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
    "wire-schema-valid": ("SCHEMA-01", "JSON-02"),
}
"""A check of the suite and ours that ask the same; the suite passes when all of ours do."""

_WITHOUT_PROMPTS = "we: no prompts are declared, and the list is refused with -32601"
_WITHOUT_RESOURCES = "we: no resources are declared, and the list is refused with -32601"
REASONS: Mapping[tuple[str, str], str] = {
    (check, ours): why
    for check, ours, why in (
        (
            "localhost-host-rebinding-rejected",
            "fail",
            "we: the suite sends a foreign `Host` too, which is refused; a foreign `Origin` alone is served",
        ),
        (
            "localhost-host-rebinding-rejected",
            "warn",
            "both: the server refuses every origin, which the suite fails under another id",
        ),
        ("prompts-list", "pass", _WITHOUT_PROMPTS),
        ("resources-list", "pass", _WITHOUT_RESOURCES),
        ("sep-2549-prompts-list-caching-hints", "pass", _WITHOUT_PROMPTS),
        ("sep-2549-resources-list-caching-hints", "pass", _WITHOUT_RESOURCES),
        ("sep-2549-resources-templates-list-caching-hints", "pass", _WITHOUT_RESOURCES),
        (
            "sep-2575-http-server-header-mismatch-400",
            "warn",
            "both: the suite changes the body; we change the header, and that is answered without JSON-RPC",
        ),
        ("sep-2575-server-declares-prompts-in-discover", "pass", "we: an empty list offers no prompts to declare"),
        (
            "sep-2575-server-identifies-in-result-meta",
            "pass",
            "we: the version is an empty string, which the schema allows",
        ),
    )
}
"""Who is right and why, by check of the suite and our verdict where the two differ."""

_JUDGED = {"SUCCESS": "pass", "FAILURE": "fail", "WARNING": "warn"}
_WORST = ("FAILURE", "WARNING", "SUCCESS")


@dataclass(frozen=True, slots=True)
class Difference:
    """One check on which the two disagree."""

    check: str
    theirs: str
    ours: str
    verdict: str


def compared(
    revision: str, suite: Mapping[str, Mapping[str, list[str]]], ours: Mapping[str, CheckResult]
) -> tuple[int, list[Difference]]:
    """How many checks agree, and those that do not; a check that only one of the two judges counts in neither."""
    if not _spoken(revision, ours):
        return 0, []
    found: dict[str, set[str]] = defaultdict(set)
    for checks in suite.values():
        for check, statuses in checks.items():
            found[check] |= set(statuses)
    same, other = 0, list[Difference]()
    for check, said in found.items():
        theirs = next((_JUDGED[status] for status in _WORST if status in said), None)
        names = SAME.get(check, ())
        verdict = _verdict([ours[name] for name in names], MODERN if revision == REVISIONS["E"] else LEGACY)
        if theirs is None or verdict is None:
            continue
        if (theirs == "pass") == (verdict == "pass"):
            same += 1
        else:
            other.append(Difference(check, theirs, ", ".join(names), verdict))
    return same, other


def _spoken(revision: str, ours: Mapping[str, CheckResult]) -> bool:
    """True when the server speaks the revision: else the suite fails everything, and we ask nothing."""
    era = ours["DISC-01"] if revision == REVISIONS["E"] else ours["LIFE-01"]
    return era.verdict is not Verdict.NOT_APPLICABLE


def _verdict(found: list[CheckResult], era: str) -> str | None:
    """The worst verdict; what was found in the other era does not count."""
    other = f"exchanges/{LEGACY if era == MODERN else MODERN}/"
    judged = [one for one in found if one.verdict in {Verdict.PASS, Verdict.FAIL, Verdict.WARN}]
    if not judged:
        return None
    here = [one.verdict for one in judged if not all(finding.at.startswith(other) for finding in one.findings)]
    return next((one.value for one in (Verdict.FAIL, Verdict.WARN) if one in here), "pass")
