"""`hallmark tokens`."""

from __future__ import annotations

import re
import sys
from datetime import timedelta
from typing import Final

import click

from evidence.store.community.tokens import ApiToken
from evidence.store.decisions.audit_trail import AuditEntry
from publish.community.tokens import ADMIN_SCOPES, UnknownScope, check_scopes, create_token
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    exit_with_error,
    format_moment,
    make_table,
    print_json,
    print_note,
    print_table,
)
from workers.cli.operator import by_option, find_decider, read_clock
from workers.cli.options import CommandGroup, json_lines_option
from workers.cli.session import open_read_store

app = CommandGroup(
    help="Make and revoke API tokens for operators.\n\n"
    "A token is shown once: only a salted digest is stored. An owner who proves control of a server gets a token for "
    "that server without this command.\n\n"
    'Example: hallmark tokens new --scope admin:disputes --name "triage bot" --days 90',
)

_NAME: Final = re.compile(r"[\w .@:+-]{1,100}")


@app.command()
@click.option(
    "--scope", multiple=True, required=True, help=f"What the token may do: {', '.join(ADMIN_SCOPES)}. Repeatable."
)
@click.option("--name", required=True, help="Its user, as named in the audit trail.")
@click.option("--days", type=click.IntRange(min=0), default=90, help="Days until it expires. 0: never.")
@by_option
def new(*, scope: tuple[str, ...], name: str, days: int, by: str) -> None:
    """Make a token and print it. It cannot be shown again.

    Example: hallmark tokens new --scope admin:disputes --name "triage bot"
    """
    try:
        scopes = check_scopes(tuple(scope))
    except UnknownScope as error:
        exit_with_error(str(error), ExitCode.USAGE)
    if not _NAME.fullmatch(name):
        exit_with_error(f"expected a name of letters, digits, spaces and .@:+-, found {name[:100]!r}", ExitCode.USAGE)
    decider, at = find_decider(by), read_clock()
    minted = create_token(name, scopes, now=at, expires_at=at + timedelta(days=days) if days else None)
    act = AuditEntry(at=at, who=decider, what="token.new", subject=minted.token.id, after=_outline(minted.token))
    with open_read_store() as store:
        store.api_tokens.put_token(minted.token, act)
    print_note(f"token {minted.token.id} of {name}: store it now, it is not shown again")
    sys.stdout.write(minted.text + "\n")


@app.command("list")
@click.option("--all", "everything", is_flag=True, help="Also those that were revoked.")
@json_lines_option
def list_(everything: bool, as_json: bool) -> None:
    """List tokens with their scopes and their last use.

    Example: hallmark tokens list --all
    """
    with open_read_store() as store:
        grid, at = make_table("Id", "Name", "Scopes", "Made", "Expires", "Last used", "Valid"), read_clock()
        for one in store.api_tokens.list_tokens(ended=everything):
            if as_json:
                print_json(_outline(one) | {"counts": one.is_valid(at)})
                continue
            times = (one.made_at, one.expires_at, one.used_at)
            made, ends, used = (format_moment(each, "minutes") for each in times)
            valid = "yes" if one.is_valid(at) else "no"
            grid.add_row(one.id, clean_text(one.name), clean_text(" ".join(one.scopes)), made, ends, used, valid)
        if not as_json:
            print_table(grid, "no tokens. `hallmark tokens new` makes one")


@app.command()
@click.argument("token", metavar="ID", help="The id of the token, which `list` shows.")
@click.option("--note", "note_", default="", show_default=False, help="The reason, which is kept in the audit trail.")
@by_option
def revoke(token: str, note_: str, by: str) -> None:
    """Revoke a token at once.

    Example: hallmark tokens revoke 0123456789ab --note "lost laptop"
    """
    act = AuditEntry(at=read_clock(), who=find_decider(by), what="token.revoke", subject=token, note=note_)
    with open_read_store() as store:
        if not store.api_tokens.revoke_token(token, act):
            exit_with_error(f"no valid token {token!r}. `hallmark tokens list` shows them", ExitCode.NOTHING)
    print_note(f"token {token} is revoked")


def _outline(one: ApiToken) -> dict[str, str | list[str] | None]:
    return {
        "id": one.id,
        "name": one.name,
        "scopes": list(one.scopes),
        "made_at": one.made_at.isoformat(),
        "expires_at": one.expires_at.isoformat() if one.expires_at else None,
        "used_at": one.used_at.isoformat() if one.used_at else None,
        "revoked_at": one.revoked_at.isoformat() if one.revoked_at else None,
        "claim": one.claim,
    }
