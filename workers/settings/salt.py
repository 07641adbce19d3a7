"""The salt of the hashes that stand for found secrets: of this installation, and the same every night."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

SALT_FILE: Final = "secret-salt"

_BYTES: Final = 32
_SHORTEST: Final = 16


class InvalidSalt(ValueError):
    """The file of the salt holds something else: says which file, and what to do."""


def read_secret_salt(home: Path, configured: str) -> bytes:
    """What the setting says, else what stands in `secret-salt` in the home folder, which is made at the first time.

    Only its owner can read the file. Another salt makes all hashes of earlier nights incomparable.
    """
    if configured:
        return configured.encode()
    path = home / SALT_FILE
    home.mkdir(parents=True, exist_ok=True)
    salt = secrets.token_hex(_BYTES)
    staged = home / f"{SALT_FILE}.{salt[:16]}"
    if not path.exists():
        staged.touch(mode=0o600)
        staged.write_text(salt)
        try:
            path.hardlink_to(staged)  # whole or not at all, and the first of two processes wins
        except FileExistsError:
            pass
        finally:
            staged.unlink()
    kept = path.read_text(encoding="utf-8", errors="replace").strip()
    if len(kept) < _SHORTEST:
        raise InvalidSalt(f"expected at least {_SHORTEST} characters in {path}; found {len(kept)}: remove the file")
    return kept.encode()
