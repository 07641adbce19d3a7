"""What every process of a worker needs, loaded once before they are forked and left alone by the garbage collector."""

from __future__ import annotations

import gc
from typing import Final

from evidence.derive.poisoning import scan_text
from evidence.derive.secret_scrubbing import are_free_of_secrets
from publish.disclosure import private_rule_ids
from scoring.engine import catalogue

_YOUNG: Final = 50_000
"""New objects after which the collector looks at them; scoring a server makes thousands, hardly any in circles."""


def preload_modules(**_: object) -> None:
    """Load rules, rubrics and patterns; they are shared by all processes forked from this one.

    Otherwise the collector goes through all of them again and again: 13 % of what scoring costs.
    """
    catalogue.list_questions()
    private_rule_ids()
    are_free_of_secrets(())
    list(scan_text("Lists notes."))
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG)
