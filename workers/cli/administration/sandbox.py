"""`hallmark sandbox`."""

from __future__ import annotations

import asyncio
import shutil
from datetime import timedelta
from functools import partial
from pathlib import Path

import click

from crawler import sandbox as box
from workers.cli.display.console import ExitCode, exit_with_error, make_fact_table, print_data, print_json, print_note
from workers.cli.error_boundary import explain_failures
from workers.cli.extras import PACKAGES, require_extra
from workers.cli.options import CommandGroup, json_document_option
from workers.clock import SystemClock
from workers.settings.environment import read_settings, read_tool_environment


@click.group(cls=CommandGroup)
def sandbox() -> None:
    """Build, inspect or remove the sandbox that packages run in.

    Example: hallmark sandbox status
    """


@sandbox.command()
@json_document_option
def build(as_json: bool) -> None:
    """Build the read-only root file system, unless it exists. `hallmark run` does this when needed."""
    with explain_failures():
        require_extra(PACKAGES)
        chosen = box.choose_runtime(
            read_settings().sandbox_runtime, partial(box.check_runtime, environ=read_tool_environment())
        )
        if not isinstance(chosen, str):
            exit_with_error(f"no sandbox here: {chosen.why}. {chosen.fix}", ExitCode.NOTHING)
        try:
            made = asyncio.run(box.build_rootfs(read_settings().cache, print_note, environ=read_tool_environment()))
        except box.SandboxError as error:
            exit_with_error(str(error))
        row = {"path": str(made.path), "bytes": made.size, "files": made.files}
        if as_json:
            print_json(row)
        else:
            print_data(make_fact_table((name, _spelled(value)) for name, value in row.items()))


@sandbox.command()
@json_document_option
def status(as_json: bool) -> None:
    """Show the sandbox runtime and the size of the cache. Exit code 3 when there is no runtime."""
    with explain_failures():
        settings, found = read_settings(), box.check_runtimes(read_tool_environment())
        chosen = box.choose_runtime(settings.sandbox_runtime, found.__getitem__)
        engine = box.choose_image_engine(settings.sandbox_runtime, found.__getitem__)
        size, files = _usage(settings.cache)
        pulled, pulled_bytes = box.count_pulled_images(settings.cache)
        named = isinstance(chosen, str)
        row = {
            "available": named,
            "runtime": chosen if isinstance(chosen, str) else "",
            "manner": box.describe_containment(),
            "why": "" if isinstance(chosen, str) else chosen.why,
            "fix": "" if isinstance(chosen, str) else chosen.fix,
            "pythons": box.find_interpreters(read_tool_environment(), settings.sandbox_pythons).describe(),
            "images": engine if isinstance(engine, str) else f"none: {_describe(engine)}",
            "runtimes": {name: _describe(state) for name, state in found.items()},
            "cache": str(settings.cache),
            "bytes": size,
            "files": files,
            "pulled_images": pulled,
            "pulled_bytes": pulled_bytes,
        }
        if as_json:
            print_json(row)
        else:
            runtimes = {f"runtime {name}": _describe(state) for name, state in found.items()}
            del row["runtimes"]
            facts = {name.replace("_", " "): _spelled(value) for name, value in {**row, **runtimes}.items()}
            print_data(make_fact_table((name, value) for name, value in facts.items() if value))
        raise click.exceptions.Exit(ExitCode.OK if named else ExitCode.NOTHING)


@sandbox.command()
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--older-than",
    metavar="DAYS",
    type=click.IntRange(min=0),
    help="Only packages and images unused for this many days.",
)
def clean(yes: bool, older_than: int | None) -> None:
    """Remove the root file system, installed packages and pulled images. They are made again when needed."""
    with explain_failures():
        cache = read_settings().cache
        if older_than is not None:
            keep = box.EvictionPolicy(unused=timedelta(days=older_than))
            gone = box.evict_layers(cache, keep, SystemClock().wall())
            packages = f"{gone.layers} installed package{'s' * (gone.layers != 1)}"
            print_note(f"removed {packages} ({gone.size / 1e6:.0f} MB) in {cache}")
            _remove_images(cache, keep)
            return
        size, files = _usage(cache)
        if not files:
            print_note(f"nothing to remove in {cache}")
            _remove_images(cache, box.EvictionPolicy(size=0))
            return
        if not yes and not click.confirm(f"Remove {files} files ({size / 1e6:.0f} MB) in {cache}?", err=True):
            raise click.exceptions.Exit(ExitCode.OK)
        for part in _parts(cache):
            _make_writable(part)
            shutil.rmtree(part)
        print_note(f"removed {files} files ({size / 1e6:.0f} MB) in {cache}")
        _remove_images(cache, box.EvictionPolicy(size=0))


def _remove_images(cache: Path, keep: box.EvictionPolicy) -> None:
    """Remove pulled images from the engines, and print how many were removed, if any."""
    gone = asyncio.run(box.evict_images(cache, keep, SystemClock().wall(), read_tool_environment()))
    if gone.images:
        print_note(f"removed {gone.images} image{'s' * (gone.images != 1)} ({gone.size / 1e6:.0f} MB)")
    if gone.kept:
        print_note("some images stay: another program uses them, or their engine does not answer. Try again later.")


def _spelled(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case _:
            return str(value)


def _describe(state: box.Availability) -> str:
    return state.detail if state.ok else f"{state.why}; {state.fix}"


def _parts(cache: Path) -> list[Path]:
    """The folders of the sandbox in the cache; other files there are not touched."""
    return [part for name in box.PARTS if (part := cache / name).is_dir()]


def _usage(cache: Path) -> tuple[int, int]:
    found = [path.lstat() for part in _parts(cache) for path in part.rglob("*") if path.is_file() or path.is_symlink()]
    return sum(entry.st_size for entry in found), len(found)


def _make_writable(part: Path) -> None:
    for folder in (part, *(path for path in part.rglob("*") if path.is_dir() and not path.is_symlink())):
        folder.chmod(0o755)
