"""Keys and signatures are those of minisign: recorded ones are read here, and the real tool reads ours."""

from __future__ import annotations

import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publish.datasets.snapshot.manifest import MANIFEST, SIGNATURE
from publish.datasets.snapshot.minisign import (
    BadSignature,
    SignatureProblem,
    Signer,
    WrongKey,
    generate_key,
    is_encrypted_key,
    parse_public_key,
    parse_secret_key,
    write_secret_key,
)
from publish.datasets.verification.file_checks import check_signature
from publish.datasets.verification.problems import ProblemKind

# Written by minisign 0.11: `minisign -G -W`, and `minisign -S` with a trusted comment.
PUBLIC = b"""untrusted comment: minisign public key D2D68B19AC2BEEDD
RWTd7iusGYvW0g7ztvucvrcr63KW3tdhDBkpkYvp4/PxJOeOyEtCuBLF
"""
SECRET = (
    b"untrusted comment: minisign encrypted secret key\n"
    b"RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA3e4rrBmL1tLqYaQUZwh+S+ZwphtOfo9N4shKCb+n"
    b"5uu1007eswjMYw7ztvucvrcr63KW3tdhDBkpkYvp4/PxJOeOyEtCuBLFAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
)
# `minisign -G` with the password "correct horse".
ENCRYPTED = (
    b"untrusted comment: minisign encrypted secret key\n"
    b"RWRTY0IyT5fY5U6x8NoTyR8eq8LBL/mSH8lke22BXDltyyPOlLAAAAACAAAAAAAAAEAAAAAANoNNK4jXCeVcOuur/55rtI1T/b9FgvsBq9nUqpoB"
    b"uWmJNaJzENunB/Qes0N85w33JUhn2GAOdMN7G8ctpDlhkMih0q5U91YiCSeJWg1rVUcNv84m1+/9bETfdGcUNwc/KG/ULfiIK+U=\n"
)
SIGNED = b"what was signed\n"
SIGNATURE_OF_IT = b"""untrusted comment: untrusted words
RUTd7iusGYvW0pCEvY5h6cTzz8lSPDxKhnA2Wz4hUVW49Ms/FnbnaIW8U26uvFgc1/8BBw65qdxw8BErfeOmGCqdron7kwlGIAw=
trusted comment: a trusted comment
cCqkAwjPnk7R5OBeYEs43FUkN22TeTE0VFRL83CsshwBIIxPpZxIW8RpyNnT/DimbRH0h5P4gG/P52GWCsExCA==
"""
CHEAP = {"operations": 32_768, "memory": 2**24}
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=60)


def test_a_recorded_signature_fits_its_recorded_key() -> None:
    key = parse_public_key(PUBLIC)
    assert key.id == "D2D68B19AC2BEEDD"
    assert key.check(SIGNED, SIGNATURE_OF_IT) == "a trusted comment"
    assert parse_public_key(key.line) == key
    assert key.encode() == PUBLIC


def test_a_recorded_secret_key_signs_alike() -> None:
    signer = parse_secret_key(SECRET)
    assert signer.public == parse_public_key(PUBLIC)
    ours = signer.sign(SIGNED, trusted="a trusted comment").splitlines()
    assert ours[1:] == SIGNATURE_OF_IT.splitlines()[1:], "Ed25519 is deterministic"


def test_what_was_changed_does_not_fit() -> None:
    key = parse_public_key(PUBLIC)
    with pytest.raises(BadSignature, match="the file was changed"):
        key.check(SIGNED + b"!", SIGNATURE_OF_IT)
    with pytest.raises(BadSignature, match="trusted comment was changed"):
        key.check(SIGNED, SIGNATURE_OF_IT.replace(b"a trusted", b"an other"))
    with pytest.raises(WrongKey, match="D2D68B19AC2BEEDD"):
        generate_key().public.check(SIGNED, SIGNATURE_OF_IT)
    same_number = Signer(key.number, generate_key().seed).public
    with pytest.raises(BadSignature):
        same_number.check(SIGNED, SIGNATURE_OF_IT)


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff", b"one\n", b"a\nb\nc\nd\n", b"x" * 10_000, SIGNATURE_OF_IT.replace(b"RUTd", b"RXTd")],
    ids=["empty", "bytes", "short", "words", "long", "algorithm"],
)
def test_what_is_no_signature_says_what_was_expected(data: bytes) -> None:
    with pytest.raises(SignatureProblem, match="expected"):
        parse_public_key(PUBLIC).check(SIGNED, data)


