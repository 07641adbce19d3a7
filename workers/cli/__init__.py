"""The `hallmark` command. Every subcommand is a module that is only imported when it is called."""

from workers.cli.app import app, main

__all__ = ["app", "main"]
