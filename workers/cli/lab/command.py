"""`hallmark lab`."""

from __future__ import annotations

import click

from workers.cli.lab.advisories import advisories
from workers.cli.lab.lockfiles import lockfiles
from workers.cli.lab.poisoning import poisoning
from workers.cli.lab.secrets import secrets
from workers.cli.options import CommandGroup


@click.group(cls=CommandGroup)
def lab() -> None:
    """Try lockfile readers and pattern scanners on your own files. Nothing is stored, sent or executed.

    With --labels a command also prints its precision and recall on your files.

    Examples:

    hallmark lab lockfiles .

    hallmark lab lockfiles some.yaml --as pnpm --json

    hallmark lab secrets ./project

    hallmark lab advisories ./project/uv.lock
    """


for command in (lockfiles, secrets, poisoning, advisories):
    lab.add_command(command)
