"""Classifies tools by what they may do: read, write, destroy, administer, or unknown. Used by probing and scoring.

Three sources are used in this order; a classification names the one that decided:

1. **Annotations.** `readOnlyHint: true` means reading and `false` changing; `destructiveHint` distinguishes destroying
   from writing. They are claims: a tool with an action in its name (`delete_file`) that claims to read is unknown.
2. **The name**, as words, without a prefix that most tools of the server share (`browser_`, `slack_`). The verb is the
   first word, the second after a noun, or the last. A reading verb beside an action (`get_delete_token`) is unknown;
   joined to it by "and" or "or" (`get_or_create`) it is that action. A reading name becomes unknown when a parameter
   takes code, SQL or an HTTP method or when the description begins with an action. It takes the class of an action
   among the values of a parameter such as `action`.
3. **The description**, only when the name has no verb: it must begin with a reading verb and mention no action.

In doubt a tool is unknown. A reading tool that is classified as unknown costs one observation; a writing tool that is
classified as reading would let a probe change a user's data.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final

from msgspec import Struct

from evidence.canonical import Json


class Authority(StrEnum):
    """The most that calling a tool may do."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"
    ADMIN = "admin"
    UNKNOWN = "unknown"

    @property
    def changes_state(self) -> bool:
        """True for a known class that does more than read."""
        return self in {Authority.WRITE, Authority.DESTRUCTIVE, Authority.ADMIN}


class Basis(StrEnum):
    """The source that decided a classification."""

    ANNOTATIONS = "annotations"
    NAME = "name"
    PARAMETERS = "parameters"
    DESCRIPTION = "description"
    NOTHING = "nothing"


class Classification(Struct, frozen=True):
    """The class of one tool, the source that decided it, and the hint or word of that source."""

    authority: Authority
    basis: Basis
    why: str = ""


def _vocabulary(text: str) -> frozenset[str]:
    return frozenset(text.split())


READ_VERBS: Final = _vocabulary(
    """
    analyse analyze calculate cat compare compute count decode describe diff estimate explain fetch find geocode
    get grep head inspect introspect list look lookup ls peek ping preview read retrieve search show stat
    summarise summarize tail tree view whoami
    """
)
"""Verbs of reading. `check`, `query`, `resolve` and `verify` are left out: some servers write under these names."""

TRAILING_READ_VERBS: Final = frozenset(["find", "get", "list", "lookup", "read", "search", "tree"])
"""Verbs that may follow their object: `web_search`, `users_list`."""

READ_NOUNS: Final = _vocabulary(
    """
    details diff directions elevation history info log logs matrix metrics overview statistics stats status
    usage version
    """
)
"""Last words of names without a verb that read: `git_status`, `place_details`."""

WRITE_VERBS: Final = _vocabulary(
    """
    accept add adjust allocate amend annotate append apply approve archive assign attach block book bookmark buy
    call cancel change click close comment commit compose configure connect copy create customise customize
    deliver deploy disable disconnect dispatch download draft drag drop duplicate edit emulate enable enqueue
    enter export fill finish follow fork format generate give handle hover import increment index insert install
    invite invoke join launch link login logout make manage mark merge migrate modify mount move mute navigate
    notify open patch pause pay pin play post press print process produce promote provision publish pull
    purchase push put react rebase rebuild record redeem refresh regenerate register reindex reject release
    rename render reopen reorder repair replace reply reschedule resend reserve resize restart restore resume
    retry revert rotate run save schedule scroll select sell send set share sign sort spawn stage start stop
    store submit subscribe swap switch sync tag tap toggle touch train transfer transform trigger turn type
    unarchive undo unfollow uninstall unlink unlock unpin unset unsubscribe unwatch update upload upsert use
    vote watch withdraw write
    """
)
"""Verbs of changing something at a service, on a machine or on a screen."""

DESTROY_VERBS: Final = _vocabulary(
    """
    abort clear delete deprovision destroy discard erase evict expire kill nuke overwrite prune purge remove
    reset revoke rm rmdir terminate trash truncate wipe
    """
)
"""Verbs of destroying something that cannot be restored."""

ADMIN_VERBS: Final = _vocabulary(
    "administer chmod chown elevate eval evaluate exec execute grant impersonate reboot shutdown sudo"
)
"""Verbs of executing given code and of changing permissions."""

ADMIN_NOUNS: Final = _vocabulary(
    """
    admin bash cmd code command commands credential credentials permission permissions powershell privilege
    privileges role roles script scripts shell sql terminal
    """
)
"""Nouns that make an action administrative: `run_command`, `set_permissions`. Reading them is reading."""

