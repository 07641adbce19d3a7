"""What a tool is for, by its name: kinds of private data that it has a reason to ask for."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final

from evidence.compiled_on_use import compile_on_use


class Purpose(Enum):
    """A kind of data that a tool may need for what it is for."""

    TALK = "texts that may come from a conversation"
    CONVERSATION = "conversation"
    FILES = "files"
    PATH = "configuration"
    PROMPT = "prompts"
    TELEMETRY = "telemetry"
    SECRET = "secrets"  # noqa: S105 - the name of a purpose


_STEMS: Final = {
    Purpose.TALK: (
        "conversation|chat|dialog|messag|summar|memor|remember|recall|note|feedback|ticket|issue|ask|consult|prompt|"
        "llm|gpt|claude|agent|assistant|think|thought|reason|plan|session|transcript|histor|support|review|mail|repl|"
        "post|comment|journal|diary|meeting|context|thread|slack|discord|telegram|handoff|handover|bug|escalat|"
        "answer|question|log|intent|persona|preference|profile|insight|reflect|continu|resume|compact|archive|save|store"
    ),
    Purpose.CONVERSATION: "conversation|chat|transcript|dialog|thread|messages|minutes|meeting",
    Purpose.FILES: (
        "file|fs|path|folder|dir|document|upload|backup|sync|config|repo|project|deploy|shell|exec|process|terminal|import|"
        "export|edit|write|mail|inbox|message|contact|calendar|crm|people|photo|browser|histor|clipboard|attach|address|"
        "profile|identity|compress|zip|download|storage|drive|passport|medical|patient|payroll|contract|customer"
    ),
    Purpose.PROMPT: (
        "prompt|llm|gpt|claude|agent|assistant|chat|model|complet|generat|persona|bot|instruct|template|token"
    ),
    Purpose.TELEMETRY: "telemetr|analytic|metric|webhook",
    Purpose.PATH: (
        "ssh|key|aws|kube|docker|cred|secret|vault|env|config|dotfile|scan|audit|secur|setup|install|shell|bash|"
        "profile|deploy|login|auth|cert|pem|backup|gcloud|leak"
    ),
    Purpose.SECRET: (
        "auth|login|token|key|secret|vault|cred|passw|config|connect|setup|sign|oauth|account|session|encrypt|decrypt|"
        "hash|rotat|env|deploy|scan|audit|secur|leak|verif|pay|card|checkout|wallet|cookie|register"
    ),
}
_NAMES: Final = {purpose: compile_on_use(rf"(?<![a-z])(?:{stems})") for purpose, stems in _STEMS.items()}

_SECRET_PARAMETER: Final = compile_on_use(
    r"(?:key|token|secret|password|passphrase|credentials?|auth|cookies?|pin|otp)$"
)


def find_purposes(text: str) -> Iterator[Purpose]:
    """The kinds of data that a tool may ask for, by its name and title in lower case."""
    return (purpose for purpose, stems in _NAMES.items() if stems.search(text))


def is_for_secrets(parameter: str) -> bool:
    """Whether a parameter, by its name in lower case, takes a secret that the tool itself needs."""
    return _SECRET_PARAMETER.search(parameter) is not None
