"""Builds the request budgets of the settings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from crawler.http.request_budgets import DailyAllowance, RequestBudgets, RequestLedger
from workers.settings.environment import Settings


def build_request_budgets(settings: Settings, ledger: RequestLedger, now: Callable[[], datetime]) -> RequestBudgets:
    allowance = DailyAllowance(
        server=settings.server_requests, host=settings.host_requests, domain=settings.domain_requests
    )
    return RequestBudgets(allowance, ledger, now)
