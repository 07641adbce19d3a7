"""Secrets of further services in further places: mobile code, property lists of build tools, task definitions, scripts."""

# ruff: noqa: E501, E101 - lines as they stand in files

from __future__ import annotations

FILES = {
    "backend/core/ai.py": r"""
  import os
+ settings = Settings(_env_file=None, brave_api_key="BSA<w28>", serper_api_key="<h40>")
+ EXA_API_KEY: Final[str] = "<u>"
+ os.environ.setdefault("MODAL_TOKEN_SECRET", "as-<w22>")
+ helicone = {"Helicone-Auth": "Bearer sk-helicone-<a7>-<a7>-<a7>-<a7>"}
+ genai.configure(api_key="AIzaSy<s32><w1>")
+ memory = MemoryClient(api_key="m0-<w40>")
- model_hash: str = "<h64>"
- SYSTEM_FINGERPRINT = "fp_44709d6fcb"
- thread_id = "thread_abc8QmTn2LkPzRw5VxYs9Dfg"
+ llm = ChatAnthropic(api_key=SecretStr("sk-ant-api03-<s93>AA"))
+ hub = dict(token="hf_<m34>", revision="<h40>")
+ embed = Cohere(cohere_api_key=os.getenv("COHERE_API_KEY", "<w40>"))
- checkpoint = "s3://acme-models/<h40>/model.safetensors"
- tokenizer_name = "hf-internal-testing/tiny-random-gpt2"
""",
    "backend/core/keys.go": r"""
  package core

  type Config struct {
- 	APIToken string `env:"API_TOKEN,required"`
  }

  func Defaults() map[string]string {
  	return map[string]string{
+ 		"hcloud_token": "<w64>",
+ 		"vultr_api_key": "<A36>",
+ 		"railway_token": "<u>",
+ 		"ovh_application_secret": "<w32>",
+ 		"upstash_redis_rest_token": "AX<w52>=",
+ 		"influx_token": "<s85><w1>==",
+ 		"astra": "AstraCS:<w24>:<h64>",
+ 		"cockroach": "CCDB1_<w22>_<w40>",
+ 		"confluent_api_secret": "<b64>",
+ 		"mattermost_token": "<a26>",
+ 		"matrix": "syt_<w8>_<m20>_<w6>",
+ 		"webex_access_token": "<w64>_PF84_<u>",
- 		"go_build_id": "Go1.22-linux-amd64-7f3a",
- 		"etag": "<h32>",
- 		"span": "<h16>",
- 		"lock_token": "<u>",
  	}
  }
""",
    "ops/hooks.yaml": r"""
  receivers:
+   - webhook: https://chat.googleapis.com/v1/spaces/<w11>/messages?key=<s39>&token=<s43>
+   - feishu: https://open.feishu.cn/open-apis/bot/v2/hook/<u>
+   - dingtalk: "https://oapi.dingtalk.com/robot/send?access_token=<h64>"
+   - ifttt: https://maker.ifttt.com/trigger/deploy/with/key/<s42><w1>
+   - slack: https://hooks.slack.com/services/T<A10>/B<A10>/<w24>
-   - pushover: {user: "user-group-key-placeholder"}
+   - discord: 'https://discord.com/api/webhooks/<d19>/<s67><w1>'
+   - teams: https://acme.webhook.office.com/webhookb2/<u>@<u>/IncomingWebhook/<h32>/<u>
-   - dead_mans: "https://hc-ping.com/<u>"
-   - status: "https://hooks.slack.com/services/TXXXXXXXX/BXXXXXXXX/your-token"
""",
    "ops/ci/appspec.yml": r"""
  jobs:
+   TEAMCITY: eyJ0eXAiOiAiVENWMiJ9.<s36>.<s47><w1>
+   jenkins_api_token: 11<h32>
+   drone_token: "<w32>"
+   CHROMATIC_PROJECT_TOKEN: chpt_<h15>
+   SAUCE_ACCESS_KEY: <u>
+   BROWSERSTACK_ACCESS_KEY: <w20>
-   BITRISE_TOKEN: $BITRISE_TOKEN
-   cache-key: v3-deps-{{ checksum "package-lock.json" }}
-   orb: circleci/aws-s3@4.0.0
-   action: some/action@<h40>
-   image: cimg/node@sha256:<h64>
-   token: ((concourse-vault-token))
""",
    "pay/src/main/kotlin/Config.kt": r"""
  object Config {
+     const val PAYPAL_CLIENT_SECRET = "E<s78><w1>"
+     private val checkoutSecret: String = "sk_<a26><l1>"
+     val chargebeeKey = "live_<w32>"
+     val polar: String = "polar_oat_<w43>"
+     val stripe = Stripe("sk_live_51<w97>")
+     val binanceSecretKey: String = "<w64>"
+     val krakenPrivateKey = "<b86>=="
+     val rpc = "https://eth-mainnet.g.alchemy.com/v2/<s31><w1>"
+     val infura = "https://mainnet.infura.io/v3/<h32>"
-     val plaidSecret = "getenv:PLAID_SECRET_ENV_NAME"
-     val usdc = "0x<h40>"
-     val topic = "0x<h64>"
-     val cert = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
-     val pin = "sha256/r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E="
-     val merchantId = "<a20>"
  }
""",
    "ios/Acme/Secrets.swift": r"""
  import Foundation
  enum Secrets {
+     static let openWeatherApiKey: String = "<h32>"
+     static let mapboxSecret = "sk.eyJ1Ijoi<w52>.<s22>"
-     static let mapboxPublic = "pk.eyJ1Ijoi<w52>.<s22>"
+     static let githubToken = "ghp_<w36>"
+     static let unsplashAccessKey = "<s42><w1>"
+     static let riot = "RGAPI-<u>"
+     static let spotifyClientSecret = "<h32>"
-     static let appGroup = "group.io.acme.shared.keychain"
-     static let team = "9JA89QQLNQ"
-     static let keychainService = "io.acme.app.credentials.token"
-     static let sha = Data(base64Encoded: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
  }
""",
    "web/src/env.ts": r"""
  export const env = {
+   WORKOS_API_KEY: "sk_live_<w48>",
+   ORY: "ory_pat_<w32>",
+   CAL_API_KEY: "cal_live_<h32>",
+   CLOSE: "api_<w22>.<w22>",
+   WEBFLOW_TOKEN: "<h64>",
+   SANITY_API_TOKEN: "sk<w178>",
+   GHOST_ADMIN_API_KEY: "<h24>:<h64>",
+   IMAGEKIT_PRIVATE_KEY: "private_<b27>=",
+   CHECKLY: "cu_<h32>",
+   CORALOGIX: "cxtp_<w30>",
+   ZENDESK_API_TOKEN: "<w40>",
+   PIPEDRIVE_API_TOKEN: "<h40>",
+   NEXTAUTH_SECRET: "<b43>=",
+   MONDAY_API_TOKEN: "‹{"alg":"HS256","typ":"JWT"}›.‹{"tid":412345678,"aai":11,"uid":51234567,"actid":1234987,"rgn":"use1"}›.<s43>",
+   CALENDLY_TOKEN: "‹{"alg":"HS256","typ":"JWT"}›.‹{"iss":"https://auth.calendly.com","iat":1712345678,"jti":"<u>","user_uuid":"<u>"}›.<s43>",
+   LEMONSQUEEZY_API_KEY: "‹{"alg":"HS256","typ":"JWT"}›.‹{"aud":"<u>","jti":"<h40>","iat":1723456789.123456,"exp":2039000000}›.<s43>",
+   UPLOADTHING_SECRET: "sk_live_<h64>",
+   TODOIST_TOKEN: "<h40>",
+   SHORTCUT_API_TOKEN: "<u>",
-   NEXT_PUBLIC_ALGOLIA_SEARCH_KEY: "<h32>",
-   NEXT_PUBLIC_GA: "G-<A10>",
-   NEXT_PUBLIC_INTERCOM_APP_ID: "<a8>",
-   TURNSTILE_SITE_KEY: "0x4AAAAAAADnPIDROrmt1Wwj",
-   HCAPTCHA_SITE_KEY: "<u>",
-   LAUNCHDARKLY_CLIENT_ID: "<h20>",
-   STATSIG_CLIENT_KEY: "client-<w32>",
-   VAPID_PUBLIC_KEY: "BNl7xO0ZcVqzHJ3mWk1sT9fYd4uRgQe5aXb2vCpKjLhM8oIi6tEwSyAnUrFxPzDqGvBmJkHlYcTaWsQeZ_4",
-   SENTRY_DSN: "https://<h32>@o<d6>.ingest.sentry.io/<d7>",
-   tokenName: "acme.sid",
  };
- declare const secretOrKey: jwt.Secret | jwt.GetPublicKeyOrSecret;
- const passwordInput = document.getElementById("password-input-7f2c");
- const cacheToken = `${user.id}:${session.id}`;
- const storageKey = "acme:auth:refreshToken:v2";
""",
    "infra/ansible/group_vars/all.yml": r"""
+ proxmox: "PVEAPIToken=ci@pve!deploy=<u>"
+ portainer_key: ptr_<b43>=
+ rancher_token: token-<a5>:<a54>
+ upcloud_token: ucat_<A26>
+ argocd_token: ‹{"alg":"HS256","typ":"JWT"}›.‹{"iss":"argocd","sub":"ci:apiKey","nbf":1712345678,"jti":"<u>"}›.<s43>
  wireguard:
+   PrivateKey: <b43>=
-   PublicKey: xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=
  vault_password: !vault |
    $ANSIBLE_VAULT;1.1;AES256
-   <h64>
+ splunk_hec_token: <u>
+ sumologic_access_key: <w64>
+ rabbitmq_url: amqp://app:<w20>@rabbit.acme.internal:5672/%2F
+ ldap_bind: ldaps://svc:<w20>@ldap.acme.io
+ redshift: redshift://etl:<w18>@warehouse.acme.io:5439/dw
+ trino: trino://svc:<w18>@trino.acme.io:443/hive
+ proxy: http://proxyuser:<w18>@proxy.acme.io:3128
- ssh_host_fingerprint: SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM
- password_hash: $6$rounds=656000$mDkLqQz7X1fGvZpR$k3V9b8nF4yT2wX6cJhL0sQaEuI5oPdRgKjMxNzBvCfH1Yl7Wt
- db_password: "{{ vault_db_password }}"
+ kubeadm: kubeadm join 10.0.0.1:6443 --token <a6>.<a16> --discovery-token-ca-cert-hash sha256:<h64>
""",
    "infra/k8s/kubeconfig": r"""
  apiVersion: v1
  clusters:
  - cluster:
-     certificate-authority-data: <b266>
  users:
  - name: deployer
    user:
+     token: ‹{"alg":"RS256","kid":"<s43>"}›.‹{"iss":"kubernetes/serviceaccount","kubernetes.io/serviceaccount/namespace":"prod","sub":"system:serviceaccount:prod:deployer"}›.<s43>
""",
    "infra/k8s/sealed.yaml": r"""
  apiVersion: bitnami.com/v1alpha1
  kind: SealedSecret
  spec:
    encryptedData:
-     password: AgB<b266>
""",
    "infra/k8s/env.yaml": r"""
  env:
    - name: SENDGRID_API_KEY
+     value: SG.<s22>.<s42><w1>
    - name: TWILIO_AUTH_TOKEN
+     value: "<h32>"
    - name: DD_API_KEY
+     value: <h32>
    - name: POD_UID
-     value: <u>
    - name: GIT_SHA
-     value: <h40>
""",
    "ecs/task.json": r"""
  {"environment": [
+   {"name": "MISTRAL_API_KEY", "value": "<w32>"},
+   {"name": "OPENAI_API_KEY", "value": "sk-proj-<s74>T3BlbkFJ<s74>"},
+   {"name": "SNYK_TOKEN", "value": "<u>"},
-   {"name": "LOG_GROUP", "value": "/aws/ecs/acme-prod-7f9a2b"}],
-  "secrets": [{"name": "DB_PASSWORD", "valueFrom": "arn:aws:secretsmanager:eu-west-1:482910374655:secret:acme/db-x7Yz9Q"}],
-  "taskRoleArn": "arn:aws:iam::482910374655:role/ecsTaskRole"}
""",
    "package.json": r"""
  {
-   "name": "acme", "packageManager": "pnpm@9.1.0+sha512.<h128>",
    "scripts": {
+     "publish": "NPM_TOKEN=npm_<w36> npm publish",
+     "vsce": "ovsx publish -p ovsxat_<u>",
+     "jsr": "deno publish --token jsrp_<w40>",
+     "sentry": "sentry-cli --auth-token sntryu_<h64> releases new",
-     "test": "cross-env API_KEY=test-api-key jest"
    },
+   "dependencies": { "lib": "git+https://ghp_<w36>:x-oauth-basic@github.com/acme/lib.git#<h40>" }
  }
""",
    "yarn.lock": r"""
  "jsonwebtoken@^9.0.0":
-   resolved "https://registry.example.org/jsonwebtoken/-/jsonwebtoken-9.0.2.tgz#<h40>"
-   integrity sha512-<b86>==
""",
    ".condarc": r"""
  channels:
+   - https://conda.anaconda.org/t/<l2>-<u>-conda/acme
-   - https://conda.anaconda.org/conda-forge
""",
    "nuget.config": r"""
  <configuration>
    <packageSourceCredentials><Acme>
      <add key="Username" value="ci" />
+     <add key="ClearTextPassword" value="ghp_<w36>" />
    </Acme></packageSourceCredentials>
+   <apikeys><add key="https://nuget.acme.io" value="oy2<t43>" /></apikeys>
  </configuration>
""",
    "settings.xml": r"""
  <settings><servers><server>
    <id>acme</id><username>deploy</username>
+   <password>AKCp8<w68></password>
  </server><server>
+   <id>gh</id><password>ghp_<w36></password>
- </server><server><id>x</id><password>${env.MAVEN_PASSWORD}</password></server></servers></settings>
""",
    "web.config": r"""
  <configuration><appSettings>
+   <add key="SendGridKey" value="SG.<s22>.<s42><w1>" />
+   <add key="StripeKey" value="rk_live_51<w97>" />
-   <add key="webpages:Version" value="3.0.0.0" />
  </appSettings>
+ <connectionStrings><add name="Main" connectionString="Data Source=sql.acme.io;Initial Catalog=shop;User ID=shop;Password=<w20>" /></connectionStrings>
+ <machineKey validationKey="<H128>" decryption="AES" />
- <runtime><assemblyIdentity name="Newtonsoft.Json" publicKeyToken="30ad4fe6b2a6aeed" /></runtime>
  </configuration>
""",
    "android/app/src/main/res/values/strings.xml": r"""
  <resources>
+   <string name="google_maps_key">AIzaSy<s32><w1></string>
-   <string name="facebook_app_id"><d18></string>
-   <string name="mapbox_access_token">pk.eyJ1Ijoi<w52>.<s22></string>
-   <string name="password_hint">At least 8 characters</string>
-   <string name="token_expired">Your_token_has_expired_please_login</string>
  </resources>
""",
    "android/gradle.properties": r"""
- org.gradle.jvmargs=-Xmx4g -XX:MaxMetaspaceSize=1g
- RELEASE_STORE_PASSWORD=${STORE_PASSWORD}
- distributionSha256Sum=<h64>
""",
    "lib/acme/client.ex": r"""
+ config :acme, Acme.Endpoint, secret_key_base: "<b64>"
+ config :acme, :slack, token: "xoxb-<d12>-<d13>-<w24>"
- config :acme, signing_salt: "<w8>"
- config :acme, :hash, "<h64>"
""",
    "scripts/seed.sql": r"""
+ CREATE USER app WITH PASSWORD '<w20>';
- INSERT INTO users (email, password_hash) VALUES ('a@acme.io', '$2b$12$<w53>');
+ INSERT INTO keys (provider, value) VALUES ('stripe', 'sk_live_51<w97>');
- INSERT INTO files (sha256) VALUES ('<h64>');
- ALTER ROLE app PASSWORD 'changeme';
""",
    "scripts/run.ps1": r"""
+ $env:GITHUB_TOKEN = "github_pat_11<A20>_<w59>"
+ $headers = @{ Authorization = "Bearer glpat-<s19><w1>"; "X-Request-Id" = "<u>" }
+ $pat = "<w52>JQQJ99<A18>AZDO<w4>"
+ $password = ConvertTo-SecureString "<w20>" -AsPlainText -Force
- $thumb = "A909502DD82AE41433E6F83886B00D4277A32A7B"
""",
    "scripts/run.bat": r"""
+ set AWS_ACCESS_KEY_ID=AKIA<B16>
+ set AWS_SECRET_ACCESS_KEY=<b39><w1>
- set COMMIT=<h40>
""",
    "src/config.lua": r"""
+ return { discord = "MTEx<w21>.G<w5>.<w38>", telegram = '<d10>:AA<s32><w1>', sha = "<h32>" }
""",
    "src/config.scala": r"""
+ val pat = "pat<w14>.<h64>"; val digest = "unused"
+ val databricks = sys.env.getOrElse("DATABRICKS_TOKEN", "dapi<h32>")
- val uuid = "<u>"
""",
    "src/config.dart": r"""
- const supabaseAnon = '‹{"alg":"HS256","typ":"JWT"}›.‹{"iss":"supabase","ref":"<l20>","role":"anon","iat":1690000000,"exp":2005576000}›.<s43>';
+ const supabaseService = '‹{"alg":"HS256","typ":"JWT"}›.‹{"iss":"supabase","ref":"<l20>","role":"service_role","iat":1690000000,"exp":2005576000}›.<s43>';
- const firebaseAppId = '1:482910374655:android:<h16>';
""",
    "src/data.csv": r"""
  id,token,hash
+ 1,ghp_<w36>,<h40>
+ 2,xoxp-<d12>-<d12>-<d13>-<h32>,<h40>
- 3,redacted,<h40>
""",
    "src/wp-config.php": r"""
+ define( 'SECURE_AUTH_SALT', '<w64>' );
+ define( 'DB_PASSWORD', '<w20>' );
- $table_prefix = 'wp_8f3k_';
""",
    "src/data.toml": r"""
  [services.grafana]
+ token = "glsa_<w32>_<h8>"
  [services.linear]
+ key = "lin_api_<w40>"
  [package.metadata]
- checksum = "<h64>"
  [services.newsapi]
+ newsapi_key = "<h32>"
""",
    "logs/ci.log": r"""
+ + curl -H 'X-Api-Key: PMAK-<h24>-<h34>' https://api.getpostman.com/me
- Set-Cookie: session=<w32>; Path=/; HttpOnly
+ remote: glpat-<s27>.01.<a9> expired
- commit <h40> (HEAD -> main, tag: v1.2.3)
- Digest: sha256:<h64>
- x-amz-request-id: K2H6N7ZGQT6WHCEG
- x-amz-id-2: cbxXLr9kPqGxnNwNzVvK2n8J7sYdS3m1QeRtUw5LhBf4oIzXaCgEjHkMpTyDvWl=
- cf-ray: 7c1e2f3a4b5d6e7f-FRA
+ POST https://api.telegram.org/bot<d10>:AA<s32><w1>/getMe 200
""",
    "keys/id_dsa": r"""
+ -----BEGIN DSA PRIVATE KEY-----
  <b64>
  <b64>
  <b40>=
  -----END DSA PRIVATE KEY-----
""",
    "keys/ed.py": r"""
+ KEY = '''-----BEGIN OPENSSH PRIVATE KEY-----
  b3BlbnNzaC1rZXktdjE<b51>
  <b70>
  <b30>==
  -----END OPENSSH PRIVATE KEY-----
  '''
""",
    "keys/ca.crt": r"""
- -----BEGIN CERTIFICATE-----
  <b64>
  <b64>
  <b40>=
  -----END CERTIFICATE-----
""",
}
