"""Parts of an instruction to a model: obligation, verb, tool, condition and threat."""

from __future__ import annotations

from typing import Final

MUST: Final = r"""
    (?:must|shall|should|have\sto|has\sto|needs?\sto|(?:is|are)\srequired\sto|requires?\s(?:you\s|us\s)?to|always|make\ssure|be\ssure
    |mandatory\sto)"""
MUSTS: Final = "must|shall|should|have to|has to|need|required to|require|always|make sure|be sure|mandatory to"

ACT: Final = r"(?:call|us|run|invok|execut|trigger|fetch|quer|request|perform|scan)(?:e|y|s|ing|ying|ning)?"
ACTS: Final = "call|us|run|invok|execut|trigger|fetch|quer|request|perform|scan"

WHEN: Final = r"(?:before|prior\sto|ahead\sof|in\sadvance\sof|when(?:ever)?|while|each\stime|every\stime|any\stime)"
WHENS: Final = "before|prior to|ahead of|in advance of|when|while|each time|every time|any time"

_NO_NAME: Final = (
    r"(?!(?:this|that|these|each|every|other|same|any|another|following|appropriate|relevant|right|correct|specific|"
    r"specified|given|available|suggested|respective|provided|dedicated|separate|external|different|first|second|"
    r"more|your|their|its|system|python|shell|mcp)\s)"
)


def build_word_gap(most: int) -> str:
    """At most `most` words within a sentence."""
    return rf"(?:[^\s;]{{1,24}}(?<![.!?:])\s){{0,{most}}}?"


def build_tool_mention(name: str) -> str:
    """A tool by its name: in quotes, with an underscore, or before "tool"; as groups `name`, `name_`, `name__`."""
    return rf"""(?:the\s)?(?:(?:mcp\s)?(?:tool|function)\s)?
        (?:[`'"](?P<{name}>[a-z][\w.-]{{2,60}})[`'"]
        |(?P<{name}_>[a-z][a-z0-9]{{1,24}}(?:_[a-z0-9]{{1,24}}){{1,5}})\b
        |{_NO_NAME}(?P<{name}__>[a-z][\w-]{{3,40}})\s(?:tool|function)\b)"""


def build_action_tool_mention(name: str, stems: str) -> str:
    """A tool whose name contains one of some verbs."""
    word = rf"[a-z0-9_.-]{{0,30}}(?:{stems})[a-z0-9_.-]{{0,30}}"
    return rf"""(?:the\s)?(?:(?:mcp\s)?(?:tool|function)\s)?
        (?:[`'"](?P<{name}>{word})[`'"]|(?P<{name}_>(?=[a-z0-9.]{{0,40}}[_-]){word})|(?P<{name}__>{word})\s(?:tool|function)\b)"""


LITERAL: Final = r"""(?:['"](?:[^'"]{0,60}[\s@/:$\#*!&=][^'"]{0,100}|[^'"\s]{0,20}\d[^'"\s]{0,20}|\.|--[\w=-]{2,30})['"]
    |\b\w{2,20}=['"]|['"]?\b\d{3,12}\b|\[\s?['"]|\b[\w.-]{2,40}@[\w.-]{2,40}\.\w|https?://|~/
    |\b(?:named?|keywords?|query|region|map|player|account|user|summoner|branch|commit|folder|subject|symbol|ticker|value|flag|for|on|to)\s['"][\w-]{2,40}['"])"""
"""A value that the text itself prescribes: a quoted value that is more than a word, a number, an address, a quoted
name.
"""

THREAT: Final = r"""
    (?:(?:failure|failing)\sto\s(?:do\sso|\w{3,12})|(?:skipping|omitting|ignoring|neglecting|bypassing)\s(?:this|these|it|the)(?:\s\w{2,14})?)
    \s(?:this\s|it\s|them\s|so\s)?(?:will|would|may|can|could|shall|results?|causes?|leads?)\b"""

