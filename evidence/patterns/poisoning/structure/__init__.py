"""What an instruction to a model is made of, in twenty languages, and the combinations that give one away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.patterns.poisoning.structure import asian, data_requests, further, germanic, orders, romance, slavic
from evidence.patterns.poisoning.structure.concepts import (
    ANY_LANGUAGE,
    ENGLISH,
    Concept,
    Selection,
    Word,
    list_vocabulary,
)
from evidence.patterns.poisoning.structure.purposes import Purpose, find_purposes, is_for_secrets
from evidence.patterns.poisoning.structure.signal import Signal

__all__ = [
    "ANY_LANGUAGE",
    "ENGLISH",
    "LANGUAGES",
    "SIGNALS",
    "Concept",
    "Purpose",
    "Signal",
    "Word",
    "find_purposes",
    "is_for_secrets",
    "list_words",
]

SIGNALS: Final = (*data_requests.SIGNALS, *orders.SIGNALS)

_VOCABULARIES: Final = {
    "en": germanic.ENGLISH,
    "de": germanic.GERMAN,
    "nl": germanic.DUTCH,
    "sv": germanic.SWEDISH,
    "fr": romance.FRENCH,
    "es": romance.SPANISH,
    "pt": romance.PORTUGUESE,
    "it": romance.ITALIAN,
    "pl": slavic.POLISH,
    "cs": slavic.CZECH,
    "ru": slavic.RUSSIAN,
    "uk": slavic.UKRAINIAN,
    "tr": further.TURKISH,
    "id": further.INDONESIAN,
    "vi": further.VIETNAMESE,
    "ar": further.ARABIC,
    "hi": asian.HINDI,
    "zh": asian.CHINESE,
    "ja": asian.JAPANESE,
    "ko": asian.KOREAN,
}
_JOINED: Final = frozenset({"ar", "hi", "zh", "ja", "ko"})

LANGUAGES: Final = tuple(_VOCABULARIES)

_PATHS: Final = (
    *("~/.ssh", ".ssh/", "id_rsa", "id_ed25519", "id_ecdsa", "authorized_keys", "known_hosts", "/etc/passwd"),
    *("/etc/shadow", ".aws/", ".env", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".bash_history"),
    *(".zsh_history", ".kube/", "mcp.json", "claude_desktop_config", "wallet.dat", ".gnupg", ".docker/config"),
    *("application_default_credentials", ".pgpass", "~/documents", "~/desktop", "~/downloads", "~/.config", ".pem"),
    *("credentials.json", "secrets.yaml", "secrets.json", "keychain", "/home/$user", ".cursor/", "~/.claude"),
)
_ADDRESSES: Final = ("://", "www.", ".com", ".org", ".net", ".io", ".example", ".test", ".invalid")
"""Parts of addresses, for the test whether a text may hold one."""


def list_words(is_wanted: Selection) -> Iterator[Word]:
    """The wanted words of all languages; most processes need those of few concepts."""
    yield from list_vocabulary(_VOCABULARIES, _JOINED, is_wanted)
    if is_wanted(Concept.PATH, ANY_LANGUAGE):
        yield from (Word(path, Concept.PATH, ANY_LANGUAGE, True, False) for path in _PATHS)
    if is_wanted(Concept.ABROAD, ANY_LANGUAGE):
        yield from (Word(address, Concept.ABROAD, ANY_LANGUAGE, True, True) for address in _ADDRESSES)
