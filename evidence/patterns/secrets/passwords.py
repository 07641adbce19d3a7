"""Passwords, recognised by the program, driver or variable that receives them."""

from __future__ import annotations

from typing import Final

from evidence.patterns.secrets.pattern import SecretPattern, declare_named_value

_VALUE: Final = r"[^\s\"'\x60<>{}$()\[\],;\\]"
_DATABASES: Final = (
    r"\b(?:PGPASSWORD|MYSQL_PWD|REDISCLI_AUTH|(?:MYSQL|MARIADB|POSTGRES|POSTGRESQL|PG|MONGO|MONGODB|REDIS|RABBITMQ|ELASTIC"
    r"|CLICKHOUSE|MSSQL_SA|SA|ORACLE|NEO4J|DB|DATABASE|KEYCLOAK_ADMIN|GF_SECURITY_ADMIN|PGADMIN_DEFAULT|MINIO_ROOT)"
    r"_?(?:INITDB_)?(?:ROOT_|USER_|ADMIN_|DEFAULT_|REPLICATION_)?PASS(?:WORD)?)"
)

# fmt: off
PATTERNS: Final = (
    declare_named_value("database-password", "databases", "Password that a database or its client reads by this name",
        _DATABASES, rf"{_VALUE}{{8,80}}", "pgpassword mysql_pwd rediscli_auth _pass dbpass pgpass",
        ("PGPASSWORD=<w18>", "MYSQL_ROOT_PASSWORD: <w16>", "define('DB_PASSWORD', '<w18>');",
        'POSTGRES_PASSWORD="<w20>"'), ("POSTGRES_PASSWORD=postgres", "DB_PASSWORD=secretpassword",
        "MYSQL_ROOT_PASSWORD=${ROOT}", "DB_PASSWORD=changeme123"), entropy=2.8, random=True),
    declare_named_value("mail-password", "mail", "Password of a mail server by the name that a framework reads",
        r"(?:\b(?:EMAIL_HOST|MAIL|SMTP|MAILER|IMAP)_?PASS(?:WORD)?|\$mail->Password)", rf"{_VALUE}{{8,80}}",
        "_password _pass mail->password smtppass", ("EMAIL_HOST_PASSWORD = '<w16>'", "$mail->Password = '<w14>';"),
        ("MAIL_PASSWORD=null", "SMTP_PASSWORD=${SMTP}", "EMAIL_HOST_PASSWORD = 'yourpassword'"), entropy=2.8,
        random=True),
    declare_named_value("spring-password", "Spring", "Password in the settings of a Spring application",
        r"\bspring\.[\w.\-]{1,60}(?:password|secret)", rf"{_VALUE}{{8,120}}", "spring.",
        "spring.datasource.password=<w20>", ("spring.datasource.password=${DB}",
        "spring.datasource.password=password"), entropy=2.8, random=True),
    SecretPattern(id="libpq-password", provider="PostgreSQL", title="Password in a connection string of keywords",
        expression=r"(?i:\b(?:host|user|dbname|hostaddr|port)=[^\s\"'=]{1,100}\s)[^\n\"']{0,160}?(?i:\bpassword)="
        rf"({_VALUE}{{8,80}})", anchors=("password=",), bad=("host=db user=app password=<w20> dbname=shop",),
        good=("host=db user=app password=postgres dbname=shop", "host=db user=app password=%s"), entropy=2.8, near=320,
        random=True),
    SecretPattern(id="jdbc-password", provider="JDBC", title="Password in the address of a JDBC connection",
        expression=rf"(?i:jdbc:[a-z0-9:]{{2,40}})[^\s\"'<>]{{1,200}}?[?&;](?i:password|pwd)=({_VALUE[:-1]}&]{{8,80}})",
        anchors=("jdbc:",), bad=("jdbc:postgresql://db.shop.dev/shop?user=app&password=<w18>",),
        good=("jdbc:mysql://localhost/shop?user=root&password=root", "jdbc:mysql://db/shop?password=${PASSWORD}"),
        entropy=2.8, random=True),
    SecretPattern(id="command-password", provider="shell", title="Password that a command is given",
        expression=r"\b(?:(?:docker|podman|buildah|skopeo|helm|oras|crane|az|oc|npm|cf|mc|argocd)\b[^\n]{0,80}?\blogin\b"
        r"[^\n]{0,160}?\s(?:-p|--password|--passwd)[ =]|sshpass\s{1,4}-p ?|mysql(?:dump|admin|import)?\b[^\n]{0,160}?\s"
        rf"(?:-p|--password=)|redis-cli\b[^\n]{{0,160}}?\s(?:-a|--pass) )[\"']?({_VALUE}{{8,100}})",
        anchors=("login", "sshpass", "mysql", "redis-cli"), bad=("docker login -u acme -p <w24> registry.shop.dev",
        "mysql -h db -u root -p'<w16>' shop", "sshpass -p '<w14>' ssh deploy@shop.dev",
        "redis-cli -h cache -a <w24> ping"),
        good=('docker login -u "$USER" -p "$PASSWORD"', "mysql -u root -ppassword shop", "mysql -h db -p shop",
        "docker login --password-stdin", "mysql --protocol tcp --port 3306"), entropy=2.8, random=True),
    SecretPattern(id="call-password", provider="code", title="Password written into a call that signs in",
        expression=r"(?:(?i:basic_?auth)|\bauth ?= ?|\bmysqli?_connect|\bnew (?:PDO|mysqli)|\.login"
        r"|DriverManager\.getConnection|Credentials?)\s?\((?:\s?[\"'][^\"'\n]{0,120}[\"'],){1,2}\s?[\"']([^\"'\n\s$<>{}%]{8,100})[\"']",
        anchors=("basicauth", "basic_auth", "auth=(", "auth = (", "_connect", "new pdo", "new mysqli", ".login",
        "getconnection", "credential"), bad=('req.SetBasicAuth("deploy", "<w24>")',
        "new PDO('mysql:host=db;dbname=shop', 'shop', '<w18>')", "requests.get(url, auth=('deploy', '<w20>'))",
        'smtp.login("deploy@shop.dev", "<w16>")'), good=('req.SetBasicAuth("user", "password")',
        "auth=('username', 'your-password')", "server.login(user, password)", 'page.login("alice", "wonderland")'),
        entropy=3.0, far=300, random=True, then=r"(?:s?\s?\(|\s?[\"'])"),
    declare_named_value("npmrc-password", "npm", "Password in an npm configuration", r"[/:]:?_(?:password|auth)",
        r"[A-Za-z0-9+/]{12,200}={0,2}", ":_password :_auth", "//art.shop.dev/:_password=<b32>",
        ("//art.shop.dev/:_password=${PASSWORD}", "//art.shop.dev/:_authToken=${TOKEN}"), entropy=3.0),
    SecretPattern(id="twilio-pair", provider="Twilio", title="Twilio account and its auth token side by side",
        expression=r"\bAC[a-f0-9]{32}[\"']?\s?[,:;]\s{0,20}(?:\w{1,20}\s?[=:]\s?)?[\"']?([a-f0-9]{32})\b",
        anchors=("twilio",), bad=('twilio("AC<h32>", "<h32>")',
        "curl https://api.twilio.com/2010-04-01/Accounts -u AC<h32>:<h32>"), good=('twilio("AC<h32>", token)',),
        entropy=3.0, near=300),
    SecretPattern(id="aws-secret-beside-id", provider="AWS", title="AWS secret access key beside its id",
        expression=r"(?:\b(?:AKIA|ASIA)[A-Z2-7]{16}\b[^\x00]{0,120}?[^\w/+]([A-Za-z0-9/+]{40})(?:[^\w/+=]|$)|(?:^|[^\w/+])([A-Za-z0-9/+]"
        r"{40})[^\w/+=][^\x00]{0,120}?\b(?:AKIA|ASIA)[A-Z2-7]{16}\b)", anchors=("akia", "asia"),
        bad=('access_key = "AKIA<B16>"\n  secret_key = "<b40>"', "<b40>,AKIA<B16>"),
        good=('id = "AKIA<B16>"\ncommit = "<h40>"', "AKIA<B16>"), entropy=4.2, near=180),
    SecretPattern(id="kubernetes-secret", provider="Kubernetes", title="Password in the manifest of a secret",
        expression=r"(?im)^\s*[\"']?[\w.\-]{0,60}(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_\-]?key|credentials?|private[_\-]?key)"
        r"[\w.\-]{0,20}[\"']?:\s{1,4}[\"']?([A-Za-z0-9+/]{12,400}={0,2})[\"']?[ \t\r]*$",
        anchors=("kind: secret",), bad=("kind: Secret\ndata:\n  db-password: «<w20>»\ntype: Opaque",),
        good=("kind: ConfigMap\ndata:\n  db-password: «<w20>»\n", "kind: Secret\ndata:\n  password: «changeme»\n"),
        entropy=3.0, near=4000, far=20000, random=True),
)
# fmt: on
