"""Lists of words for the parts of an instruction to a model, wide on purpose.

A pattern combines several lists in one sentence, so a new word in a list takes effect in all patterns with that list.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

_ENDING: Final = r"\w{0,5}"
_SOME: Final = r"(?:[\w'/-]{1,16}\s){0,3}?"


class Words(Struct, frozen=True):
    """Words of one meaning: an expression that matches each of them, and optionally a fixed part of each, separated by
    bars.
    """

    expression: str
    needs: str

    def __or__(self, other: Words) -> Words:
        needs = f"{self.needs}|{other.needs}" if self.needs and other.needs else ""
        return Words(f"(?:{self.expression}|{other.expression})", needs)


def build_words(listed: str) -> Words:
    """Words between bars. `*` is any ending, `_` up to three words between two, `~` nothing, a space or a hyphen."""
    entries = [" ".join(entry.split()) for entry in listed.split("|")]
    return Words(
        rf"(?<![\w-])(?:{'|'.join(map(_expression, entries))})(?![\w-])", "|".join(dict.fromkeys(map(_fixed, entries)))
    )


def build_raw_words(expression: str, needs: str = "") -> Words:
    """An expression that is not a list of words, with words separated by bars of which each match contains one."""
    return Words(f"(?:{expression})", needs)


def _expression(entry: str) -> str:
    parts = {" _ ": rf"\s{_SOME}", "*": _ENDING, "~": r"[\s-]?", " ": r"\s"}
    return re.sub(r" _ |[*~ ]|\W", lambda found: parts.get(found[0]) or re.escape(found[0]), entry)


def _fixed(entry: str) -> str:
    return max(re.split(r" _ |[*~]", entry), key=len).strip()


KNOW: Final = build_words(
    """know | known | learn* | aware | find out | notic* | see | seen | realis* | realiz* | hear | suspect*
    | discover* | told | informed | notified | alerted | warned | reminded | made aware | shown | consulted
    | bothered | involved"""
)
"""Verbs for a person who learns something."""
USER: Final = build_words("the user | users | user's | the human | the person | the end~user | the operator")

GIVE: Final = build_words(
    """put | pass | include | provide | give | fill in | set | copy | paste | add | attach | insert | write
    | send | append | embed | share | submit | forward | upload | supply | deliver | post | e~mail | mail
    | transmit | leak | disclose | echo | report | mirror | store | enter | populate | hand | list | quote
    | relay | tell | place | stow | record | return | encode | stream | feed | dump | summarise | summarize
    | reproduce | recite | repeat | spell out | let us have | let it have | let us know | let it know | drop
    | deposit | serialise | serialize | replicate | pack | bundle | enclose | render | convey | communicate
    | make available | turn over"""
)
"""Verbs that instruct someone to hand something over."""

GIVEN: Final = build_words(
    """passed | included | provided | given | filled in | copied | pasted | added | attached | inserted
    | written | sent | appended | embedded | shared | submitted | forwarded | uploaded | supplied | delivered
    | posted | e~mailed | mailed | transmitted | disclosed | echoed | reported | mirrored | stored | entered
    | handed | listed | quoted | relayed | told | placed | recorded | logged | streamed | dumped | repeated
    | bundled | enclosed | archived | synced | kept | go | goes | belong | belongs | needed | required
    | expected | made available | turned over"""
)

FETCH: Final = build_words(
    """read | cat | open | access | load | fetch | retrieve | get | obtain | extract | locate | find | collect
    | look for | look up | look into | search | gather | dump | export | grab | harvest | query | download
    | take | scan | print | inspect | examine | check | view | go through | walk through | enumerate | dig up
    | pick up | pull | hand over | hand | supply | provide | include | attach | upload | paste | encode
    | embed | report | return | send | pass | put | use | copy | quote | add | append | mail | archive | zip
    | tar | ship | turn over | study | parse | list | edit | change | modify | overwrite | replace | delete
    | move | rename | write | insert | patch"""
)
"""Verbs of instructions about a private file."""

SECRET_FILE: Final = build_raw_words(
    r"""\S{0,30}(?:(?<!\w)\.ssh\b|id_rsa\b|id_ed25519\b|id_dsa\b|id_ecdsa\b|authorized_keys|/etc/(?:passwd|shadow|sudoers|gshadow)|(?<!\w)\.aws\b|(?<!\w)\.netrc|(?<!\w)\.npmrc|(?<!\w)\.pypirc|(?<!\w)\.git-credentials
    |(?<!\w)\.(?:ba|z)sh_history|(?<!\w)\.gnupg|(?<!\w)\.docker/config|(?<!\w)\.kube\b|(?<!\w)\.cursor/|mcp\.json|claude_desktop_config|wallet\.dat|(?<!\w)\.env\b|(?<!\w)\.pem\b|(?<!\w)\.pgpass|(?<!\w)\.my\.cnf|(?<!\w)\.config/gcloud|(?<!\w)\.azure\b|application_default_credentials|kubeconfig|secrets?\.ya?ml|credentials\.json|login\s?keychain|/proc/self/environ)
    |\b(?:hidden\s)?\.?ssh\s(?:folder|directory)|\b(?:aws|gcp|azure|cloud|npm|pypi|git|ssh|docker|kubernetes)\s(?:credentials?|configuration|config|credential)\sfiles?\b|\bbrowser'?s\s(?:saved\s|stored\s)?(?:passwords|cookies|history)\b|\bshell\shistory\b|\b(?:private|ssh|gpg|signing|pem)\s(?:key\s)?(?:keys?|files?)\b|\b_?auth_?token\b""",
    ".ssh|id_rsa|id_ed25519|id_dsa|id_ecdsa|authorized_keys|/etc/|.aws|.netrc|.npmrc|.pypirc|.git-credentials|sh_history"
    "|.gnupg|.docker|.kube|.cursor/|mcp.json|claude_desktop_config|wallet.dat|.env|.pem|.pgpass|.my.cnf|.config/gcloud"
    "|.azure|application_default_credentials|kubeconfig|.yml|.yaml|credentials.json|keychain|/proc/self/environ|ssh "
    "|credential|configuration|config|browser|shell history|key|file|authtoken|auth_token",
)

