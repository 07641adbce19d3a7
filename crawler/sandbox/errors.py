"""The exception of the sandbox."""

from __future__ import annotations


class SandboxError(Exception):
    """The sandbox cannot be built or used here. The message says what to do; callers record `no_sandbox`."""
