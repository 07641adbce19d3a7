"""Secrets in code of several languages, in comments, connection strings, logs and data."""

# ruff: noqa: E501 - lines as they stand in files

from __future__ import annotations

FILES = {
    "src/app.py": """
  import hashlib
+ client = OpenAI(api_key="sk-svcacct-<s74>T3BlbkFJ<s58>")
+ # old key, still works: xoxp-<d12>-<d12>-<d12>-<h32>
+ stripe.api_key = f"rk_live_<w99>"
+ AZURE = "<w3>8Q~<w34>"
+ conn = pyodbc.connect("Driver={ODBC};Server=tcp:shop.database.windows.net;Uid=app;Pwd=<w20>;Encrypt=yes")
+ redis = Redis.from_url("rediss://:<w32>@cache.acme.dev:6380/0")
+ boto3.client("s3", aws_access_key_id="ASIA<B16>", aws_secret_access_key="<b40>")
+ headers = {"Authorization": "Basic «deploy:<w24>»"}
+ headers = {"x-api-key": "sk-ant-admin01-<s93>AA"}
+ WANDB = os.environ.get("WANDB_API_KEY", "<h40>")
+ SECRET_KEY = "django-insecure-<a46>!@#$"
- headers = {"Authorization": "Basic «user:password»"}
- digest = "<h64>"
- assert hashlib.md5(b"x").hexdigest() == "<h32>"
- api_key = os.getenv("OPENAI_API_KEY")
- password = getpass.getpass("Password: ")
- token = request.headers["Authorization"].removeprefix("Bearer ")
- secret_name = "prod/shop/database"
- KEY_PREFIX = "sk-ant-api03-"
- PATTERN = re.compile(r"ghp_[A-Za-z0-9]{36}")
- token_url = "https://oauth2.googleapis.com/token"
- NAMESPACE = uuid.UUID("<u>")
- ADDRESS = "0x<h40>"
- ETAG = 'W/"<h40>"'
- EXAMPLE = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
- alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
- model = "deepseek-r1-distill-llama-70b-specdec-preview-2025"
- cookie = "csrftoken=; session=; path=/"
""",
    "src/server.ts": """
+ const octokit = new Octokit({ auth: "github_pat_<w22>_<w59>" });
+ const mail = new Resend("re_<w8>_<w24>");
+ const s3 = { accessKeyId: "AKIA<B16>", secretAccessKey: "<b40>" };
+ const pg = new Client({ connectionString: `postgresql://api:<w18>@pg.acme.dev/app` });
+ const twilio = require("twilio")("AC<h32>", "<h32>");
+ process.env.CLERK_SECRET_KEY ??= "sk_live_<w42>";
+ const apify = new ApifyClient({ token: 'apify_api_<w36>' }); // TODO move
+ fetch(url, { headers: { "X-Shopify-Access-Token": "shpat_<h32>" } });
+ const figma = "figd_<s40>";
+ const planetscale = { password: "pscale_pw_<s43>" };
+ const firebase = { apiKey: "AIza<s35>", projectId: "shop" };
- const recaptchaSiteKey = "6L<s38>";
- const sri = "sha384-<b64>";
- const id = crypto.randomUUID(); // <u>
- const t = i18n.t("auth.password.reset.token.expired");
- const placeholder = "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
- const hint = "Paste your token, e.g. xoxb-1234567890-abcdefghijklmnop";
- const apiKey = process.env.API_KEY ?? "";
- const queryKey = "getUserAccessTokenByOrganizationIdQuery";
- const svg = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSIyNCI+<b200>";
- const font = "data:font/woff2;base64,d09GMgABAAAAA<b400>";
- const secretQuestion = "What was the name of your first pet?";
- const passwordPattern = "^(?=.*[A-Za-z])(?=.*\\\\d)[A-Za-z\\\\d]{8,}$";
""",
    "cmd/main.go": """
  package main
+ const slackToken = "xapp-1-A<A10>-<d13>-<h64>"
+ var dsn = "host=db user=app password=<w20> dbname=shop sslmode=disable"
+ client := sendgrid.NewSendClient("SG.<s22>.<s43>")
+ req.Header.Set("PRIVATE-TOKEN", "glpat-<w20>")
+ req.SetBasicAuth("deploy", "<w24>")
- const commit = "<h40>"
- // h1:<b43>=
- var keyID = "<u>"
- req.Header.Set("Authorization", "Bearer "+token)
- var dsn2 = "host=db user=app password=postgres dbname=shop"
""",
    "src/main/java/App.java": """
  class App {
+   static final String KEY = "AKIA<B16>";
+   String url = "jdbc:postgresql://db.acme.dev/shop?user=app&password=<w18>";
+   @Value("${slack.token:xoxb-<d12>-<d12>-<w24>}") String slack;
+   String sas = "https://acme.blob.core.windows.net/a?sv=2022-11-02&ss=b&srt=sco&sp=rl&se=2030-01-01T00:00:00Z&sig=<w43>%3D";
-   static final long serialVersionUID = <d18>L;
-   String hash = "$2a$10$<w53>";
-   String url2 = "jdbc:mysql://localhost/shop?user=root&password=root";
-   @Value("${slack.token}") String token;
  }
""",
    "web/config.php": """
  <?php
+ define('AUTH_KEY', '<w64>');
+ $config['mailgun'] = 'key-<h32>';
+ define('DB_PASSWORD', '<w18>');
+ $pdo = new PDO('mysql:host=db;dbname=shop', 'shop', '<w18>');
- define('SECURE_AUTH_KEY', 'put your unique phrase here');
- define('DB_NAME', 'shop_production');
- $nonce = '<h32>';
""",
    "app.properties": """
+ spring.datasource.password=<w20>
+ azure.storage.account-key=<b86>==
+ jwt.secret=<w64>
- spring.datasource.username=shop_service_account
- spring.datasource.password=${DB_PASSWORD:}
- server.ssl.key-store-password=changeit
""",
    "terraform/main.tf": """
  provider "aws" {
+   access_key = "AKIA<B16>"
+   secret_key = "<b40>"
  }
+ variable "do_token" { default = "dop_v1_<h64>" }
+ resource "x" "y" { password = "<w20>" }
- data "aws_ami" "a" { id = "ami-<h17>" }
- variable "token" { type = string }
- kms_key_id = "arn:aws:kms:eu-west-1:123456789012:key/<u>"
""",
    "data/fixture.log": """
+ 2026-01-02 03:04:05 ERROR request failed: Authorization: token gho_<w36>
+ 2026-01-02 GET /v1/users?access_token=EAACEdEose0cBA<w90> 200
+ https://hooks.slack.com/services/T<A9>/B<A9>/<w24> answered 200
- 2026-01-02 request <u> took 12 ms trace=<h32> span=<h16>
- 2026-01-02 GET /?utm_source=<w20>&fbclid=<w60>
- 2026-01-02 deployed <h40> to production
""",
    "keys/id_ed25519": """
+ -----BEGIN OPENSSH PRIVATE KEY-----
  b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
  <b70>
  <b70>
  <b40>=
  -----END OPENSSH PRIVATE KEY-----
""",
    "keys/id_ed25519.pub": """
- ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<b43> deploy@acme
- ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ<b340> deploy@acme
""",
    "keys/service.json": """
  {"type": "service_account",
-  "private_key_id": "<h40>",
+  "private_key": "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj<b64>\\n<b64>\\n-----END PRIVATE KEY-----\\n",
-  "client_id": "<d21>",
-  "client_email": "deploy@shop.iam.gserviceaccount.com"}
""",
    "keys/wrapped.yaml": """
+ tls_key: «-----BEGIN RSA PRIVATE KEY-----\\n<b64>\\n<b64>\\n<b64>\\n-----END RSA PRIVATE KEY-----»
- tls_crt: «-----BEGIN CERTIFICATE-----\\n<b64>\\n<b64>\\n<b64>\\n-----END CERTIFICATE-----»
- ca_bundle: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t<b120>
""",
    "keys/gpg.asc": """
- -----BEGIN PGP PUBLIC KEY BLOCK-----

  mQINBF<b58>
  <b64>
  -----END PGP PUBLIC KEY BLOCK-----
+ -----BEGIN PGP PRIVATE KEY BLOCK-----

  lQdGBF<b58>
  <b64>
  <b64>
  -----END PGP PRIVATE KEY BLOCK-----
""",
    "static/app.js": """
- !function(e,t){"use strict";var n={token:1,secret:2,apiKey:a.b,password:c(d)};e.exports=n}(this,function(){return"<w20>"});var h="<h40>";
+ !function(e){var n={k:1};e.x="ghp_<w36>";var m={apiKey:"gsk_<w52>"}}(window);
""",
    "src/Notebook.ipynb": """
+ {"cells": [{"source": ["os.environ[\\"OPENAI_API_KEY\\"] = \\"sk-proj-<s74>T3BlbkFJ<s74>\\"\\n"]}]}
- {"outputs": [{"data": {"image/png": "iVBORw0KGgoAAAANSUhEUgAA<b900>"}}]}
""",
}
