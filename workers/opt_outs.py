"""Who asked not to be looked at, as the settings' file and the table of opt-outs say now."""

from __future__ import annotations

from pathlib import Path

from crawler.opt_outs import InvalidOptOuts, OptOutList, OptOutScope, parse_entries
from evidence.store import Store
from workers.settings.environment import InvalidSetting, Settings


def load_opt_outs(settings: Settings, store: Store) -> OptOutList:
    """Both lists together; raise SettingUnfit when the file cannot be read: who is on it must not be contacted."""
    known = store.opt_outs.read_opt_outs()
    return load_opt_out_file(settings) | OptOutList((OptOutScope(entry.scope.value), entry.value) for entry in known)


def load_opt_out_file(settings: Settings) -> OptOutList:
    """The list of the settings' file, empty without one."""
    return OptOutList() if settings.opt_outs is None else OptOutList(_read(settings.opt_outs))


def _read(path: Path) -> list[tuple[OptOutScope, str]]:
    try:
        return list(parse_entries(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, InvalidOptOuts) as error:
        raise InvalidSetting(f"HALLMARK_OPT_OUTS: {path} is no list of opt-outs: {error}") from error
