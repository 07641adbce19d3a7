"""A finding says where a secret is and never what it is; what only looks like one is none."""

from __future__ import annotations

import pytest
from msgspec.structs import asdict

from evidence.derive.secrets import Finding
from evidence.derive.secrets.scanner import MAX_FINDINGS
from evidence.kinds.secrets import Discount
from evidence.patterns.secrets.samples import write_sample
from tests.durations import cpu_below, grows_less_than
from tests.evidence.secrets.scanners import own_scanner
from tests.sampling import some

SCANNER = own_scanner()
TOKEN = write_sample("ghp_<w36>")


def scan(text: str, path: str = "src/app.py") -> tuple[Finding, ...]:
    return SCANNER.scan(text, path, salt=b"a salt")


def test_a_finding_holds_pattern_path_line_hash_and_context_and_not_the_secret() -> None:
    (finding,) = scan(f'one = 1\n\nGITHUB_TOKEN = "{TOKEN}"  # deploy\n')
    assert (finding.pattern, finding.path, finding.line) == ("github-token", "src/app.py", 3)
    assert finding.context == 'GITHUB_TOKEN = "[secret]"  # deploy'
    assert finding.counts
    assert TOKEN not in repr(asdict(finding))


def test_the_hash_depends_on_the_salt_and_a_missing_salt_is_refused() -> None:
    (one,), (other,) = scan(TOKEN), SCANNER.scan(TOKEN, "src/app.py", salt=b"another")
    assert one.digest != other.digest and len(one.digest) == 64
    with pytest.raises(ValueError, match="salt"):
        SCANNER.scan(TOKEN, "a", salt=b"")


def test_no_context_shows_a_second_secret_or_part_of_one() -> None:
    second, unknown = write_sample("xoxb-<d12>-<d12>-<w24>"), write_sample("<w40>")
    for finding in scan(f"{TOKEN} {second} {unknown} {TOKEN}"):
        assert not [part for part in (TOKEN, second, unknown) if part[6:16] in finding.context]


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "ghp_" + "x" * 36,
        "GITHUB_TOKEN=ghp_<w36>...",
        "`-----BEGIN RSA PRIVATE KEY-----\\\\nMIIEpQIBAAKCAQ<b50>\\\\n.-----END RSA PRIVATE KEY-----`",
        'SA_PASSWORD: "Admin12345"',
        "import { AccessToken, GetTokenOptions, TokenCredential } from 'auth'",
        "sk-your-openai-api-key-goes-in-this-place-000000",
        "xoxb-your-bot-token-here",
        "postgres://user:password@localhost:5432/db",
        "postgres://app:${DB_PASSWORD}@db/app",
        "OPENAI_API_KEY=${OPENAI_API_KEY}",
        'api_key = os.environ["API_KEY"]',
        'password = "changeme"',
        "pk_live_<w24>",
        "commit <h40>",
        '"integrity": "sha512-<b86>=="',
        "id: <u>",
        "-----BEGIN CERTIFICATE-----\n<b64>\n<b64>\n-----END CERTIFICATE-----",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ<b200> me@host",
        "data:image/png;base64,iVBORw0KGgo<b300>",
    ],
)
def test_a_look_alike_is_not_found(text: str) -> None:
    assert scan(write_sample(text)) == ()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/types.ts", "interface StripeCredentials { apiKey: string; password?: string | null; secretKey: number }"),
        ("src/types.ts", "export type DbCredentials = { user: string; password: string; DB_PASSWORD: SecureString };"),
        ("src/schema.ts", "const credentials = z.object({ password: z.string().min(8), OPENAI_API_KEY: z.string() });"),
        ("app/models.py", "class AwsCredentials(TypedDict):\n    password: str\n    aws_secret_key: Optional[str]\n"),
        ("app/config.py", "class Settings:\n    mail_password: SecretStr = Field()\n    PGPASSWORD: str | None\n"),
        ("cmd/main.go", "type Credentials struct {\n  Password string `json:\"password\"`\n  GithubToken []byte\n}"),
        ("Api.java", "class Credentials { private final String password; char[] DB_PASSWORD; }"),
        ("Api.cs", "record Credentials { public SecureString Password; public string GITHUB_TOKEN { get; } }"),
        ("src/lib.rs", "struct Credentials { password: String, mysql_password: &'static str, token: Option<String> }"),
        ("api.graphql", "input Credentials { password: String!, githubToken: ID! }"),
        ("api.proto", "message Credentials { string password = 1; bytes stripe_secret_key = 2; }"),
        ("build.gradle", "credentials {\n  username = project.user\n  password = string\n}"),
    ],
)  # fmt: skip
def test_a_type_is_no_secret(path: str, text: str) -> None:
    assert scan(text, path) == ()


