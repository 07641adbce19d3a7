"""Runs a command of the user without a sandbox, for `scan --no-sandbox` only."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from crawler.launcher import LaunchedServer
from crawler.sandbox.boxes.process_tree import ContainedProcess
from crawler.sandbox.kernel.limits import RUN, Limits
from evidence.model import Absent, Reason, Target, TargetType


class UnsandboxedLauncher(Struct, frozen=True):
    """Starts command targets with the user's environment and permissions; refuses packages, which are untrusted."""

    environ: Mapping[str, str]
    limits: Limits = RUN

    @property
    def runtime(self) -> str:
        """`none`: this evidence is never published."""
        return "none"

    async def launch(self, target: Target) -> LaunchedServer | Absent:
        """Start a command target in its folder; Absent explains a failure."""
        if target.type is not TargetType.COMMAND:
            return Absent(Reason.SANDBOX_RESTRICTED, "only a command that you typed may run without the sandbox")
        if not target.arguments:
            return Absent(Reason.START_FAILED, "there is no command to start")
        found = await asyncio.to_thread(lambda: Path(target.identifier).is_dir())
        if not found:
            return Absent(Reason.START_FAILED, "the command's working directory does not exist")
        try:
            process = _spawn(target, self.environ)
        except (OSError, ValueError) as error:
            return Absent(Reason.START_FAILED, f"{target.arguments[0]} cannot be started ({type(error).__name__})")
        return ContainedProcess(process, None, self.limits, {}, runtime="none")


def _spawn(target: Target, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603
        list(target.arguments),
        cwd=target.identifier,
        env={**environ, **dict(target.environment)},
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
