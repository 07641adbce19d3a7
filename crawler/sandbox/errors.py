"""Why the sandbox could not be built or used; the message is written for a person."""

from __future__ import annotations


class SandboxError(Exception):
    """The sandbox cannot be built or used here. The message says what to do; callers record `sandbox_restricted`."""