def test_letters_in_their_order_are_an_example_that_is_listed_and_not_masked() -> None:
    example = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    (finding,) = scan(f'token = "{example}"')
    assert (finding.pattern, finding.discount) == ("github-token", Discount.SEQUENCE)
    assert SCANNER.scrub(example) == example


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("tests/test_login.py", Discount.TEST),
        ("src/login.test.ts", Discount.TEST),
        ("pkg/testdata/key.pem", Discount.TEST),
        ("spec/fixtures/a.json", Discount.TEST),
        ("examples/basic/app.py", Discount.EXAMPLE),
        (".env.example", Discount.EXAMPLE),
        ("README.md", Discount.DOCUMENTATION),
        ("docs/guide.py", Discount.DOCUMENTATION),
        ("node_modules/a/index.js", Discount.VENDORED),
        ("vendor/b.go", Discount.VENDORED),
        ("LICENSE", Discount.VENDORED),
        ("licenses/LICENSE.apache", Discount.VENDORED),
        ("package-lock.json", Discount.VENDORED),
        ("src/app.py", None),
        (".env", None),
        ("src/latest.py", None),
        ("contest/entry.py", None),
        ("config/production.yml", None),
        ("documents.py", None),
    ],
)
def test_what_a_path_says_decides_whether_a_finding_counts(path: str, reason: Discount | None) -> None:
    (finding,) = scan(TOKEN, path)
    assert finding.discount is reason
    assert finding.counts is (reason is None)


def test_a_generic_match_never_counts() -> None:
    (finding,) = scan(write_sample('session_secret = "<w40>"'))
    assert (finding.pattern, finding.discount, finding.counts) == ("assignment", Discount.GENERIC, False)


def test_a_place_is_reported_once_by_the_pattern_that_knows_more() -> None:
    assert [finding.pattern for finding in scan(f'api_token = "{TOKEN}"')] == ["github-token"]


def test_scrubbing_masks_every_secret_and_nothing_else() -> None:
    text = f"before {TOKEN} between \ud800 {TOKEN} after"
    assert SCANNER.scrub(text) == "before [secret] between \ud800 [secret] after"
    assert SCANNER.scrub("nothing here") == "nothing here"


def test_the_whole_private_key_is_scrubbed() -> None:
    key = "-----BEGIN PRIVATE KEY-----\n" + "\n".join(write_sample("<b64>", str(row)) for row in range(60))
    assert SCANNER.scrub(f"{key}\n-----END PRIVATE KEY-----\n").strip() == "[secret]"


@pytest.mark.parametrize(
    "text",
    some(
        [
            "sk-" * 300_000,
            "-----BEGIN PRIVATE KEY-----" * 30_000,
            "password=" * 100_000,
            "eyJ" + "a" * 1_000_000,
            "https://a:" * 90_000,
            "authorization: bearer " + "a." * 400_000,
            "curl -u " * 100_000,
            "PasswordToken" * 70_000,
            "\n" * 1_000_000,
            (TOKEN + " " + "x" * 59 + "_D ") * 10_000,
        ],
        5,
    ),
    ids=lambda text: text[:12],
)
def test_a_hostile_megabyte_takes_seconds_at_most(text: str) -> None:
    with cpu_below(20):
        assert len(scan(text)) <= MAX_FINDINGS


@pytest.mark.parametrize("unit", ["vk_key=", "vk_key=Q3x."])
def test_names_in_the_values_of_other_names_cost_little(unit: str) -> None:
    plain = "vk_key = x\n" * 18_000
    nested = unit * (len(plain) // len(unit))
    assert grows_less_than(12, lambda: SCANNER.scrub(plain), lambda: SCANNER.scrub(nested), floor=0.01)


def test_the_last_of_many_names_in_the_values_of_others_is_examined() -> None:
    value = write_sample("<h32>")
    assert [one.provider for one in scan("vk_key=example/" * 12 + f"weatherstack_key={value}")] == ["Weatherstack"]


def test_lines_of_many_findings_are_right_and_their_number_is_bounded() -> None:
    text = "\n".join(write_sample("ghp_<w36>", str(row)) for row in range(MAX_FINDINGS + 50))
    assert [finding.line for finding in scan(text)] == list(range(1, MAX_FINDINGS + 1))
