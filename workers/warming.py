"""What every process of a worker needs, loaded once before they are forked and left alone by the garbage collector."""

from __future__ import annotations

import gc

from evidence.derive.scrubbing import are_clean
from publish.disclosure import private_rules
from scoring import catalogue


def warm(**_: object) -> None:
    """Load rules, rubrics and patterns; they are shared by all processes forked from this one.

    The collector goes through all that lives again and again, which is a tenth of what scoring costs.
    """
    catalogue.questions()
    private_rules()
    are_clean(())
    gc.collect()
    gc.freeze()