SECRET: Final = build_words(
    """password* | passphrase* | passcode* | api~key* | access~token* | session~token* | bearer~token*
    | auth~token* | oauth~token* | refresh~token* | security~token* | token | tokens | private _ key*
    | ssh~key* | signing~key* | aws~key* | cloud~key* | secret~key* | account~key* | access~key*
    | encryption~key* | credential* | login details | log-in details | sign-in details | secret | secrets
    | cookies | environment variables | env~vars | seed~phrase* | recovery~phrase* | recovery~code*
    | card~number* | credit~card* | one-time code* | two-factor code* | otp | cvv | cvc | pin | pin code
    | pins | social security number* | bank details | printenv | database_url | any key* | all key*
    | key material"""
)

PERSONAL: Final = build_words(
    """home address* | date of birth | birthday | phone number* | address~book | contact list | contacts
    | full name | e~mail address* | e~mails | mails | emails | inbox | calendar* | recent mail*
    | customer table | customers table | users table | user table | customer data | personal data
    | private information | personal information | private data | source code | file~paths | open file*
    | source file* | clipboard | keystroke* | screen | location | what is typed | names and addresses
    | medical record* | income | salary | salaries | browsing history | photos | surrounding repository
    | whole repository | entire repository | whole codebase | entire codebase | dotfiles | raw messages
    | private messages | payslip* | diagnos* | insurance number* | health record* | customer list
    | client list"""
)

TALK: Final = build_words(
    """conversation so far | this conversation | our conversation | entire _ conversation | whole _ conversation
    | full _ conversation | complete _ conversation | raw _ conversation | conversation history
    | conversation log* | conversation transcript* | chat transcript* | dialogue so far | the dialogue
    | entire _ dialogue | chat~log* | chat~history | entire chat | whole chat | full chat | complete chat
    | this chat | transcript of | message history | exchange between | complete exchange | full exchange
    | entire exchange | entire discussion | whole discussion | last _ messages | last _ turns
    | latest messages | preceding turns | previous turns | previous messages | prior messages
    | earlier messages | recent messages | preceding messages | everything the user | everything you know
    | everything said | everything that was said | everything you have | what the user typed
    | what the user wrote | what the user said | what the user types | whatever the user | all the user
    | user's prompts | users' prompts | user's _ prompts | user's messages | each user message
    | user's complete message | user's full message | user's entire message | every message
    | every user message | every sentence you | all messages | what the user wrote so far
    | full thread | whole thread | entire thread | thread's whole | entire context | full context
    | whole context | complete context | messages of this chat | said up to now | messages so far"""
) | build_raw_words(r"\bcontext\swindow\b(?!\s(?:usage|size|limits?|space|budget|tokens)\b)", "context window")
PROMPT: Final = build_words(
    """system prompt* | system message | system instruction* | developer message | developer prompt
    | hidden prompt | initial instruction* | initial prompt | original instruction* | hidden instruction*
    | internal instruction* | your instructions | your prompt | your configuration | your guidelines
    | instructions you were | instructions that you | hidden reasoning | your reasoning | chain of thought
    | internal reasoning | inner monologue | model's instructions | assistant's instructions | model's prompt
    | base prompt | instructions your operator | operator configured | what your operator"""
)

AI: Final = build_words(
    """the model | the assistant | the agent | the ai | the llm | the language model | the chatbot | the bot
    | ai agent | ai assistant | ai model | llm | assistants | agents | models"""
)
