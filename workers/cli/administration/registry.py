"""`hallmark registry`."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Final

import click

from crawler.registries.sources import DOCKER_URL, OFFICIAL_URL
from evidence.model import ServerRef, Status
from workers.cli.display.console import ExitCode, clean_text, make_table, print_data, print_json, print_note
from workers.cli.error_boundary import explain_failures
from workers.cli.options import CommandGroup, json_lines_option
from workers.clock import clock_at
from workers.settings.environment import RegistrySetting, read_settings
from workers.wiring.network import NetworkWiring

KNOWN: Final = {"starter": "about 20 servers that ship with Hallmark", "official": OFFICIAL_URL, "docker": DOCKER_URL}


@click.group(cls=CommandGroup, invoke_without_command=True)
@click.pass_context
def registry(ctx: click.Context) -> None:
    """List registries, or check server.json documents.

    Examples:

    hallmark registry list

    hallmark registry check ./server.json
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_sources, as_json=False)


@registry.command(name="list")
@json_lines_option
def list_sources(as_json: bool) -> None:
    """List the registries that a run reads, and the others that have a name."""
    with explain_failures():
        settings = read_settings()
        walked = {
            (item.name if isinstance(item, RegistrySetting) else item): (
                item.url if isinstance(item, RegistrySetting) else ""
            )
            for item in settings.registries
        }
        grid = make_table("Registry", "Walked by default", "Where")
        for name in [*walked, *(known for known in KNOWN if known not in walked)]:
            where = walked.get(name) or KNOWN.get(name, name)
            if as_json:
                print_json({"registry": name, "default": name in walked, "where": where})
            grid.add_row(clean_text(name), "yes" if name in walked else "no", clean_text(where))
        if not as_json:
            print_data(grid)
            print_note("`hallmark run --registry` takes a name, a path or a URL. HALLMARK_REGISTRIES sets the default.")


@registry.command()
@click.argument("source", help="A file or folder of server.json documents, a URL, or a registry's name.")
@json_lines_option
def check(source: str, as_json: bool) -> None:
    """Check every entry against the server.json schema and show invalid ones. Exit code 3 when there are any."""
    with explain_failures():
        refs = asyncio.run(_walk(source))
        invalid = [ref for ref in refs if ref.status is Status.INVALID]
        if as_json:
            for ref in refs:
                print_json({"name": ref.name, "version": ref.version, "status": ref.status.value, "error": ref.error})
        elif invalid:
            grid = make_table("Invalid entry", "What is wrong")
            for ref in invalid:
                grid.add_row(clean_text(ref.name), clean_text(ref.error or "", limit=1000))
            print_data(grid)
        counts = Counter(ref.status.value for ref in refs)
        print_note(
            f"{len(refs)} entries: "
            + (", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none")
        )
        raise click.exceptions.Exit(ExitCode.NOTHING if invalid or not refs else ExitCode.OK)


async def _walk(source: str) -> list[ServerRef]:
    settings = read_settings()
    network = NetworkWiring(settings, clock_at(settings.clock))
    named = {item.name for item in settings.registries if isinstance(item, RegistrySetting)}
    absolute = str(Path(source).absolute()) if source not in named and Path(source).exists() else source  # noqa: ASYNC240
    try:
        (found,) = await network.registries([absolute])
        return [ref async for page in found.walk(cursor=None, since=None) for ref in page.refs]
    finally:
        await network.close()