HARM: Final = (
    r"(?:crash|corrupt|disrupt|instab|unstab|overload|breach|loss\b|lost\b|compromis|violat|penal|suspend|terminat|"
    r"failures?\b|unauthori[sz]|vulnerab|damag|destroy|break|block)"
)
HARMS: Final = (
    "crash|corrupt|disrupt|instab|unstab|overload|breach|loss|lost|compromis|violat|penal|suspend|terminat|failure|"
    "unauthori|vulnerab|damag|destroy|break|block"
)

PRETEXT: Final = r"""
    \b(?:(?:security|audit\w{0,3}|compliance|privacy|system|performance|repository|company|corporate|organi[sz]ation\w{0,2}|logging|governance|data|environment|service)\s
        (?:protocol|polic(?:y|ies)|advisory|requirement|directive|update|mandate|alias|governance|purposes|reasons|integrity\scheck|verification|notice)s?\b
    |mandatory\s(?:\w{1,14}\s){0,2}(?:check|scan|audit|protocol|diagnostic|enhancement|log|logging|verification|pre-flight|preflight|measure|data)
    |for\s(?:security|audit\w{0,3}|compliance|logging|analytic\w{0,2}|privacy|tracking|telemetry)\b|analytical\slogging
    |(?:security|compliance|integrity|system|permission|authentication)\s(?:check|audit|scan|verification|validation)|diagnostic|pre-flight|(?:is|step\sis)\scritical\s(?:for|to)
    |(?:system|service|policy)\srequires)"""
PRETEXTS: Final = (
    "protocol|polic|advisory|requirement|directive|update|mandate|alias|governance|purposes|reasons|integrity|verif|"
    "notice|mandatory|for security|for audit|for compliance|for logging|for analytic|for privacy|for tracking|"
    "for telemetry|analytical|check|audit|scan|valid|diagnostic|pre-flight|critical|requires"
)


def build_character_gap(most: int) -> str:
    """At most `most` characters of the same sentence; the point in the name of a file or a host does not end it."""
    return rf"(?:[^.;!?]|[.?!](?=\S)){{0,{most}}}?"


ORDER: Final = (
    r"(?:(?:^|[.!?:;,()>\]*|-]\s?)\b(?:please\s|kindly\s|also\s|then\s|always\s|just\s)?|"
    r"\b(?:first|then|and|please|also|always|must|should|shall|automatically|need\sto|"
    r"needs\sto|have\sto|has\sto|before\suse|tool\sto|to\sbe)[,:]?\s)"
)
"""Positions at which an uninflected verb is an instruction: the beginning of a sentence or clause, or after "must"."""

USER: Final = (
    r"(?:(?:the|your|any|our)\s)?(?:end[\s-])?(?:users?|humans?|operators?|customers?|anyone|anybody|them|him|her)"
)
NOT: Final = (
    r"(?:do\snot|don'?t|dont|never|must\snot|should\snot|mustn'?t|shouldn'?t|avoid|without|no\sneed\sto|refrain\sfrom|"
    r"not\sto|cannot|can'?t|may\snot|not)"
)
NOTS: Final = "not|n't|dont|mustnt|shouldnt|cant|never|avoid|without|no need to|refrain from"
PLACE: Final = r"""
    (?:[`'"][\w.-]{2,40}[`'"]|\b(?:the|a|an|this|its|each|every|any)\s(?:[\w`'"-]{1,24}\s){0,2}?(?:parameter|argument|field|input|call|request|header|body|url|query|payload|tool|comment|note|message|notes|result|output|response)s?\b|https?://|this\stool\b
    |[\w.+-]{1,30}@[\w.-]{2,40}|(?:extra|additional)\s(?:\w{2,12}\s)?(?:numbers?|parameters?|arguments?|inputs?))"""
PLACES: Final = (
    "`|'|\"|parameter|argument|field|input|call|request|header|body|url|query|payload|tool|comment|note|message|"
    "result|output|response|http|@|number"
)
