"""28 secrets of well-known services and 14 look-alikes, in the files of a small project."""

from __future__ import annotations

FILES = {
    ".env": """
  NODE_ENV=production
+ AWS_ACCESS_KEY_ID=AKIA<B16>
+ AWS_SECRET_ACCESS_KEY=<b40>
- AWS_EXAMPLE_KEY_ID=AKIAIOSFODNN7EXAMPLE
+ GITHUB_TOKEN=ghp_<w36>
+ OPENAI_API_KEY=sk-proj-<s74>T3BlbkFJ<s74>
+ ANTHROPIC_API_KEY=sk-ant-api03-<s93>AA
- OPENAI_ORGANISATION_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
+ DATABASE_URL=postgres://shop:<w18>@db.internal:5432/shop
- REDIS_URL=redis://user:password@localhost:6379/0
+ STRIPE_SECRET_KEY=sk_live_<w24>
- STRIPE_PUBLISHABLE_KEY=pk_live_<w24>
""",
    "src/clients.py": """
  import os
+ SLACK = "xoxb-<d12>-<d12>-<w24>"
+ HOOK = "https://hooks.slack.com/services/T<A9>/B<A9>/<w24>"
+ sendgrid = Mail("SG.<s22>.<s43>")
+ maps_key = 'AIza<s35>'
+ twilio = Client("AC<h32>", auth_token="<h32>", api_key="SK<h32>")
- TOKEN = os.environ["SLACK_TOKEN"]
+ BOT = "<d9>:AA<w33>"
+ mailgun_key = "key-<h32>"
- CHECKSUM = "<h64>"
- REVISION = "<h40>"
- REQUEST_ID = "<u>"
""",
    "src/publish.ts": """
+ const registry = { token: "npm_<w36>" };
+ const pypi = "pypi-AgEIcHlwaS5vcmcCJ<s140>";
+ const hub = "dckr_pat_<s27>";
+ const hf = "hf_<m34>";
+ const gl = 'glpat-<w20>';
+ const shop = "shpat_<h32>";
- const integrity = "sha512-<b86>==";
- const icon = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA<b300>";
+ const session = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ<w60>.<s43>";
- const key = "<your-api-key>";
""",
    "config/deploy.yaml": """
+ digitalocean: dop_v1_<h64>
+ discord: MTEx<w21>.G<w5>.<w38>
+ linear: lin_api_<w40>
+ account: DefaultEndpointsProtocol=https;AccountName=media;AccountKey=<b86>==;EndpointSuffix=core.windows.net
+ heroku_api_key: <u>
+ google_client_secret: GOCSPX-<s28>
- signing_key: ${SIGNING_KEY}
- api_key: your_api_key_here
""",
    "config/server.pem": """
+ -----BEGIN RSA PRIVATE KEY-----
  <b64>
  <b64>
  <b64>
  <b40>==
  -----END RSA PRIVATE KEY-----
- -----BEGIN CERTIFICATE-----
  <b64>
  <b64>
  -----END CERTIFICATE-----
""",
}