UNAMBIGUOUS_ACTION_VERBS: Final = (
    DESTROY_VERBS
    | ADMIN_VERBS
    | _vocabulary(
        """
    add append approve assign create deploy edit insert install invoke modify move publish put rename replace
    save send set submit transfer uninstall update upload upsert write
    """
    )
)
"""Verbs of actions that are not also nouns in reading names, as `commit` is in `list_commits`."""

_JOINING: Final = frozenset({"and", "or"})
_ACTION: Final = re.compile(r"(?:action|command|mode|op|operation)s?", re.IGNORECASE)
_HANDED_OVER: Final = re.compile(
    r"(?:code|cmd|command|commands|expression|javascript|method|script|shell|sql|statement)", re.IGNORECASE
)
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PROSE: Final = re.compile(r"[a-z]{2,24}")
_DEED_FORMS: Final = frozenset(
    form
    for verb in UNAMBIGUOUS_ACTION_VERBS
    | _vocabulary("change commit download generate merge post push record run start stop store")
    for stem in (verb, verb.removesuffix("e"), verb + verb[-1])
    for form in (verb, f"{verb}s", f"{stem}ed", f"{stem}ing", f"{verb}d")
)
_READING_FORMS: Final = (
    READ_VERBS | {f"{verb}s" for verb in READ_VERBS} | {"displays", "display", "searches", "returns", "return"}
)
_MAX_TEXT: Final = 4000
_RANK: Final = (Authority.READ, Authority.UNKNOWN, Authority.WRITE, Authority.DESTRUCTIVE, Authority.ADMIN)


def classify_tools(tools: Sequence[Json]) -> tuple[Classification, ...]:
    """The class of every tool of one server, in order. A tool may be any JSON value that the server listed."""
    prefix = find_shared_prefix([_text(tool, "name") for tool in tools])
    return tuple(classify_tool(tool, prefix=prefix) for tool in tools)


def classify_tool(tool: Json, *, prefix: str = "") -> Classification:
    """The class of one tool. `prefix` is the first word that it shares with most tools of its server."""
    words = _words(_text(tool, "name"), prefix)
    named, why = _by_name(words)
    hinted = _by_annotations(tool, named)
    if hinted is not None:
        return hinted
    if named is Authority.READ:
        return _doubted(tool, why)
    if named is not None:
        return Classification(named, Basis.NAME, why)
    return _by_description(tool)


def find_shared_prefix(names: Sequence[str]) -> str:
    """The first word of at least 60 % of the names if it is not a verb, such as a brand; otherwise empty."""
    if len(names) < 2:
        return ""
    words = (next(iter(_split(name)), "") for name in names)
    word, count = max(Counter(words).items(), key=lambda pair: pair[1])
    return word if word and _verb_class(word) is None and count * 10 >= len(names) * 6 else ""


def classify_actions(tool: Json) -> tuple[Authority, ...]:
    """The classes of the actions that a tool offers, by a parameter or in its name (`get_or_create`)."""
    words = _split(_text(tool, "name"))
    named = [_verb_class(word) for word in words] if _JOINING & set(words) else []
    offered = [_by_name(_split(value))[0] for value in _choices(tool)]
    return tuple(each for each in (*named, *offered) if each is not None and each is not Authority.UNKNOWN)


def _choices(tool: Json) -> Iterator[str]:
    for name, raw in _properties(tool).items():
        values = raw.get("enum") if isinstance(raw, Mapping) and _ACTION.fullmatch(name) else None
        yield from (value for value in values if isinstance(value, str)) if isinstance(values, list) else ()


def _properties(tool: Json) -> Mapping[str, Json]:
    schema = tool.get("inputSchema") if isinstance(tool, Mapping) else None
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return properties if isinstance(properties, Mapping) else {}


def _by_annotations(tool: Json, named: Authority | None) -> Classification | None:
    hints = tool.get("annotations") if isinstance(tool, Mapping) else None
    reads, destroys = (_hint(hints, name) for name in ("readOnlyHint", "destructiveHint"))
    if reads is True:
        if destroys is True or _is_plain_deed(tool, named):
            return Classification(Authority.UNKNOWN, Basis.ANNOTATIONS, "claims to read, is named or marked for a deed")
        return Classification(Authority.READ, Basis.ANNOTATIONS, "readOnlyHint is true")
    if reads is None and destroys is not True:
        return None
    if named is Authority.ADMIN:
        return Classification(Authority.ADMIN, Basis.NAME, "no readOnlyHint, and the name is an administrator's")
    if destroys is True or (destroys is None and named is Authority.DESTRUCTIVE):
        return Classification(Authority.DESTRUCTIVE, Basis.ANNOTATIONS, "destructiveHint is not false")
    return Classification(Authority.WRITE, Basis.ANNOTATIONS, "readOnlyHint is false")


