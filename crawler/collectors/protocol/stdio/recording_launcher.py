"""Collects the monitored behaviour of one target's processes for the record of kind `behaviour`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from crawler.launcher import LaunchedServer, Launcher
from evidence.kinds.behaviour import Behaviour, merge_behaviours
from evidence.model import Absent, Observed, Reason, Target

_ELSEWHERE: Final = Absent(Reason.TRANSPORT_UNSUPPORTED, "a remote server runs where nobody observes it")


@dataclass(frozen=True, slots=True)
class RecordingLauncher:
    """A launcher that keeps what it launched."""

    launcher: Launcher
    launched: list[LaunchedServer] = field(default_factory=list)

    async def launch(self, target: Target) -> LaunchedServer | Absent:
        found = await self.launcher.launch(target)
        if not isinstance(found, Absent):
            self.launched.append(found)
        return found

    def told(self) -> Observed | Absent | None:
        """The merged behaviour of all processes that were started and stopped; None when none was started."""
        seen = [each.behaviour for each in self.launched]
        unseen = next((each for each in seen if isinstance(each, Absent)), None)
        known = [each for each in seen if isinstance(each, Behaviour)]
        return unseen or (merge_behaviours(known).observed() if known else None)

    def reached(self) -> Sequence[str]:
        """The hosts other than its own machine that the processes looked up, else contacted; sorted."""
        known = [each.behaviour for each in self.launched if isinstance(each.behaviour, Behaviour)]
        names = {name for each in known for name in each.names}
        places = {each.to for one in known for each in one.contacts if each.port is not None and not _is_here(each.to)}
        return sorted(names or places)


def _is_here(address: str) -> bool:
    return address in {"::1", "::", "0.0.0.0"} or address.startswith("127.")  # noqa: S104


def behaviour_content(
    told: Observed | Absent | None, targets: Sequence[Target], otherwise: Observed | Absent
) -> Observed | Absent:
    """The content of the record: the behaviour, or the reason why there is none of such a target."""
    if told is None and targets and targets[0].type.is_remote:
        return _ELSEWHERE
    return told or otherwise
