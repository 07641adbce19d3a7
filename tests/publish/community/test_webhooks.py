"""The check that the guide gives to receivers accepts our messages, and no others."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from publish.community.webhooks import derive_secret, sign_message

GUIDE = Path(__file__).resolve().parents[3] / "docs/guide/maintainers.md"
BODY = '{"type":"score.changed","name":"größe"}'.encode()


def sealed(purpose: str) -> bytes:
    return purpose.encode().ljust(32, b".")


def test_the_guides_receiver_believes_us_and_no_forgery() -> None:
    code = re.search(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    exec(code[1], names)
    believes, secret = names["is_from_hallmark"], derive_secret(sealed, "whk_1")
    headers = dict(sign_message(secret, "dlv_1", datetime.now(UTC), BODY))
    assert believes(secret, headers, BODY)
    assert not believes(secret, headers, BODY + b" ")
    assert not believes(derive_secret(sealed, "whk_2"), headers, BODY)
    assert not believes(secret, headers | {"webhook-id": "dlv_2"}, BODY)
    assert not believes(secret, dict(sign_message(secret, "dlv_1", datetime(2026, 1, 1, tzinfo=UTC), BODY)), BODY)


def test_a_signature_is_that_of_the_standard() -> None:
    """The example of the specification's own libraries."""
    headers = dict(
        sign_message(
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            datetime.fromtimestamp(1614265330, UTC),
            b'{"test": 2432232314}',
        )
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
