"""Formats of placeholder secrets: the issuer's prefix followed by zeros, so that none is real."""

from __future__ import annotations

import re
from typing import Final

ZEROS: Final = "0" * 32
ZERO_UUID: Final = "00000000-0000-0000-0000-000000000000"

# A value in the documented form of the issuer, by name or package. The first match counts.
_FORMS: Final = tuple(
    (re.compile(rf"(?:^|_)(?:{names})"), value)
    for names, value in (
        (r"SLACK\w*_(?:APP(?:_LEVEL)?_TOKEN|XAPP)", "xapp-1-A00000000-0000000000000-" + "0" * 64),
        (r"SLACK\w*_(?:USER|XOXP)", "xoxp-000000000000-000000000000-000000000000-" + "0" * 32),
        (r"SLACK\w*(?:TOKEN|XOXB)", "xoxb-000000000000-0000000000000-" + "0" * 24),
        (r"SLACK_TEAM_ID", "T00000000"),
        (r"SLACK_CHANNEL", "C00000000"),
        (r"(?:GITHUB|GH)_", "ghp_" + "0" * 36),
        (r"GITLAB", "glpat-" + "0" * 20),
        (r"OPENROUTER", "sk-or-v1-" + "0" * 64),
        (r"ANTHROPIC|CLAUDE", "sk-ant-api03-" + "0" * 95),
        (r"OPENAI", "sk-" + "0" * 48),
        (r"(?:NOTION|NTN)", "ntn_" + "0" * 46),
        (r"(?:HUBSPOT|PRIVATE_APP_ACCESS)", f"pat-na1-{ZERO_UUID}"),
        (r"STRIPE", "sk_test_" + "0" * 24),
        (r"AIRTABLE", "pat" + "0" * 14 + "." + "0" * 64),
        (r"SUPABASE_ACCESS", "sbp_" + "0" * 40),
        (r"LINEAR", "lin_api_" + "0" * 40),
        (r"(?:HF|HUGGING_?FACE|HUGGINGFACEHUB)", "hf_" + "0" * 34),
        (r"AWS_ACCESS_KEY_ID", "AKIA" + "0" * 16),  # base 32 has no zero
        (r"AWS_SECRET", "0" * 40),
        (r"(?:GOOGLE|GEMINI|YOUTUBE|MAPS)", "AIza" + "0" * 35),
        (r"SENDGRID", "SG." + "0" * 22 + "." + "0" * 43),
        (r"TWILIO_(?:ACCOUNT_)?SID|ACCOUNT_SID", "AC" + "0" * 32),
        (r"FIRECRAWL", "fc-" + "0" * 32),
        (r"TAVILY", "tvly-" + "0" * 32),
        (r"BRAVE", "BSA" + "0" * 27),
        (r"EXA_", ZERO_UUID),
        (r"(?:PERPLEXITY|PPLX)", "pplx-" + "0" * 48),
        (r"REPLICATE", "r8_" + "0" * 37),
        (r"GROQ", "gsk_" + "0" * 52),
        (r"DIGITALOCEAN", "dop_v1_" + "0" * 64),
        (r"NPM", "npm_" + "0" * 36),
        (r"SENTRY", "sntryu_" + "0" * 64),
        (r"SHOPIFY", "shpat_" + "0" * 32),
        (r"(?:TELEGRAM|TG)\w*TOKEN", "0000000000:" + "0" * 35),
        (r"POSTMAN", "PMAK-" + "0" * 24 + "-" + "0" * 34),
        (r"FIGMA", "figd_" + "0" * 40),
        (r"RESEND", "re_" + "0" * 33),
        (r"ELEVEN_?LABS", "sk_" + "0" * 48),
        (r"PINECONE", "pcsk_" + "0" * 6 + "_" + "0" * 63),
        (r"APIFY", "apify_api_" + "0" * 36),
        (r"BROWSERBASE\w*KEY", "bb_live_" + "0" * 27),
        (r"MAPBOX", "pk." + "0" * 60),
        (r"HEROKU", f"HRKU-{ZERO_UUID}"),
        (r"ATLASSIAN|JIRA|CONFLUENCE", "ATATT3xFfGF0" + "0" * 180),
        # The smallest key that a curve allows, and the phrase that every development chain publishes.
        (r"(?:\w*_)?(?:MNEMONIC|SEED_PHRASE)", "test test test test test test test test test test test junk"),
        (r"(?:\w*_)?(?:WALLET|EVM|ETH(?:EREUM)?|DEPLOYER|SIGNER)\w*KEY|PRIVATE_KEY$", "0x" + "0" * 63 + "1"),
    )
)
_STATED_PREFIX: Final = re.compile(
    r"\b(?:starts?|starting|begins?|beginning|prefixed) with[ :]{1,2}[\"'`(]{0,2}([A-Za-z][A-Za-z0-9]{0,11}[-_.])",
    re.IGNORECASE,
)


def make_secret_placeholder(name: str, package: str, hint: str) -> str:
    """A placeholder secret in the format known for the name, else for the package, else for the hint.

    `name` and `package` are in capitals.
    """
    for known in (name, f"{package}_{name}"):
        for pattern, value in _FORMS:
            if pattern.search(known):
                return value
    prefix = _STATED_PREFIX.search(hint)
    return prefix[1] + ZEROS if prefix else ZEROS
