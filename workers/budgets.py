"""The budgets of requests that the settings ask for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from crawler.budgets import Allowance, Budgets, Ledger
from workers.settings import Settings


def request_budgets(settings: Settings, ledger: Ledger, now: Callable[[], datetime]) -> Budgets:
    """The budgets of the settings, kept in a ledger."""
    allowance = Allowance(server=settings.server_requests, host=settings.host_requests, domain=settings.domain_requests)
    return Budgets(allowance, ledger, now)
