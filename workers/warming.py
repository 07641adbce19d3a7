"""What every process of a worker needs, loaded once before they are forked and left alone by the garbage collector."""

from __future__ import annotations

import gc
from typing import Final

from evidence.derive.poisoning import scan_text
from evidence.derive.scrubbing import are_clean
from publish.disclosure import private_rules
from scoring import catalogue

_YOUNG: Final = 50_000
"""New objects after which the collector looks at them; scoring a server makes thousands, hardly any in circles."""


def warm(**_: object) -> None:
    """Load rules, rubrics and patterns; they are shared by all processes forked from this one.

    Otherwise the collector goes through all of them again and again: 13 % of what scoring costs.
    """
    catalogue.questions()
    private_rules()
    are_clean(())
    list(scan_text("Lists notes."))
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG)
