"""Rule `access-restricted`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.access import AccessClass
from scoring.engine.rule import Answer, info, rule
from scoring.example_builders.server_access import build_open_access, build_protected_access
from scoring.results.outcome import Severity
from scoring.scopes.server_access import Access

_PAYMENT = {"step": "initialize", "era": "legacy", "status": 402, "reason": "payment_required", "detail": "HTTP 402"}


@rule(
    "access-restricted",
    scope=Access,
    reads="access",
    severity=Severity.INFO,
    title="Access to the server is restricted",
    remedy="No change is needed if the restriction is intended; otherwise answer `initialize` (or "
    "`server/discover`) and `tools/list` without credentials or payment, and do not block them in a firewall.",
    since="2026.2",
    version=1,
    checks=info("AUTH-00", "BCDE"),
    good=[build_open_access()],
    bad=[
        build_protected_access(),
        build_protected_access(step="list-tools"),
        build_open_access("payment", gate=_PAYMENT),
        build_open_access("blocked_by_waf"),
    ],
    unjudged=[],
)
def access_restricted(access: Access) -> Iterator[Answer]:
    """Restricted access is not a fault; it is recorded because some checks need an authorized request.

    The tools of such a server cannot be listed without credentials. Those checks run only when credentials are
    configured.
    """
    seen = access.seen
    if seen.access_class is not AccessClass.OPEN:
        where = f" ({seen.gate.detail})" if seen.gate and seen.gate.detail else ""
        yield f"the access class is {seen.access_class.replace('_', ' ')}{where}"
