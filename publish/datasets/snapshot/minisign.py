"""Ed25519 signatures in the file formats of minisign 0.11 (https://jedisct1.github.io/minisign/)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from msgspec import Struct

MAX_FILE_BYTES: Final = 4_096
"""Maximum bytes of a key or signature file."""

_ALGORITHM: Final = b"Ed"
_PREHASHED: Final = b"ED"
_SCRYPT: Final = b"Sc"
_NO_KDF: Final = b"\0\0"
_BLAKE2B: Final = b"B2"
_SECRET: Final = struct.Struct("<2s2s2s32sQQ104s")
_COMMENT: Final = "untrusted comment: "
_TRUSTED: Final = "trusted comment: "

# What libsodium calls sensitive: one gigabyte and a few seconds, as minisign does it.
SCRYPT_OPERATIONS: Final = 33_554_432
SCRYPT_MEMORY: Final = 1_073_741_824
_MOST_MEMORY: Final = 4 * SCRYPT_MEMORY


class SignatureProblem(ValueError):
    """A key or a signature is invalid; the message says which and why."""


class NotSigned(SignatureProblem):
    """The signature is missing."""


class WrongKey(SignatureProblem):
    """The signature was made with another key."""


class BadSignature(SignatureProblem):
    """The file or the trusted comment was changed after signing."""


class PublicKey(Struct, frozen=True):
    """A public key and its key number, which its signatures contain."""

    number: bytes
    key: bytes

    @property
    def id(self) -> str:
        """The key number as minisign shows it: hexadecimal, most significant byte first."""
        return self.number[::-1].hex().upper()

    @property
    def line(self) -> str:
        """The key as the argument of `minisign -P`."""
        return base64.b64encode(_ALGORITHM + self.number + self.key).decode()

    def encode(self) -> bytes:
        return f"{_COMMENT}minisign public key {self.id}\n{self.line}\n".encode()

    def check(self, data: bytes, signature: bytes) -> str:
        """The trusted comment of a valid signature; raise WrongKey, BadSignature or SignatureProblem."""
        lines = _lines(signature, 4, "a signature")
        raw = _decoded(lines[1], 74, "a signature")
        algorithm, number, signed = raw[:2], raw[2:10], raw[10:]
        if algorithm not in {_ALGORITHM, _PREHASHED}:
            raise SignatureProblem(f"algorithm Ed or ED expected in the signature, found {algorithm!r}")
        if number != self.number:
            made = number[::-1].hex().upper()
            raise WrongKey(f"signed with key {made}, and checked with key {self.id}: it is not of this operator")
        if not lines[2].startswith(_TRUSTED):
            raise SignatureProblem(f"`{_TRUSTED}` expected in the third line of the signature")
        comment = lines[2].removeprefix(_TRUSTED)
        message = hashlib.blake2b(data).digest() if algorithm == _PREHASHED else data
        self._verify(signed, message, "the file was changed after it was signed")
        both = _decoded(lines[3], 64, "a signature of the comment")
        self._verify(both, signed + comment.encode(), "the trusted comment was changed after it was signed")
        return comment

    def _verify(self, signature: bytes, message: bytes, why: str) -> None:
        try:
            Ed25519PublicKey.from_public_bytes(self.key).verify(signature, message)
        except InvalidSignature as error:
            raise BadSignature(f"{why}, or key {self.id} is another one of the same number") from error


@dataclass(frozen=True, slots=True)
class Signer:
    """A secret key; `repr` shows only its number."""

    number: bytes
    seed: bytes = field(repr=False)

    @property
    def public(self) -> PublicKey:
        """The key that checks its signatures."""
        key = Ed25519PrivateKey.from_private_bytes(self.seed).public_key()
        return PublicKey(self.number, key.public_bytes(Encoding.Raw, PublicFormat.Raw))

    def sign(self, data: bytes, *, trusted: str) -> bytes:
        """The signature file; `trusted` is a comment on one line that is signed too."""
        key = Ed25519PrivateKey.from_private_bytes(self.seed)
        signed = key.sign(hashlib.blake2b(data).digest())
        both = key.sign(signed + trusted.encode())
        word = base64.b64encode(_PREHASHED + self.number + signed).decode()
        comment = f"{_COMMENT}signature from hallmark key {self.public.id}"
        return f"{comment}\n{word}\n{_TRUSTED}{trusted}\n{base64.b64encode(both).decode()}\n".encode()

    def encode(self, password: str = "", *, operations: int = SCRYPT_OPERATIONS, memory: int = SCRYPT_MEMORY) -> bytes:
        """The file of the secret key, encrypted when there is a password."""
        secret = self.seed + self.public.key
        checksum = hashlib.blake2b(_ALGORITHM + self.number + secret, digest_size=32).digest()
        plain = self.number + secret + checksum
        if password:
            salt = secrets.token_bytes(32)
            kdf, sealed = _SCRYPT, _xor(plain, _stream(password, salt, operations, memory))
        else:
            kdf, salt, operations, memory, sealed = _NO_KDF, bytes(32), 0, 0, plain
        packed = _SECRET.pack(_ALGORITHM, kdf, _BLAKE2B, salt, operations, memory, sealed)
        note = "minisign encrypted secret key" if password else "minisign secret key, not encrypted"
        return f"{_COMMENT}{note}\n{base64.b64encode(packed).decode()}\n".encode()


def generate_key() -> Signer:
    return Signer(secrets.token_bytes(8), secrets.token_bytes(32))


def parse_public_key(text: str | bytes) -> PublicKey:
    """Parse a public key file, or the key alone; raise SignatureProblem."""
    data = text.encode() if isinstance(text, str) else text
    lines = _lines(data, 1, "a public key")
    raw = _decoded(lines[1] if lines[0].startswith(_COMMENT) and len(lines) > 1 else lines[0], 42, "a public key")
    if raw[:2] != _ALGORITHM:
        raise SignatureProblem(f"a public key of algorithm Ed expected, found {raw[:2]!r}")
    return PublicKey(raw[2:10], raw[10:])


def is_encrypted_key(data: bytes) -> bool:
    """Whether a secret key file is encrypted; raise SignatureProblem if it is no such file."""
    return _unpacked(data)[1] == _SCRYPT


def parse_secret_key(data: bytes, password: str = "") -> Signer:
    """Parse a secret key file; raise SignatureProblem, also for a wrong password."""
    algorithm, kdf, check, salt, operations, memory, sealed = _unpacked(data)
    if algorithm != _ALGORITHM or check != _BLAKE2B or kdf not in {_SCRYPT, _NO_KDF}:
        raise SignatureProblem("a secret key of minisign (Ed, Sc, B2) expected")
    plain = _xor(sealed, _stream(password, salt, operations, memory)) if kdf == _SCRYPT else sealed
    number, secret, checksum = plain[:8], plain[8:72], plain[72:]
    wanted = hashlib.blake2b(_ALGORITHM + number + secret, digest_size=32).digest()
    if checksum not in ({wanted} if kdf == _SCRYPT else {wanted, bytes(32)}):  # minisign -W writes none
        raise SignatureProblem("the password is not the one of this key, or its file is damaged")
    signer = Signer(number, secret[:32])
    if signer.public.key != secret[32:]:
        raise SignatureProblem("the two halves of the secret key do not belong together")
    return signer


def write_secret_key(path: Path, data: bytes) -> None:
    """Write a secret key file with mode 0600; raise FileExistsError if the file exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _unpacked(data: bytes) -> tuple[bytes, bytes, bytes, bytes, int, int, bytes]:
    lines = _lines(data, 2, "a secret key")
    algorithm, kdf, check, salt, operations, memory, sealed = _SECRET.unpack(
        _decoded(lines[1], _SECRET.size, "a secret key")
    )
    return algorithm, kdf, check, salt, operations, memory, sealed


