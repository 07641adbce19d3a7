"""Collects the monitored behaviour of one target's processes for the record of kind `behaviour`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct, field

from crawler.launcher import LaunchedServer, Launcher, name_substitute
from evidence.kinds.behaviour import Behaviour, merge_behaviours
from evidence.model import Absent, Observed, Reason, Target

_REMOTE: Final = Absent(Reason.TRANSPORT_UNSUPPORTED, "a remote server runs where its behaviour cannot be observed")


class RecordingLauncher(Struct, frozen=True):
    """A launcher that keeps what it launched."""

    launcher: Launcher
    launched: list[LaunchedServer] = field(default_factory=list)

    async def launch(self, target: Target) -> LaunchedServer | Absent:
        found = await self.launcher.launch(target)
        if not isinstance(found, Absent):
            self.launched.append(found)
        return found

    def behaviour(self) -> Observed | Absent | None:
        """The merged behaviour of all processes that were started and stopped; None when none was started."""
        behaviours = [one.behaviour for one in self.launched]
        unobserved = next((one for one in behaviours if isinstance(one, Absent)), None)
        known = [one for one in behaviours if isinstance(one, Behaviour)]
        return unobserved or (merge_behaviours(known).observed() if known else None)

    def contacted_hosts(self) -> Sequence[str]:
        """The hosts other than its own machine that the processes looked up, else contacted; sorted."""
        known = [one.behaviour for one in self.launched if isinstance(one.behaviour, Behaviour)]
        names = {name for one in known for name in one.names}
        addresses = {
            contact.to
            for one in known
            for contact in one.contacts
            if contact.port is not None and not _is_own_machine(contact.to)
        }
        return sorted(names or addresses)

    def substitute(self) -> str:
        """How a reason begins if another version than the declared one was started; else empty."""
        facts = self.launched[0].facts if self.launched else {}
        return name_substitute(facts["declared"], facts.get("version")) if facts.get("declared") else ""


def _is_own_machine(address: str) -> bool:
    return address in {"::1", "::", "0.0.0.0"} or address.startswith("127.")  # noqa: S104


def behaviour_content(
    behaviour: Observed | Absent | None, targets: Sequence[Target], otherwise: Observed | Absent
) -> Observed | Absent:
    """The content of the record: the behaviour, or the reason why there is none of such a target."""
    if behaviour is None and targets and targets[0].type.is_remote:
        return _REMOTE
    return behaviour or otherwise
