"""Services whose keys have no letters of their own: the name of the service beside a random value shows the key.

Such a finding never counts, because its format cannot be checked. The names are those of public interfaces that ask
for a key. Words of several parts may be joined by `_`, `-`, `.` or a blank.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from evidence.patterns.secrets.pattern import DASHED_JOINT, SecretPattern

_DISTINCT: Final = """
    7digital AbuseIPDB AccuWeather Actinia Adafruit Adobe Adzuna Aerisweather Aftership Agora Ahrefs Airbrake
    Airship Airtable AirVisual Aiven Alchemy Aletheia Algolia Alibaba AlienVault Aliyun Alpaca Alpha-Vantage Amadeus
    Amdoren Amplitude Anthropic AnyAPI Anypoint API-Football Apideck APIFlash Apify APILayer APITemplate Apollo
    AppDynamics AppFollow AppOptics Appwrite AQICN Artifactory Asana AssemblyAI Atera Atlassian Auth0 Aviationstack
    Aylien Ayrshare Azure Backblaze Baidu Bandwidth Bannerbear Baremetrics Basecamp Beamer BigCommerce BigDataCloud
    BigML Billplz Binance BinaryEdge Bitbucket Bitcoin-Average Bitfinex Bitly Bitmex BitPanda Bitquery Bitrise
    Bittrex Bitwarden Blablacar Blazemeter Blitapp Blockchain Blockfrost Blockscout Blynk Botd BrainShop Braintree
    Branch-io BrandFetch Braze BreezoMeter Brevo Brightdata Browserless BrowserStack Browshot BscScan Buffer
    Bugcrowd Bugherd Bugsnag Buildkite ButterCMS Bybit Calendarific Calendly Campaign-Monitor Carbon-Interface
    Careerjet Censys CEX.IO Chargebee Chargify Checkly CheckMarket Cicero CircleCI Clarifai Clearbit ClickHelp
    ClickMeter ClickSend ClickUp Climatiq Clockify CloudAMQP Cloudbet CloudConvert Cloudflare Cloudinary
    Cloudmersive Cloudsmith Cloverly Cockroach Codacy Codeclimate Codecov Codemagic Codeship CoinAPI Coinbase
    Coinlayer Coinlib CoinMarketCap CoinRanking Coinremitter Commerce-JS Companies-House Composio Confluence
    Confluent Contentful Contentstack ConvertAPI Convertkit Copper Covalent Coveralls CraftMyPDF Crowdin Crunchbase
    Cryptocompare Currencycloud CurrencyFreaks Currencylayer CurrencyScoop Customer.IO CustomerIO Cutt.ly Cuttly
    Dagpi Databox Databricks Datadog DataForSEO DataGov DeepAI Deepgram DeepL DeepSeek DeezerAPI Delighted
    Dependabot Detect-Language Dialogflow Diffbot DigitalOcean Discogs Discord Disqus Docker-Hub Docusign Doppler
    Dribbble Drone-CI Dropbox Dwolla Dynatrace Dyspatch EasyPost Ebay Edamam Elastic-Email Elasticsearch ElevenLabs
    EmailJS EmailOctopus Enigma Etherscan Ethplorer Etsy Europeana Eventbrite Everhour ExchangeRate-API
    Exchangerates ExchangeRatesAPI Facebook Fastly Fastspring Feedbin Figma Filestack Finage Finicity Finnhub
    Firebase Firecrawl Fitbit Fixer-IO Fleetbase Flickr FlightAPI FlightAware FlightLabs FlightStats Flipkart
    Flutterwave Foursquare FraudLabs Freelancer Freesound Freshbooks Freshdesk Front-App Frontegg FullContact
    Fullstory FusionAuth Geckoboard Geoapify Geocod.io Geocodify Geocodio GeoDataSource GeoNames GetEmail GetEmails
    GetGeoAPI GetResponse GetSandbox GetStream Giphy Gitea GitGuardian Github Gitlab Gitter Glassnode Glitterly
    GNews Gocanvas GoCardless GoDaddy Gooddata Grafana Graph-Hopper GraphCMS Gravatar GreyNoise Groovehq GTmetrix
    Guardian-API Gumroad Gyazo HackerEarth HackerOne Happi-dev Harvest HaveIBeenPwned Help-Scout HelpCrunch HERE-API
    HERE-Maps Heroku Hightouch HolidayAPI Honeybadger Honeycomb Host.io HTML2PDF Hubspot Hugging-Face Huggingface
    Humanity Hunter-IO Hunter.io Hypertrack Hypixel IBM-Cloud IconFinder Iconfinder IEX-Cloud IEXapis IFTTT ImageKit
    Imagga Imgbb Imgur Impala ImprovMX Infermedica Influx InfluxDB Infura Instabot Instagram Instatus Intercom
    Intrinio Invoiceocean IP-API IP2Location IP2Proxy IPData IPFind IPGeolocation IPify IPInfo IPInfoDB
    IPQualityScore IPstack IQAir Jenkins JFrog Jina JotForm JSON2Video JSONbin Judge0 Jumpcloud Juro Kaggle
    Kanbanize Keen-IO KeenIO KickBox Klaviyo Kontent Kraken KrakenAPI KuCoin Kylas Languagelayer LaunchDarkly
    Lemlist LinearB LineNotify Linkedin LinkPreview Linode LiveAgent LiveStorm Lob-API LocationIQ LogDNA Loggly
    Loginradius LogRocket Lokalise Mailboxlayer MailboxValidator Mailchimp Mailerlite MailerSend Mailgun Mailjet
    Mailmodo Mailsac Mailtrap Mandrill Mapbox MapQuest MapTiler Marketstack Mattermost Maxmind Mediastack Meetup
    MercadoPago MessageBird Metaapi Metabase MetaCert Microcosm Microsoft-Graph Mindmeister Mistral Mixpanel
    Mockaroo Mod.io Moderation-API Mojoauth Monday MongoDB Monkeylearn Moralis Mrticktock MusixMatch MyFreshworks
    Nasdaq Netcore Netlify Neutrino New-Relic News-API NewsAPI NewsCatcher Newscatcher NewsData Nexmo NextCloud
    Ngrok Nimble Nitro-PDF Nomics Notion Noun-Project Novu Npmjs Numlookup Numverify Nutritionix Nylas NYTimes OANDA
    OCR-Space Octopart Okta OmniSend OnePageCRM OneSignal OnFleet Onwater OpenAI OpenCage OpenCorporates OpenFIGI
    OpenGraphr OpenPageRank OpenRouter OpenRouteService OpenUV OpenWeather OpenWeatherMap Opsgenie Optimizely Owlbot
    PaddleAPI PagerDuty PandaDoc PandaScore Pastebin PaymentsOS Paymo Paymongo Paypal Paystack PDF.co PDFLayer
    PDFShift Peopledatalabs Pepipost Perplexity Petfinder Pexels Phone-Validation Phrase-App Pinata Pinecone
    Pinterest Pipedream Pipedrive Pivotal-Tracker Pixabay Plaid Planetscale Planview PlanyoAPI Plivo Podio Pollsapi
    Poloniex Polygon-IO Polygon.io Positionstack PostageApp Postbacks Posthog Postman Postmark PowrBot Prefect
    Prismic Privacy-API ProdPad Prodpad Product-Hunt ProductHunt ProxyCrawl Pubnub PubNub Pulsedive Pulumi
    PushBullet Pusher PushOver Qualaroo Qualtrics QuickBase QuickNode Quip Rapid-API RapidAPI Raven-Tools RAWG
    Razorpay Reachmail Readme-IO Rebrandly Recharge Redash Refiner Remove-BG Remove.bg RequestFinance Rescuetime
    Restpack RestpackHTML Rev.ai RevenueCat Rijksmuseum RingCentral RiteKit Roaring Roboflow Rocketreach Rollbar
    Route4me RunPod Runscope Salesblink Salescookie Salesflare Salesforce Salesloft Samsara SatisMeter Saucelabs
    Scaleway ScrapeNinja Scrapeowl ScraperAPI ScraperBox ScraperSite Scrapestack Scrapfly ScrapingAnt ScrapingBee
    ScrapingDog Screenly Screenshot-API ScreenshotAPI Screenshotlayer SeatGeek SecurityTrails Segment-IO Selectpdf
    Semaphore Sendbird SendBirdAPI Sendgrid Sendinblue Sendpulse SentryAPI SerpAPI SerpHouse Serphouse Serpstack
    Sheety ShipDay Shippo Shodan Shopify Short.io Shortcut Shotstack Shutterstock Signable SignalWire Signaturit
    SignUpGenius SigOpt Simkl SimplyNoted Simvoly Sinch Skrapp SkyBiometry Slack Smartcar Smartling Smartsheet
    SmartyStreets SmsAPI Snipcart Snowflake Snyk SocialData Socrata SonarCloud SonarQube Songkick SoundCloud
    Sourcegraph SparkPost Speechtext Splunk Spoonacular SportMonks SportRadar Sportsmonk Spotify Square-API
    Squarespace SslMate StabilityAI StackExchange Stackhawk StatusCake Statuspage Statuspal Stitchdata StockData
    Storecove Storm-Glass Stormboard StormGlass Storyblok Storychief Strapi Strava Streak Stripe Stripo Stytch
    Sugester Sumologic Supabase SuperNotes SurveyAnyplace SurveyBot SurveyMonkey SurveySparrow Survicate Swell
    SwiftType Tailscale Talkdesk Tatum Tavily TaxJar TeamGate TeamViewer Teamwork Technical-Analysis Telegram
    Telesign Telnyx Textmagic The-Odds-API TheGraph TheOddsAPI TheTVDB Thinkific ThousandEyes Ticketmaster Tiingo
    TimeCamp Timezoneapi Tisane TMDB TMetric Todoist Toggl Toggltrack Tokeet Tomba Tomorrow-IO TomorrowIO TomTom
    Tradier Transferwise TravelPayouts Travis-CI Trello TrueNAS Trustpilot Tumblr Twelve-Data TwelveData Twilio
    Twist Twitch Twitter Tyntec Typeform Ubidots Udemy UnifyID Unplugg Unsplash Untappd UpCloud Uplead UploadCare
    Upstash Uptime-Robot UptimeRobot Upwave URLScan Userflow Userstack VATlayer Vercel Verifier Veriphone VirusTotal
    Visual-Crossing Voicegain Vonage VoodooSMS Voodoosms VPNAPI Vultr Vyte WakaTime Walkscore Weather-API WeatherAPI
    Weatherbit Weatherstack Web3-Storage Webex Webflow WebScraper WebScraping Weights-Biases Wepay Whatconverts
    Whoxy Wistia WooCommerce Wordnik Workable Workday Worksnaps Workstack World-Weather WorldCoinIndex WorldWeather
    Wrike Xendit XeroAPI Yandex YelpAPI YNAB Yousign Youtube YouTube-API Zapier ZapierAPI Zendesk Zenrows ZenScrape
    Zenserp Zeplin Zerobounce ZeroTier Zipbooks ZipCodeAPI ZipCodeBase ZipRecruiter Zoho ZohoCRM Zonka Zoomeye
