"""Fixtures of the site, which these tests use too."""

from __future__ import annotations

from tests.publish.site.conftest import site_of

__all__ = ["site_of"]