@given(data=st.binary(max_size=200), trusted=WORDS)
def test_what_is_signed_can_be_checked(data: bytes, trusted: str) -> None:
    signer = generate_key()
    assert signer.public.check(data, signer.sign(data, trusted=trusted)) == trusted


def test_an_encrypted_key_opens_with_its_password_only() -> None:
    signer = generate_key()
    data = signer.encode("correct horse", **CHEAP)
    assert is_encrypted_key(data)
    assert parse_secret_key(data, "correct horse") == signer
    with pytest.raises(SignatureProblem, match="password"):
        parse_secret_key(data, "battery staple")
    assert signer.seed.hex() not in repr(signer)


@pytest.mark.soak
def test_a_recorded_encrypted_key_opens() -> None:
    """With the tool's own numbers, which take a gigabyte and some seconds."""
    signer = parse_secret_key(ENCRYPTED, "correct horse")
    assert signer.public.id == "6BD817F454C5389D"
    assert signer.public.line == "RWSdOMVU9BfYa0dWgpVCRUdN4WEsolj//CMIy9YfosNLk7V38YzieEb4"


def test_a_key_that_asks_for_all_memory_is_refused() -> None:
    data = generate_key().encode("x", **CHEAP)
    import base64

    raw = bytearray(base64.b64decode(data.splitlines()[1]))
    raw[46:54] = (2**50).to_bytes(8, "little")
    with pytest.raises(SignatureProblem, match="memory"):
        parse_secret_key(b"untrusted comment: x\n" + base64.b64encode(raw) + b"\n", "x")


def test_a_secret_key_is_for_its_owner_only_and_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "datasets.key"
    write_secret_key(path, generate_key().encode())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        write_secret_key(path, generate_key().encode())


def test_each_way_to_fail_has_a_name(snapshot: Path) -> None:
    signer = generate_key()
    data = (snapshot / MANIFEST).read_bytes()

    def problem(key: Signer = signer) -> str:
        _, wrong = check_signature(snapshot, key.public)
        assert wrong is None or wrong.fault is ProblemKind.SIGNATURE
        return wrong.found if wrong else ""

    assert "no signature" in problem()
    signature = signer.sign(data, trusted="hallmark dataset x")
    (snapshot / SIGNATURE).write_bytes(signature)
    assert problem() == ""
    assert "wrong key" in problem(generate_key())
    (snapshot / SIGNATURE).write_bytes(signature.replace(b"dataset x", b"dataset y"))
    assert "trusted comment was changed" in problem()
    (snapshot / SIGNATURE).write_bytes(signature)
    (snapshot / MANIFEST).write_bytes(data.replace(b'"planned"', b'"Planned"'))
    assert "file was changed" in problem()
    (snapshot / SIGNATURE).write_bytes(b"nothing")
    assert "expected" in problem()


minisign = pytest.mark.skipif(shutil.which("minisign") is None, reason="minisign is not installed here")


@minisign
def test_the_real_tool_accepts_our_signature_and_refuses_a_changed_one(tmp_path: Path) -> None:
    signer = generate_key()
    (tmp_path / "file").write_bytes(SIGNED)
    (tmp_path / "file.minisig").write_bytes(signer.sign(SIGNED, trusted="ours"))
    (tmp_path / "key.pub").write_bytes(signer.public.encode())
    check = ["minisign", "-V", "-m", "file", "-p", "key.pub"]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    assert "Trusted comment: ours" in done.stdout
    by_word = ["minisign", "-V", "-m", "file", "-P", signer.public.line]
    assert subprocess.run(by_word, cwd=tmp_path, capture_output=True, timeout=30, check=False).returncode == 0
    (tmp_path / "file").write_bytes(SIGNED + b"!")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, timeout=30, check=False).returncode != 0


@minisign
def test_the_real_tool_signs_with_our_key(tmp_path: Path) -> None:
    signer = generate_key()
    (tmp_path / "file").write_bytes(SIGNED)
    (tmp_path / "key").write_bytes(signer.encode())
    sign = ["minisign", "-S", "-m", "file", "-s", "key", "-t", "theirs"]
    done = subprocess.run(
        sign, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr
    assert signer.public.check(SIGNED, (tmp_path / "file.minisig").read_bytes()) == "theirs"
