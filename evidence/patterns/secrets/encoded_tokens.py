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

# fmt: off
PATTERNS: Final = (
    SecretPattern(id="encoded-token", provider="Base64", title="Token, or address with a password, in Base64",
        expression=rf"(?:^|[^\w+/=\-])((?:{'|'.join(_BEGINNINGS)})[A-Za-z0-9+/]{{14,1000}}={{0,2}})(?:[^\w+/=]|$)",
        anchors=tuple(beginning.lower() for beginning in _BEGINNINGS),
        bad=("token: «ghp_<w36>»", "url: «postgres://shop:<w18>@db:5432/shop»"),
        good=("logo: «https://shop.dev/logo.png»", "url: «postgres://postgres:postgres@db/app»", "token: «ghp_<w12>»"),
        encoded=True, far=1100, near=4),
)
# fmt: on