def _stream(password: str, salt: bytes, operations: int, memory: int) -> bytes:
    """104 bytes from scrypt, with parameters chosen like libsodium's `crypto_pwhash_scryptsalsa208sha256`."""
    if not 0 < memory <= _MOST_MEMORY or not 0 < operations <= 16 * SCRYPT_OPERATIONS:
        raise SignatureProblem(f"the key asks for {memory} bytes of memory; at most {_MOST_MEMORY} are given")
    operations = max(operations, 32_768)
    if operations < memory // 32:
        bits, parallel = _bits(operations // 32), 1
    else:
        bits = _bits(memory // 1024)
        parallel = min(operations // 4 // (1 << bits), 0x3FFFFFFF) // 8
    work = 1 << bits
    needed = 128 * 8 * (work + max(parallel, 1) + 2)
    return hashlib.scrypt(
        password.encode(), salt=salt, n=work, r=8, p=max(parallel, 1), maxmem=needed + 2**20, dklen=104
    )


def _bits(most: int) -> int:
    """The smallest exponent from 1 on whose power of two is more than half of `most`."""
    return next(bits for bits in range(1, 63) if (1 << bits) > most // 2)


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(left ^ right for left, right in zip(one, other, strict=True))


def _lines(data: bytes, least: int, what: str) -> list[str]:
    if len(data) > MAX_FILE_BYTES:
        raise SignatureProblem(f"the file of {what} expected, found {len(data)} bytes")
    try:
        lines = [line.rstrip("\r") for line in data.decode().split("\n")]
    except UnicodeDecodeError as error:
        raise SignatureProblem(f"the file of {what} expected, found no text") from error
    lines = lines[:-1] if lines[-1] == "" else lines
    if len(lines) < least:
        raise SignatureProblem(f"the file of {what} expected: {least} lines, found {len(lines)}")
    return lines


def _decoded(line: str, size: int, what: str) -> bytes:
    try:
        raw = base64.b64decode(line.strip(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise SignatureProblem(f"{what} in base64 expected") from error
    if len(raw) != size:
        raise SignatureProblem(f"{what} of {size} bytes expected, found {len(raw)}")
    return raw
