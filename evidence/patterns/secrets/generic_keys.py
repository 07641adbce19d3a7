"""Keys and passwords in standard forms, and names of secrets without a known issuer."""

from __future__ import annotations

from typing import Final

from evidence.patterns.secrets.pattern import SecretPattern, declare_named_value, declare_token

_VALUE: Final = r"[^\s\"'\x60<>{}$()\[\],;\\]"

# fmt: off
PATTERNS: Final = (
    SecretPattern(id="private-key", provider="PEM", title="Private key",
        expression=r"(-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nrt]|[\"'+,>|*#])*(?:[A-Z][\w\-]"
        r"{1,20}: [^\n\\]{1,100}(?:\s|\\[nr])+)*(?:[A-Za-z0-9+/=]{16,100}(?:\s|\\[nrt]|[\"'+,>|*#])*)(?:[A"
        r"-Za-z0-9+/=]{1,}(?:\s|\\[nrt]|[\"'+,>|*#])*){1,400}(?:-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOC"
        r"K)?-----)?)", anchors=("private key-----", "private key block-----"),
        bad=("-----BEGIN RSA PRIVATE KEY-----\n<b64>\n<b64>\n<b40>=\n-----END RSA PRIVATE KEY-----",
        '"-----BEGIN PRIVATE KEY-----\\n<b64>\\n<b64>\\n-----END PRIVATE KEY-----\\n"'),
        good=("-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN PUBLIC KEY-----\n<b64>\n<b64>\n-----END PUBLIC KEY-----", "-----BEGIN RSA PRIVATE KEY-----"),
        entropy=3.5, near=64, far=20000),
    declare_token("private-key-base64", "PEM", "Private key, encoded once more",
        r"LS0tLS1CRUdJTi(?:BSU0EgUFJJVkFU|BQUklWQVRF|BFQyBQUklWQVRF|BPUEVOU1NIIFBSSVZB|BEU0EgUFJJVkFU|BFTkNSWVBURUQgU"
        r"FJJVkFU)[A-Za-z0-9+/=]{60,}", "ls0tls1crudjti", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ<b120>",
        "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t<b120>", far=20000),
    SecretPattern(id="putty-key", provider="PuTTY", title="PuTTY private key",
        expression=r"(PuTTY-User-Key-File-[23]: [\s\S]{1,1000}Private-Lines: \d{1,3}(?:\s|\\[nr]){1,4}"
        r"[A-Za-z0-9+/=\s\\]{40,1000})",
        anchors=("putty-user-key-file-",),
        bad=("PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPublic-Lines: 1\n<b64>\nPrivate-Lines: 1\n<b64>\n",),
        good=("PuTTY-User-Key-File-2: ssh-rsa",), entropy=3.5, far=3000),
    declare_token("jwt", "JWT", "Signed JSON web token",
        r"eyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{20,}",
        "eyj", "eyJhbGciOiJIUzI1NiJ9.eyJ<w60>.<s43>", ("eyJhbGciOiJIUzI1NiJ9.eyJ<w60>",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.<s43>"), far=4000),
    SecretPattern(id="url-password", provider="URL", title="Password in the address of a service",
        expression=r"\b(?i:[a-z][a-z0-9+.\-]{1,20})://[^\s:/@\"'<>{}$]{0,80}:([^\s:/@\"'<>"
        r"{}$\[\]]{5,160})@[\w\-]", anchors=("://",), bad=("postgres://shop:<w18>@db.shop.dev:5432/shop",
        "mongodb+srv://app:<w16>@cluster0.net", "https://ci:<w20>@git.shop.dev/a.git"),
        good=("postgres://user:password@localhost/db", "redis://:${REDIS_VALUE}@cache:6379",
        "https://example.net/a:b@c", "mysql://root:root@db/app", "redis://[[username]:[password]]@localhost:6379/0",
        "sqla+mysql://scott:tigress@localhost/db"), entropy=2.4, random=True, near=24, far=300,
        then=r"[^\s:/@\"'<>{}$]{0,320}:[^\s:/@\"'<>{}$\[\]]{5}"),
    SecretPattern(id="connection-string-password", provider="ODBC", title="Password in a connection string",
        expression=rf"(?i:server|data source|host|initial catalog|database|user id|uid|user|username)\s?=[^;\"'\n]"
        rf"{{1,120}};(?:[^\"'\n]{{0,240}};)?\s?(?i:password|pwd)\s?=\s?({_VALUE}{{6,80}})", anchors=("password",
        "pwd"), bad=("Server=tcp:db.net,1433;Database=shop;User ID=app;Password=<w14>;Encrypt=True",),
        good=("Server=db;User ID=sa;Password=your_password;", "Server=db;Database=x;Trusted_Connection=True",
        "Server=db;User ID=sa;Password={password};"), entropy=2.5, near=500, far=200, then=r"\s?="),
    SecretPattern(id="http-basic", provider="HTTP", title="Basic authentication header",
        expression=r"(?i:authorization)[\"']?\s{0,3}[:=,]\s{0,3}[\"'\x60]?(?i:basic)\s{1,3}([A-Za-z0-9+/]{12,200}="
        r"{0,2})(?:[^\w]|$)", anchors=("authorization",), bad=("Authorization: Basic YXBwOn<w20>",),
        good=("Authorization: Basic ${TOKEN}", "Authorization: Basic realm"), entropy=3.0, then=r"[\"']?\s{0,3}[:=,]"),
    SecretPattern(id="curl-user", provider="HTTP", title="Password in a curl command",
        expression=r"\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]?[\"']?[\w.@\-]{1,60}:([^\s\"':@$<>{}]{6,100})",
        anchors=("curl",), bad=("curl -u deploy:<w16> https://shop.dev/api",),
        good=("curl -u user:password https://example.net", "curl -u $USER:$PASS https://example.net"), entropy=2.8),
    SecretPattern(id="netrc", provider="netrc", title="Password in a netrc entry",
        expression=rf"\bmachine\s+[^\s]{{1,120}}\s+login\s+[^\s]{{1,120}}\s+password\s+({_VALUE}{{5,120}})",
        anchors=("machine",), bad=("machine api.shop.dev\n  login deploy\n  password <w16>",),
        good=("machine api.shop.dev login deploy password your-password",), entropy=2.5, then=r"\s+\S{1,480}\s+login"),
    declare_named_value("django-secret-key", "Django", "Django secret key", r"(?:\b|DJANGO_)SECRET_KEY",
        r"(?:django-insecure-)?[A-Za-z0-9!@#$%^&*()_+=\-]{50}", "secret_key", "SECRET_KEY = 'django-insecure-<a49>!'",
        "SECRET_KEY = environment['SECRET_KEY']", entropy=4.0),
    declare_named_value("docker-registry-auth", "Docker", "Docker registry credentials", r"[\"']auth[\"']",
        r"[A-Za-z0-9+/]{20,400}={0,2}", '"auth" \'auth\'', '"auth": "YXBwOn<w30>"', ('"auth": "basic"',
        "\"for 'auth' command\": AuthenticationFailedError,", 'assert "auth" in scope, "AuthenticationMiddleware"'),
        entropy=3.5, random=True),
    SecretPattern(id="jwt-secret", provider="JWT", title="Secret that signs web tokens",
        expression=r"(?i:jwt(?:[_\-.]|:\s{1,12})?(?:secret|key|signing)(?:[_\-.]?(?:key|secret))?)[\"']?\s{0,3}[:=]\s{0,3}[\"']?([A-Za-z0-9+/=_"
        r"\-!@#%^&*]{16,200})(?:[\s\"',;)]|$)", anchors=("jwt",), bad=("JWT_SECRET=<w40>",),
        good=("JWT_SECRET=your-256-bit-secret", "jwt_secret=process.env.JWT_SECRET"), entropy=3.5),
    SecretPattern(id="php-hash-key", provider="WordPress", title="WordPress key or salt",
        expression=r"define\(\s?['\"](?:AUTH|SECURE_AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)['\"]\s?,\s{0,10}['\"]([^'\"\n]"
        r"{40,80})['\"]", anchors=("_key'", "_salt'", '_key"', '_salt"'), bad=("define('AUTH_KEY', '<w64>');",),
        good=("define('AUTH_KEY', 'put your unique phrase here, put your unique phrase here');",), entropy=3.8),
    SecretPattern(id="bearer", provider="HTTP", title="Bearer token in a header", generic=True,
        expression=r"(?i:authorization)[\"']?\s{0,3}[:=,]\s{0,3}[\"'\x60]?(?i:bearer|token)\s{1,3}([A-Za-z0-9_\-.=+/~"
        r"]{20,400})(?:[^\w]|$)", anchors=("authorization",), bad=("Authorization: Bearer <w40>",),
        good=("Authorization: Bearer YOUR_ACCESS_TOKEN_HERE", "Authorization: Bearer ${TOKEN}"), entropy=3.8,
        then=r"[\"']?\s{0,3}[:=,]"),
    SecretPattern(id="assignment", provider="any", title="Random value with a name that promises a secret",
        generic=True,
        expression=r"(?i:pass(?:word|wd|phrase)|\bpwd|secret|token|api[_\-]?key|access[_\-]?key|auth[_\-]?key|private"
        r"[_\-]?key|client[_\-]?key|encryption[_\-]?key|credential)s?[\w.\-]{0,20}[\"'\])]{0,2}\s{0,3}(?:="
        r">|:=|={1,2}|:|,)\s{0,3}[\"'\x60]?([A-Za-z0-9+/_=\-.!@#%^&*~]{10,200})(?:[\s\"'\x60,;)<]|\\[nr]|$)",
        anchors=("passw", "passphrase", "pwd", "secret", "token", "apikey", "api_key", "api-key", "access_key",
        "accesskey", "access-key", "auth_key", "authkey", "private_key", "privatekey", "client_key", "encryption_key",
        "encryptionkey", "credential"), bad=('api_key = "<w32>"', "SESSION_PASSWORD=<w16>"),
        good=('api_key = "your_api_key_here"', "token = getToken(options)", "password: process.env.DB_PASSWORD",
        'secret = "correct"'), entropy=3.0, near=24, far=260,
        then=r"[\w.\-]{0,24}[\"'\])]{0,2}\s{0,3}[=:,][=>]?\s{0,3}[\"'\x60]?[a-z0-9+/_=\-.!@#%^&*~]{10}"),
)
# fmt: on