"""
_COMMON: Final = """
    Amazon Apple AWS Base Block Box Buddy Citi Close Coda Column Copper Courier GCP Genius Ghost Google Harvest
    Hunter IBM IG Kakao Klarna LastFM Line Linear Lob Marvel Medium Meta Miro Mono Moov NASA Naver Novu Okta Oxford
    Pocket Polygon Privacy PUBG PubMed Quip Reddit Reed Render Route Segment Sentry Shippo Sirv Square Steam Swell
    Swiftype Tefter TikTok Trakt Tyk Uber Upwork Vimeo VK Wise Xero Yelp Zoom Zube
"""
"""Names that are also words or short: only directly before the word for the secret."""

_PART: Final = re.compile(r"[-.]")
TOWARDS_VALUE: Final = r"[\w\-. ]{0,24}?(?:key|token|secret|private|access|passw|auth|credential|pat)"
"""What follows the name of a service, up to the word for its secret."""


def _keyed(names: str) -> dict[str, str]:
    return {_PART.sub("", name).lower(): _PART.sub(" ", name) for name in names.split()}


SERVICES: Final[Mapping[str, str]] = _keyed(_COMMON) | _keyed(_DISTINCT)
"""The name of each service by its letters and digits in lower case."""


def find_service(before: str) -> str:
    """The service whose name is at the end of a text; empty when there is none."""
    letters = re.sub(r"[_\-. ]", "", before).lower()
    return next((SERVICES[letters[at:]] for at in range(len(letters)) if letters[at:] in SERVICES), "")


def _anchors() -> tuple[str, ...]:
    """Each spelling of each name; of a common word only with what follows."""
    found = {
        separator.join(_PART.split(name.lower()))
        for name in _DISTINCT.split()
        for separator in ("", "_", "-", ".", " ")
    }
    found |= {f"{name.lower()}{separator}" for name in _COMMON.split() for separator in "_-"}
    return tuple(sorted(found))


PATTERNS: Final = (
    SecretPattern(
        id="service-key",
        provider="services",
        title="Random value beside the name of a service and a word for its key",
        expression=(
            rf"(?i:{TOWARDS_VALUE}){DASHED_JOINT}"
            r"([A-Za-z0-9_\-+/.=~%]{12,400})(?:[^\w\-(]|$)"
        ),
        anchors=_anchors(),
        bad=(
            "WEATHERSTACK_ACCESS_KEY=<h32>",
            "finnhub secret <a20>",
            "geocodify-key-<h40>",
            'ALPHA_VANTAGE_KEY: "<A16>"',
        ),
        good=(
            "weatherstack_key=your-access-key-goes-here",
            "weatherstack_key=${KEY}",
            "the finnhub key of the account",
        ),
        entropy=2.8,
        generic=True,
        named=True,
        then=TOWARDS_VALUE,
        far=480,
    ),
)
