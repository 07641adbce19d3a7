"""The salt for hashes of found secrets: constant within an installation, so that hashes of runs can be compared."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

SALT_FILE: Final = "secret-salt"

_BYTES: Final = 32
_SHORTEST: Final = 16


class InvalidSalt(ValueError):
    """The salt file is invalid; the message names the file and what to do."""


def read_secret_salt(home: Path, configured: str) -> bytes:
    """The configured salt, else that in the file `secret-salt` of the home folder, which is created when missing.

    Only its owner can read the file. With another salt, hashes of earlier runs can no longer be compared.
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
