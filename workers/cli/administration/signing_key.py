"""`hallmark key`: the key that signs datasets, in the formats of minisign."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from publish.datasets.snapshot.minisign import (
    MAX_FILE_BYTES,
    PublicKey,
    SignatureProblem,
    generate_key,
    is_encrypted_key,
    parse_public_key,
    parse_secret_key,
    write_secret_key,
)
from workers.cli.display.console import ExitCode, exit_with_error, print_note
from workers.cli.error_boundary import explain_failures
from workers.cli.options import ANY_PATH, CommandGroup
from workers.settings.environment import Settings, read_settings

_SECRET = "File of the secret key, readable only by its owner. The public key is written to FILE.pub."  # noqa: S105


@click.group(cls=CommandGroup)
def key() -> None:
    """Make a key that signs datasets, or show its public key. Files have the format of minisign.

    Example: hallmark key new ~/hallmark.key
    """


@key.command("new")
@click.argument("path", metavar="FILE", type=ANY_PATH, help=_SECRET)
@click.option(
    "--password/--no-password", default=True, help="Encrypt the key with a password, for which the command asks."
)
def make_key(path: Path, *, password: bool) -> None:
    """Make a new key. Workers can sign with a key without a password, or with HALLMARK_DATASETS_PASSWORD.

    Examples:

    hallmark key new ~/hallmark.key

    hallmark key new --no-password /etc/hallmark/datasets.key
    """
    with explain_failures():
        public = path.with_name(f"{path.name}.pub")
        if path.exists() or public.exists():
            exit_with_error(
                f"{path} or {public} exists already, and a key is never replaced: name another file", ExitCode.USAGE
            )
        signer = generate_key()
        write_secret_key(path, signer.encode(_new_password() if password else ""))
        public.write_bytes(signer.public.encode())
        print_note(f"secret key {path}, public key {public}: publish the public key, also apart from the datasets")
        sys.stdout.write(f"{signer.public.line}\n")


@key.command("show")
@click.argument("path", metavar="FILE", type=ANY_PATH, help="Secret or public key.")
def show_public_key(path: Path) -> None:
    """Print the public key in a file as one word, for `hallmark verify --key` and `minisign -P`."""
    with explain_failures():
        try:
            sys.stdout.write(f"{_public(path).line}\n")
        except SignatureProblem as error:
            exit_with_error(f"{path}: {error}", ExitCode.USAGE)


def read_public_key(text: str) -> PublicKey:
    """The public key of an option: a file, or the key itself as one word; exits on anything else."""
    try:
        return parse_public_key(_read(Path(text)) if Path(text).is_file() else text)
    except (SignatureProblem, OSError) as error:
        exit_with_error(f"--key {text}: the file of a public key, or the key itself, expected: {error}", ExitCode.USAGE)


def read_password(settings: Settings) -> str:
    """The password of the key: from the settings, else from a prompt in a terminal, else empty."""
    known = settings.datasets_password.reveal()
    return known or (_ask("Password of the key") if sys.stdin.isatty() else "")


def _new_password() -> str:
    if not sys.stdin.isatty():
        exit_with_error(
            "no terminal to ask for a password: give --no-password, or run the command in a terminal", ExitCode.USAGE
        )
    return _ask("Password of the new key", again=True)


def _ask(what: str, *, again: bool = False) -> str:
    return str(click.prompt(what, hide_input=True, confirmation_prompt=again, err=True))


def _public(path: Path) -> PublicKey:
    data = _read(path)
    try:
        return parse_public_key(data)
    except SignatureProblem:
        return parse_secret_key(data, read_password(read_settings()) if is_encrypted_key(data) else "").public


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)
