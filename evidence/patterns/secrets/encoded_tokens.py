"""Tokens and addresses with passwords in a second encoding, as in Kubernetes manifests."""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from evidence.patterns.secrets.pattern import SecretPattern

_TOKENS: Final = (
    "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "sk-ant-", "sk-proj-", "sk_live_", "rk_live_", "AKIA", "ASIA",
    "xoxb-", "xoxp-", "npm_", "hf_", "AIza", "SG.", "shpat_", "dop_v1_", "gsk_", "pypi-AgE", "hvs.", "glsa_", "ya29.",
)  # fmt: skip
_ADDRESSES: Final = (
    "postgres://", "postgresql://", "mysql://", "mongodb://", "mongodb+srv://", "redis://", "rediss://", "amqp://",
    "amqps://", "https://",
)  # fmt: skip
_BEGINNINGS: Final = tuple(
    b64encode(beginning.encode()).decode()[: len(beginning) * 8 // 6] for beginning in (*_TOKENS, *_ADDRESSES)
)
"""The letters of the encoding that do not depend on the following text."""
_WORDS: Final = (
    "password", "Password", "PASSWORD", "secret", "Secret", "SECRET", "api_key", "apiKey", "API_KEY", "api-key",
    "_token", "Token\"", "_TOKEN", "access_key", "ACCESS_KEY", "Bearer ", "Authorization", "PRIVATE KEY",
)  # fmt: skip


def _insides(word: str) -> set[str]:
    """The letters of the encoding of a word that do not depend on the text around it, for each place in 3 bytes."""
    found = set()
    for before in range(3):
        encoded = b64encode(bytes(before) + word.encode()).decode()
        found.add(encoded[-(-before * 8 // 6) : (before + len(word)) * 8 // 6])
    return found


_INSIDES: Final = tuple(sorted({inside.lower() for word in _WORDS for inside in _insides(word)}))

# fmt: off
PATTERNS: Final = (
    SecretPattern(id="encoded-token", provider="Base64", title="Token, or address with a password, in Base64",
        expression=rf"(?:^|[^\w+/=\-])((?:{'|'.join(_BEGINNINGS)})[A-Za-z0-9+/]{{14,1000}}={{0,2}})(?:[^\w+/=]|$)",
        anchors=tuple(beginning.lower() for beginning in _BEGINNINGS),
        bad=("token: «ghp_<w36>»", "url: «postgres://shop:<w18>@db:5432/shop»"),
        good=("logo: «https://shop.dev/logo.png»", "url: «postgres://postgres:postgres@db/app»", "token: «ghp_<w12>»"),
        encoded=True, far=1100, near=4),
    SecretPattern(id="encoded-text", provider="Base64", title="Text with a secret, in Base64",
        expression=r"(?:^|[^\w+/=\-])([A-Za-z0-9+/]{32,}={0,2})(?:[^\w+/=]|$)", anchors=_INSIDES,
        bad=('config: «{"user": "app", "api_key": "sk_live_<w24>"}»', "env: «A=1\nGITHUB_TOKEN=ghp_<w36>\n»",
        'twice: «{"secret": "«ghp_<w36>»", "user": "app"}»'),
        good=('config: «{"user": "app", "password": "changeme", "region": "eu-west"}»', "password_hash: <b64>"),
        encoded=True, near=16000, far=16000),
)
# fmt: on
