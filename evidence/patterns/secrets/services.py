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
    7digital Actinia Adafruit Adobe Adzuna Aerisweather Aftership Agora Ahrefs Airbrake Airship AirVisual Aletheia
    Alpaca Alpha-Vantage Amadeus Amdoren Anthropic AnyAPI Anypoint API-Football Apideck APIFlash Apifonica APILayer
    APIMetrics APITemplate AppDynamics AppFollow Appointedd AppOptics AppSynergy Appwrite AQICN Asana Atera AudD
    Autoklose Autopilot Avaza Aviationstack Axonaut Aylien Ayrshare Backblaze Baidu Bandwidth Bannerbear Baremetrics
    Basecamp Beamer Beebole BeSnappy BestTime BigCommerce BigDataCloud BigML Billplz BinaryEdge Bitbar Bitbucket
    Bitcoin-Average BitcoinAverage Bitfinex Bitly Bitmex BitPanda Bitquery Bitrise Bittrex Bitwarden Blablacar
    Blazemeter Blitapp Blockchain Blocknative Blockscout BombBomb Boostnote BorgBase Botd BrainShop Braintree
    Branch-io BrandFetch Braze BreezoMeter Brevo Browshot BuddyNS Budibase Bugcrowd Bugherd Bugsnag Buildkite
    ButterCMS Bybit Caflou Calendarific Campaign-Monitor Campayn CapsuleCRM Carbon-Interface Careerjet
    CentralStationCRM CEX.IO Chargify ChartMogul Chatfuel Checio Checkly CheckMarket Cicero CircleCI Clarifai
    Clearbit ClickHelp ClickMeter ClickSend ClickUp Cliengo Climatiq Clockify CloudAMQP Cloudbet CloudConvert
    CloudImage Cloudmersive Cloudplan Cloudsmith Cloverly Clustdoc Cockroach Codacy Codemagic Codequiry Codeship
    CoinAPI Coinlayer Coinlib CoinRanking Coinremitter Collect2 Commerce-JS Companies-House ConversionTools
    ConvertAPI Convertkit Copper CountryLayer Coveralls CraftMyPDF Crowdin Crunchbase Cryptocompare Currencycloud
    CurrencyFreaks Currencylayer CurrencyScoop Customer.IO CustomerIO Cutt.ly Cuttly D7Network Dagpi Dandelion
    Dareboost Databox Databricks DataForSEO DataGov DeBounce DeepAI DeezerAPI Delighted Dependabot Detect-Language
    Detectify Dialogflow Diggernaut DigitalOcean Discogs Disqus Docker-Hub DocParser Docusign Doppler Dribbble
    DronaHQ Drone-CI Dwolla Dynalist Dynatrace Dyspatch Eagle-Eye-Networks EagleEyeNetworks EasyPost Ebay
    EcoStruxureIT Edamam EdenAI Elastic-Email Elasticsearch EmailJS EmailOctopus Enigma Ethplorer Etsy Europeana
    Eventbrite Everhour ExchangeRate ExchangeRate-API Exchangerates ExchangeRatesAPI ExtractorAPI FastForex
    Fastspring Feedbin Feedier FetchRSS File.io Filestack Finage Financial-Modeling-Prep FinancialModelingPrep
    Finicity Firebase Fitbit Fixer-IO Fleetbase Flickr FlightAPI FlightAware FlightLabs FlightStats Flipkart
    Flutterwave Form.io FormBucket Formcraft Foursquare FraudLabs Freelancer Freesound Freshbooks Frontegg Fulcrum
    FullContact Fullstory FusionAuth FXMarket Geckoboard Geocod.io Geocodify Geocodio GeoDataSource GeoNames
    GetEmail GetEmails GetGeoAPI GetGist GetResponse GetSandbox GetStream Giphy Gitter Glassnode Glitterly GNews
    Gocanvas GoDaddy Gooddata GoodDay Grafana Graph-Hopper GraphCMS GraphHopper Gravatar Groovehq GTmetrix
    Guardian-API Gumroad Gyazo HackerEarth HackerOne Happi-dev HappyScribe Harvest HelloSign HelpCrunch Hightouch
    Hiveage HolidayAPI Holistic Honeybadger Host.io HTML2PDF Hugging-Face Huggingface Humanity Hunter-IO Hunter.io
    Hybiscus Hypertrack Hypixel IBM-Cloud Iconfinder IEX-Cloud IEXapis ImageKit Imagga Imgbb Imgur Impala ImprovMX
    Infermedica InfluxDB Insightly Instabot Instagram Instatus Intrinio Invoiceocean IP-API IP2Location IP2Proxy
    IPFind IPify IPInfoDB IPQuality IPQualityScore IQAir Jina JotForm JSON2Video JSONbin Judge0 Jumpcloud JupiterOne
    Juro Kaggle Kanbanize KarmaCRM Keen-IO KeenIO KickBox Klaviyo Klipfolio Knapsack-Pro KnapsackPro Kontent
    KrakenAPI KuCoin Kylas Languagelayer Leadfeeder Lemlist Lendflow LessAnnoyingCRM Lexigram LinearB LineNotify
    LinkPreview LiveAgent LiveStorm LoadMill Lob-API LogDNA Loggly Loginradius LogRocket Logz.io Lokalise Loyverse
    LunchMoney MadKudu Mailboxlayer MailboxValidator Mailchimp Mailerlite MailerSend Mailmodo Mailsac Mandrill
    Mapbox MapQuest Marketstack Mavenlink Maxmind Mediastack Meetup MeisterTask MercadoPago Mesibo Metaapi Metabase
    MetaCert Metrilo Microcosm Microsoft-Graph Mindmeister Mixmax Mockaroo Mod.io Moderation-API Mojoauth MongoDB
    Monkeylearn MoonClerk Moosend Mrticktock MusixMatch MyFreshworks MyIntervals Nasdaq Netcore Neutrino Newscatcher
    NewsData NextCloud NFTPort Nicereply Nimble Nitro-PDF Nomics Notion Noun-Project Novu Nozbe NozbeTeams Npmjs
    Numlookup Numverify Nutritionix Nylas OANDA OCR-Space Octopart Okta OmniSend OnePageCRM OneSignal OnFleet
    Onwater OOPSpam OpenAI OpenCage OpenCorporates OpenFIGI OpenGraphr OpenPageRank OpenRouter OpenRouteService
    OpenUV OpenWeatherMap Optimizely Overloop Owlbot PackageCloud PaddleAPI Pagar.me PandaDoc PandaScore Paperform
    ParallelDots Parseur PartnerStack Pastebin Paydirt PaydirtApp PaymentsOS Paymo Paymongo PDF.co PDFLayer PDFShift
    Peopledatalabs Pepipost Petfinder Phone-Validation Phrase-App Pinecone Pinterest Pipedream Pivotal-Tracker
    Pixabay Planetscale Planview PlanyoAPI Podio Pollsapi Poloniex Polygon-IO Polygon.io PostageApp Postbacks
    Posthog Postman PowrBot Prefect Privacy-API Prodpad Product-Hunt ProductHunt ProspectCRM Protocols.io ProxyCrawl
    PubNub Pulsedive Pulumi PushBullet PushOver Qase Qualaroo Qualtrics Qubole QuickBase Quip Raven-Tools RAWG
    Reachmail Readme-IO Rebrandly Recharge Redash Refiner Remove-BG Remove.bg Rentman Reply.io RequestFinance
    Rescuetime Restpack RestpackHTML RevenueCat Rijksmuseum RingCentral RiteKit Roaring Roboflow Rocketreach Rockset
    Route4me RunPod Runscope Salesblink Salescookie Salesflare Salesforce Salesloft Samsara SatisMeter Saucelabs
    ScrapeNinja Scrapeowl ScraperBox ScraperSite Scrapestack Scrapfly ScrapingAnt ScrapingBee ScrapingDog Screenly
    Screenshot-API ScreenshotAPI Screenshotlayer Scrutinizer SeatGeek Segment-IO Selectpdf SendBirdAPI Sendgrid
    Sendinblue Sendpulse SentryAPI Serphouse Sheety SherpaDesk ShipDay Shopify Short.io Shotstack Shutterstock
    Signable SignalWire Signaturit SignUpGenius SigOpt SimFin Simkl Simplesat SimplyNoted Simvoly Skrapp SkyBiometry
    Smartcar Smartling SmartyStreets SmsAPI Snipcart Snyk SocialData Socrata SonarCloud SonarQube Songkick
    SoundCloud Sourcegraph Speechtext Spoonacular SportMonks SportRadar Sportsmonk Square-API Squarespace SslMate
    StabilityAI StackExchange Stackhawk StatusCake Statuspage Statuspal Stitchdata StockData Storecove Storm-Glass
    Stormboard StormGlass Storychief Strava Streak Stripe Stripo Stytch Sugester Sumologic Supabase SuperNotes
    SurveyAnyplace SurveyBot SurveyMonkey SurveySparrow Survicate Swell SwiftType Tailscale Talkdesk Tallyfy TaxJar
    TeamGate TeamViewer Teamwork Technical-Analysis Telegram Telesign Teletype Telnyx Textmagic The-Odds-API
    TheOddsAPI TheTVDB Thinkific ThousandEyes Ticketmaster TicketTailor Tiingo TimeCamp Timezoneapi Tisane TMDB
    TMetric Toggl Toggltrack Tokeet Tomba Tradier Transferwise TravelPayouts Travis-CI Trello Trustpilot Tumblr
    Twelve-Data TwelveData Twist Tyntec Typeform Ubidots uClassify Udemy UnifyID Unplugg Untappd UPCDatabase UpCloud
    Uplead UploadCare Uptime-Robot UptimeRobot Upwave Userflow Userstack VATlayer VBout Verimail Veriphone
    VersionEye Viewneo Visual-Crossing Voicegain Voodoosms VPNAPI Vyte WakaTime Walkscore Weatherbit Weatherstack
    Web3-Storage WebScraper WebScraping Weights-Biases Wepay Whatconverts Whoxy WooCommerce Wordnik Workable Workday
    Worksnaps Workstack World-Weather WorldCoinIndex WorldWeather Wrike Xendit XeroAPI Yandex YelpAPI YNAB
    YouNeedABudget Yousign Youtube YouTube-API ZapierAPI Zenkit ZenScrape Zenserp Zeplin Zerobounce ZeroTier
    Zipbooks ZipCodeAPI ZipCodeBase ZipRecruiter Zoho ZohoCRM Zonka Zoomeye
"""
_COMMON: Final = """
    Amazon AWS Blogger Box Buddy Coda Column Copper Courier Daily Ditto Envoy Eraser Fixer Front GCP Genius Geocode
    Ghost Google Harvest Hunter IBM Kakao Klarna LastFM Linear Magnetic Marvel Medium Miro Moderation Mono Moov NASA
    Naver Novu Nuget Okta Oxford Pocket Polygon Privacy Prospect Protocols PUBG PubMed Quip Raven Reddit Segment
    Sentry Shippo Sirv Square Steam Swell Swiftype Tefter TikTok Trakt Tyk Uber Upwork Vimeo VK Wise Xero Yelp Zoom
    Zube
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
        separator.join(_PART.split(name.lower())) for name in _DISTINCT.split() for separator in ("", "_", "-", " ")
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
            "worksnaps secret <a20>",
            "geocodify-key-<h40>",
            'ALPHA_VANTAGE_KEY: "<A16>"',
        ),
        good=(
            "weatherstack_key=your-access-key-goes-here",
            "weatherstack_key=${KEY}",
            "the worksnaps key of the account",
        ),
        entropy=2.8,
        generic=True,
        named=True,
        then=TOWARDS_VALUE,
        far=480,
    ),
)
