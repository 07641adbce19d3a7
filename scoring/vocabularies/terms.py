"""Words that say little, and words that give them meaning."""

from __future__ import annotations

from typing import Final

from scoring.text.words import parse_word_list

VAGUE: Final = parse_word_list(
    """
data value input output info stuff thing item object result response payload content body param arg argument
parameter var variable prop property field attr attribute opts options config settings details misc other
extra additional temp tmp foo bar baz test
    """
)
"""Terms that could mean anything."""

CONTEXT: Final = parse_word_list(
    """
user file path url name id email phone address date time status type format size count number amount price
quantity index offset limit page query filter sort order search message text title description label tag
category group list array collection set map dictionary hash key token secret password credential auth session
request error success failure code reason source target destination origin start end from to min max default
required optional
    """
)
"""Words beside which a vague term is understood."""
