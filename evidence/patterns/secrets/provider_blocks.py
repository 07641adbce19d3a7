"""Values without characteristic letters, inside a block, an object or a call of the provider."""

# ruff: noqa: E501, ISC004 - rows of a table

from __future__ import annotations

from typing import Final

from evidence.patterns.secrets.pattern import UUID, SecretPattern

OPENED: Final = r"[\"'`\w.:]{0,30}\s{0,3}(?:=>|=|:)?\s{0,3}[\[{(]\s{0,8}\{?"
"""From the name of the provider to its block: `"Postmark": {`, `provider "linode" {`, `Fastly.new(`."""

_NAMED: Final = r"\b(?i:[\w\-]{0,20}(?:key|token|secret|password|auth|pat))[\"'`]?\s{0,12}(?:=>|=|:)\s{0,3}[\"'`]"
"""The member with the value, which is quoted."""


def declare_block_value(  # noqa: PLR0917  rows of a table
    ident: str, provider: str, owner: str, body: str, anchors: str, bad: str, entropy: float = 3.0
) -> SecretPattern:
    """A value recognised by the block that contains it."""
    name = bad.partition("<")[0]
    return SecretPattern(
        id=f"{ident}-block",
        provider=provider,
        title=f"{provider} key in a block of its own",
        expression=rf"(?i:\b{owner}){OPENED}[^\[\]{{}}()]{{0,200}}?{_NAMED}({body})[\"'`]",
        anchors=tuple(anchors.split()),
        bad=(bad,),
        good=(name + "<x40>" + '"', name.split("{")[0].split("[")[0] + "; { " + bad[len(name) :]),
        entropy=entropy,
        then=OPENED,
        near=40,
        far=360,
    )


_H32: Final = r"[a-f0-9]{32}"
_H40: Final = r"[a-f0-9]{40}"

