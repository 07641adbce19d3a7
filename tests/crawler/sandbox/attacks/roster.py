"""Which attacks need a box of their own, and what has to be recorded of those."""

from __future__ import annotations

from dataclasses import dataclass, field

from crawler.sandbox import Limits
from evidence.model import Reason
from tests.crawler.sandbox.attacks.arena import smaller
from tests.crawler.sandbox.attacks.packing import names

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """`reasons`: why nothing is listed, empty when there is a listing. `says`: words of what is recorded.

    `patience`: seconds that an answer may take. `called`: the attack waits for its tool to be called.
    """

    reasons: tuple[Reason, ...] = ()
    says: str = ""
    patience: float = 20.0
    called: bool = False
    limits: Limits = field(default_factory=Limits)


ENDED, LATE, LARGE = (Reason.START_FAILED,), (Reason.TIMEOUT,), (Reason.TOO_LARGE,)
RESTRICTED = (Reason.SANDBOX_RESTRICTED,)
FEW = smaller(processes=40, memory=256 * MIB)
ALONE = {
    "attack_closed_streams": Alone(reasons=LATE, patience=1.5),
    "attack_crash": Alone(reasons=ENDED, says="segmentation fault on purpose"),
    "attack_deafness": Alone(reasons=LATE, patience=1.0),
    "attack_deep_answer": Alone(says="too_large"),
    "attack_descriptor_fill": Alone(called=True),  # the limits end it, or so many sockets the box
    "attack_endless_line": Alone(reasons=LARGE),
    "attack_fork_bomb": Alone(reasons=LATE, patience=1.5, limits=FEW),
    "attack_giant_answer": Alone(says="too_large"),
    "attack_inode_fill": Alone(called=True),  # root's boxes run full, others' are stopped
    "attack_held_streams": Alone(reasons=ENDED, says="exit code 0"),
    "attack_kernel_memory": Alone(called=True, says="stopped at the"),  # so many sockets, or a group's memory
    "attack_kill_everyone": Alone(reasons=ENDED, says="signal 9"),
    "attack_memory_bomb": Alone(reasons=RESTRICTED, says="memory limit", limits=FEW),
    "attack_memory_of_many": Alone(called=True, says="memory limit", limits=FEW),
    "attack_page_tables": Alone(called=True, says="memory limit", limits=FEW),
    "attack_respawner": Alone(limits=FEW),
    "attack_silence": Alone(reasons=LATE, patience=1.0),
    "attack_spin": Alone(
        reasons=(*ENDED, *LATE), limits=smaller(cpu_seconds=1, seconds=4)
    ),  # on a busy machine, the latter
    "attack_stand_in": Alone(),
    "attack_standstill": Alone(reasons=LATE, patience=1.5),
    "attack_stderr_flood": Alone(reasons=ENDED, says="stderr limit", limits=smaller(errors=4 * MIB)),
    "attack_stdout_flood": Alone(reasons=ENDED, says="output limit", limits=smaller(output=4 * MIB)),
    "attack_survivors": Alone(called=True),
    "attack_terminal_escapes": Alone(reasons=ENDED, says="owned"),
    "attack_thread_bomb": Alone(called=True, limits=FEW),
    "attack_time_bomb": Alone(called=True, patience=1.5, limits=FEW),
    "attack_zombies": Alone(called=True, limits=FEW),
    "attack-node-flood": Alone(reasons=ENDED, says="output limit", limits=smaller(output=4 * MIB)),
    "attack-node-memory": Alone(reasons=RESTRICTED, says="memory limit", limits=smaller(memory=256 * MIB)),
    "attack-node-survivors": Alone(called=True),
    # Node gives up when it gets no more threads, sooner or later.
    "attack-node-workers": Alone(reasons=(*LATE, *ENDED), patience=3.0, limits=smaller(processes=40)),
}


OFTEN = frozenset({
    "attack_crash", "attack_endless_line", "attack_fork_bomb", "attack_memory_bomb", "attack_silence",
    "attack_stderr_flood", "attack_survivors", "attack-node-memory",
})  # fmt: skip
"""Attacks of every kind in a box of their own, for `make test`."""


def sharing(ecosystem: str) -> list[str]:
    """The attacks that can share a box."""
    return [name for name in names(ecosystem) if name not in ALONE]


def alone(ecosystem: str) -> list[str]:
    """The attacks that need a box of their own."""
    return [name for name in names(ecosystem) if name in ALONE]
