"""`hallmark key`: the key that signs datasets, in the formats of minisign."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from publish.datasets.minisign import (
    LARGEST,
    PublicKey,
    SignatureProblem,
    is_encrypted,
    new_key,
    read_public,
    read_secret,
    write_secret,
)
from workers.cli.boundary import explained
from workers.cli.console import Exit, fail, note
from workers.settings import Settings

app = typer.Typer(add_completion=False, no_args_is_help=True)

_SECRET = "Secret key to write, which only its owner may read. The public one goes beside it, with `.pub` at its end."  # noqa: S105


@app.callback()
def key() -> None:
    """Make the key that signs datasets, or show the public one. Files are those of minisign.

    Example: hallmark key new ~/hallmark.key
    """


@app.command("new")
def new(
    path: Annotated[Path, typer.Argument(metavar="FILE", help=_SECRET)],
    *,
    password: Annotated[bool, typer.Option(help="Encrypt it with a password, which is asked for.")] = True,
) -> None:
    """Make a new key. Signing by beat wants one without a password, or HALLMARK_DATASETS_PASSWORD.

    Examples:

    hallmark key new ~/hallmark.key

    hallmark key new --no-password /etc/hallmark/datasets.key
    """
    with explained():
        public = path.with_name(f"{path.name}.pub")
        if path.exists() or public.exists():
            fail(f"{path} or {public} is there already, and a key is never replaced: name another file", Exit.USAGE)
        signer = new_key()
        write_secret(path, signer.encode(_new_password() if password else ""))
        public.write_bytes(signer.public.encode())
        note(f"secret key {path}, public key {public}: publish the public one, away from the datasets too")
        sys.stdout.write(f"{signer.public.line}\n")


@app.command("show")
def show(path: Annotated[Path, typer.Argument(metavar="FILE", help="Secret or public key.")]) -> None:
    """Print the public key of a file as one word, which `hallmark verify --key` and `minisign -P` take."""
    with explained():
        try:
            sys.stdout.write(f"{_public(path).line}\n")
        except SignatureProblem as error:
            fail(f"{path}: {error}", Exit.USAGE)


def public_key(text: str) -> PublicKey:
    """The public key that an option names: a file, or the key itself as one word; fails on anything else."""
    try:
        return read_public(_read(Path(text)) if Path(text).is_file() else text)
    except (SignatureProblem, OSError) as error:
        fail(f"--key {text}: the file of a public key, or the key itself, expected: {error}", Exit.USAGE)


def password_of(settings: Settings) -> str:
    """The password of the key: as set, else asked for where somebody can answer."""
    known = settings.datasets_password.get_secret_value()
    return known or (_ask("Password of the key") if sys.stdin.isatty() else "")


def _new_password() -> str:
    if not sys.stdin.isatty():
        fail("nobody can be asked for a password here: give --no-password, or call it in a terminal", Exit.USAGE)
    return _ask("Password of the new key", again=True)


def _ask(what: str, *, again: bool = False) -> str:
    return str(typer.prompt(what, hide_input=True, confirmation_prompt=again, err=True))


def _public(path: Path) -> PublicKey:
    data = _read(path)
    try:
        return read_public(data)
    except SignatureProblem:
        return read_secret(data, password_of(Settings()) if is_encrypted(data) else "").public


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST + 1)