def _is_plain_deed(tool: Json, named: Authority | None) -> bool:
    return (
        named is not None
        and named.changes_state
        and any(word in UNAMBIGUOUS_ACTION_VERBS for word in _split(_text(tool, "name")))
    )


def _by_name(words: Sequence[str]) -> tuple[Authority | None, str]:
    """The class in a name and the word that decided; None when no word is a verb."""
    at, verb = _verb(words)
    if verb is None:
        ends = words[-1] if words else ""
        return (Authority.READ, ends) if ends in READ_NOUNS else (None, "")
    found = _verb_class(verb)
    if found is not Authority.READ:
        return (Authority.ADMIN if _administers(words, found) else found), verb
    for place, word in enumerate(words):
        if word in UNAMBIGUOUS_ACTION_VERBS and place != at:
            joined = place > 0 and words[place - 1] in _JOINING
            return (_verb_class(word) if joined else Authority.UNKNOWN), word
    if any(word in _JOINING and _verb_class(after) not in {None, Authority.READ} for word, after in pairwise(words)):
        return Authority.UNKNOWN, "and"
    return Authority.READ, verb


def _verb(words: Sequence[str]) -> tuple[int, str | None]:
    """The position and word of the verb: first, second after a noun, any unambiguous action, or last."""
    for place, word in enumerate(words[:2]):
        if _verb_class(word) is not None:
            return place, word
    for place, word in enumerate(words):
        if word in UNAMBIGUOUS_ACTION_VERBS:
            return place, word
    last = len(words) - 1
    return (last, words[last]) if words and words[last] in TRAILING_READ_VERBS else (-1, None)


def _verb_class(word: str) -> Authority | None:
    for verbs, authority in (
        (ADMIN_VERBS, Authority.ADMIN),
        (DESTROY_VERBS, Authority.DESTRUCTIVE),
        (WRITE_VERBS, Authority.WRITE),
        (READ_VERBS, Authority.READ),
    ):
        if word in verbs:
            return authority
    return None


def _administers(words: Sequence[str], found: Authority | None) -> bool:
    return found is Authority.ADMIN or any(word in ADMIN_NOUNS for word in words)


def _doubted(tool: Json, why: str) -> Classification:
    """The class of a reading name after checks of the parameters and the beginning of the description."""
    worst = Classification(Authority.READ, Basis.NAME, why)
    for name, raw in _properties(tool).items():
        if _ACTION.fullmatch(name) and (deeds := list(_deeds_of(raw))):
            worst = _worse(worst, Classification(max(deeds, key=_RANK.index), Basis.PARAMETERS, name))
        elif _HANDED_OVER.fullmatch(name):
            worst = _worse(worst, Classification(Authority.UNKNOWN, Basis.PARAMETERS, name))
    first = next(iter(_prose(tool)), "")
    if first in _DEED_FORMS:
        worst = _worse(worst, Classification(Authority.UNKNOWN, Basis.DESCRIPTION, first))
    return worst


def _deeds_of(raw: Json) -> Iterator[Authority]:
    values = raw.get("enum") if isinstance(raw, Mapping) else None
    for value in values if isinstance(values, list) else ():
        found = _by_name(_split(value))[0] if isinstance(value, str) else None
        if found is not None and found.changes_state:
            yield found


def _worse(one: Classification, other: Classification) -> Classification:
    return other if _RANK.index(other.authority) > _RANK.index(one.authority) else one


def _by_description(tool: Json) -> Classification:
    words = _prose(tool)
    if words and words[0] in _READING_FORMS and not any(word in _DEED_FORMS for word in words):
        doubted = _doubted(tool, words[0])
        basis = Basis.DESCRIPTION if doubted.authority is Authority.READ else doubted.basis
        return Classification(doubted.authority, basis, doubted.why)
    return Classification(Authority.UNKNOWN, Basis.NOTHING, "no hint and no word says what it does")


def _prose(tool: Json) -> list[str]:
    return _PROSE.findall(_text(tool, "description")[:_MAX_TEXT].lower())


def _words(name: str, prefix: str) -> list[str]:
    words = _split(name)
    return words[1:] if len(words) > 1 and prefix and words[0] == prefix else words


def _split(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name[:_MAX_TEXT])]


def _hint(hints: Json, name: str) -> bool | None:
    value = hints.get(name) if isinstance(hints, Mapping) else None
    return value if isinstance(value, bool) else None


def _text(tool: Json, member: str) -> str:
    value = tool.get(member) if isinstance(tool, Mapping) else None
    return value if isinstance(value, str) else ""
