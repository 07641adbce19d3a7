"""Secrets of other services, in the formats in which settings and code are written."""

# ruff: noqa: E501 - lines as they stand in files

from __future__ import annotations

FILES = {
    ".env.production": """
  # deployed by hand
+ export GITLAB_TOKEN="glpat-<s20>"
+ export VAULT_TOKEN=hvs.<s91>
+ DATABRICKS_TOKEN=dapi<h32>
+ DD_API_KEY=<h32>
+ NEW_RELIC_LICENSE_KEY=<h36>NRAL
+ SENTRY_AUTH_TOKEN=sntrys_eyJ<b160>
+ CLOUDFLARE_API_TOKEN=<s40>
+ MONGODB_URI=mongodb+srv://app:<w16>@cluster0.a1b2c.mongodb.net/shop?retryWrites=true
+ AMQP_URL='amqp://worker:<w20>@rabbit:5672/%2f'
+ SUPABASE_SERVICE_ROLE_KEY=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.‹{"iss":"supabase","ref":"qkzvjwmtrpaylsdx","role":"service_role","iat":1731920457}›.<s43>
- SUPABASE_ANON_KEY=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.‹{"iss":"supabase","ref":"qkzvjwmtrpaylsdx","role":"anon","iat":1731920457}›.<s43>
- DEMO_JWT=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.<s43>
- SENTRY_DSN_PUBLIC=https://<h32>@o12345.ingest.sentry.io/67890
- NEXT_PUBLIC_POSTHOG_KEY=phc_<w43>
- STRIPE_KEY=pk_test_<w24>
- GOOGLE_ANALYTICS_ID=G-<A10>
- OPENAI_API_KEY=sk-...
- GROQ_API_KEY=gsk_your_key_goes_here
- ANTHROPIC_API_KEY=sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxAA
- GITHUB_TOKEN=ghp_0000000000000000000000000000000000aa
- DB_URL=postgresql://${DB_USER}:${DB_PASSWORD}@${DB_HOST}/app
- REDIS_URL=redis://:$REDIS_PASSWORD@cache:6379/0
- PIPELINE_SHA=<h40>
- BUILD_ID=<u>
""",
    "config/settings.json": """
  {
+   "groq": {"apiKey": "gsk_<w52>"},
+   "pinecone_api_key": "pcsk_<w6>_<w63>",
+   "shopify": {"secret": "shpss_<h32>"},
+   "square": {"access_token": "EAAA<s60>"},
+   "notion": "ntn_<d11><w35>",
+   "airtable": "pat<w14>.<h64>",
+   "webhook": "https://discord.com/api/webhooks/<d18>/<s68>",
+   "teams": "https://acme.webhook.office.com/webhookb2/<u>@<u>/IncomingWebhook/<h32>/<u>",
+   "google": {"client_secret": "GOCSPX-<s28>", "refresh_token": "n/a"},
+   "private_key": "-----BEGIN PRIVATE KEY-----\\n<b64>\\n<b64>\\n<b64>\\n-----END PRIVATE KEY-----\\n",
+   "registry": {"auths": {"ghcr.io": {"auth": "«deploy-bot:<w30>»"}}},
-   "example": {"auths": {"ghcr.io": {"auth": "«username:password»"}}},
-   "integrity": "sha512-<b86>==",
-   "etag": "\\"<h32>\\"",
-   "fingerprint": "SHA256:<b43>",
-   "client_id": "<d12>-<a32>.apps.googleusercontent.com",
-   "tenant": "<u>",
-   "public_key": "-----BEGIN PUBLIC KEY-----\\n<b64>\\n<b64>\\n-----END PUBLIC KEY-----\\n",
-   "token_endpoint": "https://login.acme.dev/oauth2/v2.0/token",
-   "password": "{{ vault.password }}",
-   "mapbox": "pk.eyJ<w90>.<s22>"
  }
""",
    "deploy/values.yaml": """
  env:
+   - {name: HONEYCOMB, value: hcaik_<a58>}
+   DOPPLER_TOKEN: dp.st.prd.<w43>
+   grafana: glsa_<w32>_<h8>
+   tailscale_key: "tskey-auth-<w12>CNTRL-<w32>"
+   pulumi: pul-<h40>
+   okta_api_token: 00<w40>
+   snyk_token: <u>
+   telegram: "<d10>:AA<w33>"
+   algolia_admin_key: <h32>
+   fastly_api_token: <w32>
+   sonar_token: squ_<h40>
+   dsn: mysql://root:<w14>@10.0.3.4:3306/orders
-   image: registry.acme.dev/app@sha256:<h64>
-   checksum/config: <h64>
-   request_token: <u>
-   password: changeme
-   api_key: "<insert-api-key>"
-   token: "****************"
-   secretName: shop-database-credentials
-   secret_arn: arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf
""",
    "deploy/secret.yaml": """
  apiVersion: v1
  kind: Secret
  metadata:
    name: shop
  type: Opaque
  data:
+   github: «ghp_<w36>»
+   DATABASE_URL: «postgres://shop:<w18>@db:5432/shop»
+   stripe: «sk_live_<w24>»
+   db-password: «<w20>»
-   username: «shop»
-   placeholder: «changeme»
-   region: «eu-west-1»
+   aws: «AKIA<B16>»
""",
    "settings/app.toml": """
  [auth]
+ anthropic = "sk-ant-api03-<s93>AA"
+ openrouter = 'sk-or-v1-<h64>'
+ replicate = "r8_<w37>"
+ sendinblue = "xkeysib-<h64>-<w16>"
+ age = "AGE-SECRET-KEY-1<c58>"
+ jwt_secret = "<w48>"
- revision = "<h40>"
- hash = "sha256:<h64>"
- recipient = "age1<t58>"
- password_file = "/run/secrets/db_password"
- api_key_header = "X-Api-Key"
- key_id = "projects/shop/locations/global/keyRings/main/cryptoKeys/app"
""",
    "setup.sh": """
  #!/bin/sh
+ export TF_TOKEN_app_terraform_io=<w14>.atlasv1.<s67>
+ curl -u deploy:<w20> https://ci.acme.dev/job/build
+ curl -H "Authorization: Bearer ghs_<w36>" https://api.github.com/user
+ curl -H "X-Vault-Token: s.<w24>" https://vault.acme.dev/v1/secret
+ mysql -h db -u root -p'<w16>' shop
+ PGPASSWORD=<w18> psql -h db.acme.dev -U shop
+ git clone https://oauth2:glpat-<w20>@gitlab.com/acme/app.git
+ heroku auth:token HEROKU_API_KEY=HRKU-<u>
+ docker login -u acme -p <w24> registry.acme.dev
- curl -u "$USER:$PASSWORD" https://ci.acme.dev
- curl -H "Authorization: Bearer $TOKEN" https://api.github.com
- docker login -u "$DOCKER_USER" -p "$DOCKER_PASSWORD"
- git checkout <h40>
- echo "<h64>  app.tar.gz" | sha256sum -c
- PASSWORD=$(openssl rand -base64 32)
- curl -fsSL https://get.acme.dev/install-<h32>.sh | sh
- ssh-keyscan github.com # SHA256:<b43>
- echo "usage: login --token <token> --password <password>"
""",
    "ci/npmrc": """
+ //registry.acme.dev/:_authToken=npm_<w36>
+ //npm.acme.dev/:_authToken=<u>
+ //art.acme.dev/:_password=«<w24>»
- //registry.acme.dev/:_authToken=${NPM_TOKEN}
""",
    "ci/pip.conf": """
  [global]
+ index-url = https://build:<w22>@art.acme.dev/simple
- extra-index-url = https://build:%(password)s@art.acme.dev/simple
""",
    "ci/netrc": """
+ machine api.acme.dev login deploy password <w20>
- machine api.acme.dev login deploy password your-password
""",
}
