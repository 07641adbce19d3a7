"""Keeps the board right beside publication: made where there is none, without those who asked to be left alone."""

from __future__ import annotations

from evidence.store import Store
from publish import posting
from workers.opt_outs import opt_outs
from workers.settings import Settings


def ensure(settings: Settings, store: Store) -> bool:
    """Have the newest published run on the board; whether it had to be put there, which takes a while.

    That is so once: for what was published by a version that knew no board, and for what was scored again. A run that
    was scored again under some rubrics only is read by its id alone. May be interrupted and repeated.
    """
    runs = [row.run for row in store.board.runs() if not row.is_partial]
    is_missing = bool(runs) and store.board.newest() != runs[0].id
    if is_missing:
        posting.post(store, runs[0])
    hide(settings, store)
    return is_missing


def hide(settings: Settings, store: Store) -> None:
    """Let those on the board be hidden who asked not to be looked at, and nobody else."""
    asked = opt_outs(settings, store)
    store.board.hide([server.id for server in store.board.everyone() if asked.why(server)] if asked else [])
