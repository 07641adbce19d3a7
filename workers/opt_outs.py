"""Opt-outs: servers, hosts and domains that are never contacted, from the settings' file and from the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.opt_outs import InvalidOptOuts, OptOutList, OptOutScope, parse_entries
from workers.settings.environment import InvalidSetting, Settings

if TYPE_CHECKING:
    from evidence.model import ServerId
    from evidence.store import Store


def load_opt_outs(settings: Settings, store: Store) -> OptOutList:
    """Both lists together; raise InvalidSetting when the file cannot be read, so that no listed server is contacted."""
    stored = store.opt_outs.read_opt_outs()
    return load_opt_out_file(settings) | OptOutList((OptOutScope(entry.scope.value), entry.value) for entry in stored)


def find_opted_out_servers(settings: Settings, store: Store) -> frozenset[ServerId]:
    """The stored servers that have opted out. Most are ruled out by the database, which compares no addresses."""
    asked = load_opt_outs(settings, store)
    if not asked:
        return frozenset()
    hosts = [host for host in store.list_hosts() if asked.explain_host(host.strip().rstrip("."))]
    found = store.find_named_or_remote(sorted(asked.servers), hosts)
    return frozenset(server.id for server in found if asked.why(server))


def load_opt_out_file(settings: Settings) -> OptOutList:
    """The list in the settings' file, empty without one; raise InvalidSetting when it cannot be read."""
    path = settings.opt_outs
    if path is None:
        return OptOutList()
    try:
        return OptOutList(parse_entries(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, InvalidOptOuts) as error:
        raise InvalidSetting(f"HALLMARK_OPT_OUTS: {path} is not a list of opt-outs: {error}") from error