# fmt: off
PATTERNS: Final = (
    declare_block_value("cloudflare", "Cloudflare", r"cloudflare", r"[A-Za-z0-9_\-]{40}", "cloudflare",
        'provider "cloudflare" {\n  api_token = "<s40>"', 3.5),
    declare_block_value("linode", "Linode", r"linode", r"[a-f0-9]{64}", "linode", 'provider "linode" {\n  token = "<h64>"'),
    declare_block_value("hetzner", "Hetzner", r"(?:hcloud|hetzner)", r"[A-Za-z0-9]{64}", "hcloud hetzner",
        'provider "hcloud" {\n  token = "<w64>"', 4.0),
    declare_block_value("vultr", "Vultr", r"vultr", r"[A-Z0-9]{36}", "vultr", 'provider "vultr" {\n  api_key = "<A36>"', 3.5),
    declare_block_value("datadog", "Datadog", r"datadog", rf"(?:{_H32}|{_H40})", "datadog",
        'provider "datadog" {\n  api_key = "<h32>"'),
    declare_block_value("fastly", "Fastly", r"fastly", r"[A-Za-z0-9_\-]{32}", "fastly", 'Fastly.new(api_key: "<w32>"', 3.8),
    declare_block_value("heroku", "Heroku", r"heroku", UUID, "heroku", 'provider "heroku" {\n  api_key = "<u>"', 2.5),
    declare_block_value("scaleway", "Scaleway", r"scaleway", UUID, "scaleway", 'provider "scaleway" {\n  secret_key = "<u>"', 2.5),
    declare_block_value("pagerduty", "PagerDuty", r"pagerduty", r"[A-Za-z0-9_+\-]{20}", "pagerduty",
        'provider "pagerduty" {\n  token = "<w20>"', 3.2),
    declare_block_value("opsgenie", "Atlassian", r"opsgenie", UUID, "opsgenie", 'provider "opsgenie" {\n  api_key = "<u>"', 2.5),
    declare_block_value("newrelic", "New Relic", r"newrelic", _H40, "newrelic", "'newrelic' => ['license_key' => '<h40>'"),
    declare_block_value("rollbar", "Rollbar", r"rollbar", _H32, "rollbar", "Rollbar.init({ accessToken: '<h32>'"),
    declare_block_value("algolia", "Algolia", r"algolia", _H32, "algolia", "'algolia' => ['secret' => '<h32>'"),
    declare_block_value("mailgun", "Mailgun", r"mailgun", r"[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}", "mailgun",
        "'mailgun' => ['secret' => '<h32>-<h8>-<h8>'"),
    declare_block_value("postmark", "Postmark", r"postmark", UUID, "postmark", '"Postmark": { "ServerToken": "<u>"', 2.5),
    declare_block_value("sparkpost", "SparkPost", r"sparkpost", _H40, "sparkpost", "'sparkpost' => ['secret' => '<h40>'"),
    declare_block_value("mailjet", "Mailjet", r"mailjet", _H32, "mailjet", "'mailjet' => ['secret' => '<h32>'"),
    declare_block_value("twilio", "Twilio", r"twilio", _H32, "twilio", '"twilio": { "auth_token": "<h32>"'),
    declare_block_value("vonage", "Vonage", r"(?:vonage|nexmo)", r"[A-Za-z0-9]{16}", "vonage nexmo",
        "new Vonage({ apiSecret: '<w16>'", 3.2),
    declare_block_value("pusher", "Pusher", r"pusher", r"[a-f0-9]{20}", "pusher", "'pusher' => ['secret' => '<h20>'", 2.6),
    declare_block_value("messagebird", "Bird", r"messagebird", r"[A-Za-z0-9]{25}", "messagebird",
        "'messagebird' => ['access_key' => '<w25>'", 3.5),
    declare_block_value("facebook", "Meta", r"facebook", _H32, "facebook", "'facebook' => ['client_secret' => '<h32>'"),
    declare_block_value("twitter", "X", r"twitter", r"[A-Za-z0-9]{50}", "twitter", "'twitter' => ['client_secret' => '<w50>'", 4.0),
    declare_block_value("github-oauth", "GitHub", r"github", _H40, "github", "'github' => ['client_secret' => '<h40>'"),
    declare_block_value("gitlab-oauth", "GitLab", r"gitlab", r"[a-f0-9]{64}", "gitlab", "'gitlab' => ['client_secret' => '<h64>'"),
    declare_block_value("spotify", "Spotify", r"spotify", _H32, "spotify", "'spotify' => ['client_secret' => '<h32>'"),
    declare_block_value("twitch", "Twitch", r"twitch", r"[a-z0-9]{30}", "twitch", "'twitch' => ['client_secret' => '<a30>'", 3.5),
    declare_block_value("slack-oauth", "Slack", r"slack", _H32, "slack", "new App({ slack: { signingSecret: '<h32>'"),
    declare_block_value("razorpay", "Razorpay", r"razorpay", r"[A-Za-z0-9]{24}", "razorpay",
        "new Razorpay({ key_secret: '<w24>'", 3.5),
    declare_block_value("okta", "Okta", r"okta", r"00[\w\-]{40}", "okta", 'provider "okta" {\n  api_token = "00<w40>"', 3.8),
    declare_block_value("auth0", "Auth0", r"auth0", r"[\w\-]{64}", "auth0", '"Auth0": { "ClientSecret": "<w64>"', 4.0),
    declare_block_value("elastic", "Elastic", r"(?:elastic(?:search)?|elasticcloud|ec)", r"[A-Za-z0-9+/]{56,60}={0,2}", "elastic",
        'elasticsearch({ apiKey: "<b58>=="', 4.0),
    declare_block_value("openweather", "OpenWeather", r"openweather(?:map)?", _H32, "openweather", '"openweather": { "apiKey": "<h32>"'),
    declare_block_value("cohere", "Cohere", r"cohere", r"[A-Za-z0-9]{40}", "cohere", 'cohere.Client({ apiKey: "<w40>"', 4.0),
    declare_block_value("mistral", "Mistral AI", r"mistral(?:ai|client)?", r"[A-Za-z0-9]{32}", "mistral",
        'new Mistral({ apiKey: "<w32>"', 3.8),
    declare_block_value("deepgram", "Deepgram", r"deepgram", _H40, "deepgram", '"deepgram": { "apiKey": "<h40>"'),
    declare_block_value("assemblyai", "AssemblyAI", r"assemblyai", _H32, "assemblyai", 'new AssemblyAI({ apiKey: "<h32>"'),
    declare_block_value("snyk", "Snyk", r"snyk", UUID, "snyk", '"snyk": { "token": "<u>"', 2.5),
    declare_block_value("zendesk", "Zendesk", r"zendesk", r"[A-Za-z0-9]{40}", "zendesk", '"zendesk": { "token": "<w40>"', 3.8),
    SecretPattern(id="terraform-database-password", provider="Terraform", title="Password of a database in Terraform",
        expression=r"resource\s{1,3}\"\w{0,40}(?:db_|rds_|sql|database|redshift|docdb|neptune|postgres|cache)\w{0,40}\"[^{]{1,80}"
        r"\{[^}]{0,800}?\b(?:master_|admin_|administrator_|login_)?(?:user_)?password(?:_wo)?\s{1,20}=\s"
        r"{1,3}\"([^\"$\s]{8,100})\"", anchors=("password",), bad=('resource "aws_db_instance" "main" {\n'
        '  username = "app"\n  password = "<w20>"\n}',), good=('resource "aws_db_instance" "main" {\n'
        '  password = "${var.db}"\n}', 'resource "aws_db_instance" "main" {\n  password = "changeme123"\n}'),
        entropy=2.8, random=True, near=1200, then=r"(?:_wo)?\s{1,20}=\s"),
)
# fmt: on
