"""A tree is searched file by file within bounds, and the body holds no secret."""

from __future__ import annotations

from evidence.canonical import canonical_json
from evidence.derive.secrets import scan_files
from evidence.derive.secrets.file_scan import MAX_BYTES, MAX_FINDINGS
from evidence.kinds.secrets import Secrets
from evidence.patterns.secrets.samples import write_sample
from tests.evidence.secrets.scanners import own_scanner

SCANNER = own_scanner()
TOKEN = write_sample("ghp_<w36>")


def body(*files: tuple[str, bytes], salt: bytes = b"salt") -> Secrets:
    members = {"origin": "npm", "name": "a", "ref": "1.0.0", **scan_files(files, SCANNER, salt=salt)}
    return Secrets.parse(canonical_json(members))


def test_the_body_says_where_and_never_what() -> None:
    found = body(("src/b.ts", f'const token = "{TOKEN}"'.encode()), ("src/a.ts", b"\n" + TOKEN.encode()))
    assert [(one.path, one.line, one.counts, one.confidence) for one in found.findings] == [
        ("src/a.ts", 2, True, "specific"),
        ("src/b.ts", 1, True, "specific"),
    ]
    assert found.complete and found.files == 2 and found.rules == SCANNER.digest
    assert TOKEN[4:16] not in repr(found)


def test_equal_secrets_have_one_hash_under_one_salt() -> None:
    (one, other) = body(("a", TOKEN.encode()), ("b", TOKEN.encode())).findings
    (salted,) = body(("a", TOKEN.encode()), salt=b"other").findings
    assert one.digest == other.digest != salted.digest


def test_what_does_not_count_says_why() -> None:
    found = body(("tests/a.py", TOKEN.encode()), ("src/a.py", write_sample('session_secret = "<w40>"').encode()))
    assert {one.path: (one.why, one.confidence, one.counts) for one in found.findings} == {
        "tests/a.py": ("test", "specific", False),
        "src/a.py": ("generic", "generic", False),
    }


def test_binary_files_are_not_searched_and_wide_text_is() -> None:
    found = body(("a.bin", b"\0" + TOKEN.encode()), ("b.reg", b"\xff\xfe" + TOKEN.encode("utf-16-le")))
    assert found.files == 1 and [one.path for one in found.findings] == ["b.reg"]


def test_a_file_that_is_too_long_is_searched_in_part_and_says_so() -> None:
    found = body(("a", TOKEN.encode() + b"\n" * MAX_BYTES + TOKEN.encode()))
    assert [one.line for one in found.findings] == [1] and not found.complete


def test_a_tree_full_of_secrets_has_a_bounded_body() -> None:
    text = "\n".join(write_sample("ghp_<w36>", str(row)) for row in range(300)).encode()
    found = body(*((f"src/{number}.py", text) for number in range(8)))
    assert len(found.findings) == MAX_FINDINGS and not found.complete and found.files == 8


def test_a_secret_in_a_path_is_masked() -> None:
    assert TOKEN not in repr(body((f"src/{TOKEN}/a.py", TOKEN.encode())))


def test_a_body_of_another_shape_is_read_as_far_as_it_goes() -> None:
    found = Secrets.parse(b'{"findings": [1, {"line": true, "path": 3, "counts": "yes"}], "files": "x"}')
    assert found.files == 0 and [(one.line, one.counts) for one in found.findings] == [(0, False), (0, False)]
