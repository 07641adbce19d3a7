"""Who asked not to be looked at, as the settings' file and the table of opt-outs say now."""

from __future__ import annotations

from pathlib import Path

from crawler.opting_out import InvalidOptOuts, OptOutList, Scope, entries_of
from evidence.store import Store
from workers.settings import Settings, SettingUnfit


def opt_outs(settings: Settings, store: Store) -> OptOutList:
    """Both lists together; raise SettingUnfit when the file cannot be read: who is on it must not be contacted."""
    known = store.opt_outs.read()
    return from_file(settings) | OptOutList((Scope(entry.scope.value), entry.value) for entry in known)


def from_file(settings: Settings) -> OptOutList:
    """The list of the settings' file, empty without one."""
    return OptOutList() if settings.opt_outs is None else OptOutList(_read(settings.opt_outs))


def _read(path: Path) -> list[tuple[Scope, str]]:
    try:
        return list(entries_of(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, InvalidOptOuts) as error:
        raise SettingUnfit(f"HALLMARK_OPT_OUTS: {path} is no list of opt-outs: {error}") from error
