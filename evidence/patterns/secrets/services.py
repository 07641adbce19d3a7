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
    Amdoren Amplitude Anthropic AnyAPI Anypoint API-Football Apideck APIFlash Apifonica Apify APILayer APIMetrics
    APITemplate Apollo AppDynamics AppFollow Appointedd AppOptics AppSynergy Appwrite AQICN Artifactory Asana
    AssemblyAI Atera Atlassian AudD Auth0 Autoklose Autopilot Avaza Aviationstack Axonaut Aylien Ayrshare Azure
    Backblaze Baidu Bandwidth Bannerbear Baremetrics Basecamp Beamer Beebole BeSnappy BestTime BetterStack
    BigCommerce BigDataCloud BigML Billplz Binance BinaryEdge Bitbar Bitbucket Bitcoin-Average BitcoinAverage
    Bitfinex Bitly Bitmex BitPanda Bitquery Bitrise Bittrex Bitwarden Blablacar Blazemeter Blitapp Blockchain
    Blockfrost Blocknative Blockscout Blynk BombBomb Boostnote BorgBase Botd BrainShop Braintree Branch-io
    BrandFetch Braze BreezoMeter Brevo Brightdata Browserless BrowserStack Browshot BscScan BuddyNS Budibase Buffer
    Bugcrowd Bugherd Bugsnag Buildkite ButterCMS Bybit Caflou Calendarific Calendly Campaign-Monitor Campayn
    CapsuleCRM Carbon-Interface Careerjet Censys CentralStationCRM CEX.IO Chargebee Chargify ChartMogul Chatfuel
    Checio Checkly CheckMarket Cicero CircleCI Clarifai Clearbit ClickHelp ClickMeter ClickSend ClickUp Cliengo
    Climatiq Clockify CloudAMQP Cloudbet CloudConvert Cloudflare CloudImage Cloudinary Cloudmersive Cloudplan
    Cloudsmith Cloverly Clustdoc Cockroach Codacy Codeclimate Codecov Codemagic Codequiry Codeship CoinAPI Coinbase
    Coinlayer Coinlib CoinMarketCap CoinRanking Coinremitter Collect2 Commerce-JS Companies-House Composio
    Confluence Confluent Contentful Contentstack ConversionTools ConvertAPI Convertkit Copper CountryLayer Covalent
    Coveralls CraftMyPDF Crowdin Crunchbase Cryptocompare Currencycloud CurrencyFreaks Currencylayer CurrencyScoop
    Customer.IO CustomerIO Cutt.ly Cuttly D7Network Dagpi Dandelion Dareboost Databox Databricks Datadog DataForSEO
    DataGov DeBounce DeepAI Deepgram DeepL DeepSeek DeezerAPI Delighted Dependabot Detect-Language Detectify
    Dialogflow Diffbot Diggernaut DigitalOcean Discogs Discord Disqus Docker-Hub DocParser Docusign Doppler Dribbble
    DronaHQ Drone-CI Dropbox Dwolla Dynalist Dynatrace Dyspatch Eagle-Eye-Networks EagleEyeNetworks EasyPost Ebay
    EcoStruxureIT Edamam EdenAI Elastic-Email Elasticsearch ElevenLabs EmailJS EmailOctopus Enigma Etherscan
    Ethplorer Etsy Europeana Eventbrite Everhour ExchangeRate ExchangeRate-API Exchangerates ExchangeRatesAPI
    ExtractorAPI Facebook FastForex Fastly Fastspring Feedbin Feedier FetchRSS Figma File.io Filestack Finage
    Financial-Modeling-Prep FinancialModelingPrep Finicity Finnhub Firebase Firecrawl Fitbit Fixer-IO Fleetbase
    Flickr FlightAPI FlightAware FlightLabs FlightStats Flipkart Flutterwave Form.io FormBucket Formcraft Foursquare
    FraudLabs Freelancer Freesound Freshbooks Freshdesk Front-App Frontegg Fulcrum FullContact Fullstory FusionAuth
    FXMarket Geckoboard Geoapify Geocod.io Geocodify Geocodio GeoDataSource GeoNames GetEmail GetEmails GetGeoAPI
    GetGist GetResponse GetSandbox GetStream Giphy Gitea GitGuardian Github Gitlab Gitter Glassnode Glitterly GNews
    Gocanvas GoCardless GoDaddy Gooddata GoodDay Grafana Graph-Hopper GraphCMS GraphHopper Gravatar GreyNoise
    Groovehq GTmetrix Guardian-API Gumroad Gyazo HackerEarth HackerOne Happi-dev HappyScribe Harvest HaveIBeenPwned
    HelloSign Help-Scout HelpCrunch HERE-API HERE-Maps Heroku Hightouch Hiveage HolidayAPI Holistic Honeybadger
    Honeycomb Host.io HTML2PDF Hubspot Hugging-Face Huggingface Humanity Hunter-IO Hunter.io Hybiscus Hypertrack
    Hypixel IBM-Cloud Iconfinder IEX-Cloud IEXapis IFTTT ImageKit Imagga Imgbb Imgur Impala ImprovMX Infermedica
    Influx InfluxDB Infura Insightly Instabot Instagram Instatus Intercom Intrinio Invoiceocean IP-API IP2Location
    IP2Proxy IPData IPFind IPGeolocation IPify IPInfo IPInfoDB IPQuality IPQualityScore IPstack IQAir Jenkins JFrog
    Jina JotForm JSON2Video JSONbin Judge0 Jumpcloud JupiterOne Juro Kaggle Kanbanize KarmaCRM Keen-IO KeenIO
    KickBox Klaviyo Klipfolio Knapsack-Pro KnapsackPro Kontent Kraken KrakenAPI KuCoin Kylas Languagelayer
    LaunchDarkly Leadfeeder Lemlist Lendflow LessAnnoyingCRM Lexigram LinearB LineNotify Linkedin LinkPreview Linode
    LiveAgent LiveStorm LoadMill Lob-API LocationIQ LogDNA Loggly Loginradius LogRocket Logz.io Lokalise Loyverse
    LunchMoney MadKudu Mailboxlayer MailboxValidator Mailchimp Mailerlite MailerSend Mailgun Mailjet Mailmodo
    Mailsac Mailtrap Mandrill Mapbox MapQuest MapTiler Marketstack Mattermost Mavenlink Maxmind Mediastack Meetup
    MeisterTask MercadoPago Mesibo MessageBird Metaapi Metabase MetaCert Metrilo Microcosm Microsoft-Graph
    Mindmeister Mistral Mixmax Mixpanel Mockaroo Mod.io Moderation-API Mojoauth Monday MongoDB Monkeylearn MoonClerk
    Moosend Moralis Mrticktock MusixMatch MyFreshworks MyIntervals Nasdaq Netcore Netlify Neutrino New-Relic
    News-API NewsAPI Newscatcher NewsData Nexmo NextCloud NFTPort Ngrok Nicereply Nimble Nitro-PDF Nomics Notion
    Noun-Project Novu Nozbe NozbeTeams Npmjs Numlookup Numverify Nutritionix Nylas NYTimes OANDA OCR-Space Octopart
    Okta OmniSend OnePageCRM OneSignal OnFleet Onwater OOPSpam OpenAI OpenCage OpenCorporates OpenFIGI OpenGraphr
    OpenPageRank OpenRouter OpenRouteService OpenUV OpenWeather OpenWeatherMap Opsgenie Optimizely Overloop Owlbot
    PackageCloud PaddleAPI Pagar.me PagerDuty PandaDoc PandaScore Paperform ParallelDots Parseur PartnerStack
    Pastebin Paydirt PaydirtApp PaymentsOS Paymo Paymongo Paypal Paystack PDF.co PDFLayer PDFShift Peopledatalabs
    Pepipost Perplexity Petfinder Pexels Phone-Validation Phrase-App Pinata Pinecone Pinterest Pipedream Pipedrive
    Pivotal-Tracker Pixabay Plaid Planetscale Planview PlanyoAPI Plivo Podio Pollsapi Poloniex Polygon-IO Polygon.io
    Positionstack PostageApp Postbacks Posthog Postman Postmark PowrBot Prefect Prismic Privacy-API Prodpad
    Product-Hunt ProductHunt ProspectCRM Protocols.io ProxyCrawl PubNub Pulsedive Pulumi PushBullet Pusher PushOver
    Qase Qualaroo Qualtrics Qubole QuickBase QuickNode Quip Rapid-API RapidAPI Raven-Tools RAWG Razorpay Reachmail
    Readme-IO Rebrandly Recharge Redash Refiner Remove-BG Remove.bg Rentman Reply.io RequestFinance Rescuetime
    Restpack RestpackHTML Rev.ai RevenueCat Rijksmuseum RingCentral RiteKit Roaring Roboflow Rocketreach Rockset
    Rollbar Route4me RunPod Runscope Salesblink Salescookie Salesflare Salesforce Salesloft Samsara SatisMeter
    Saucelabs Scaleway ScrapeNinja Scrapeowl ScraperAPI ScraperBox ScraperSite Scrapestack Scrapfly ScrapingAnt
    ScrapingBee ScrapingDog Screenly Screenshot-API ScreenshotAPI Screenshotlayer Scrutinizer SeatGeek
    SecurityTrails Segment-IO Selectpdf Semaphore Sendbird SendBirdAPI Sendgrid Sendinblue Sendpulse SentryAPI
    SerpAPI Serphouse Serpstack Sheety SherpaDesk ShipDay Shippo Shodan Shopify Short.io Shortcut Shotstack
    Shutterstock Signable SignalWire Signaturit SignUpGenius SigOpt SimFin Simkl Simplesat SimplyNoted Simvoly Sinch
    Skrapp SkyBiometry Slack Smartcar Smartling Smartsheet SmartyStreets SmsAPI Snipcart Snowflake Snyk SocialData
    Socrata SonarCloud SonarQube Songkick SoundCloud Sourcegraph SparkPost Speechtext Splunk Spoonacular SportMonks
    SportRadar Sportsmonk Spotify Square-API Squarespace SslMate StabilityAI StackExchange Stackhawk StatusCake
    Statuspage Statuspal Stitchdata StockData Storecove Storm-Glass Stormboard StormGlass Storyblok Storychief
    Strapi Strava Streak Stripe Stripo Stytch Sugester Sumologic Supabase SuperNotes SurveyAnyplace SurveyBot
    SurveyMonkey SurveySparrow Survicate Swell SwiftType Tailscale Talkdesk Tallyfy Tatum Tavily TaxJar TeamGate
    TeamViewer Teamwork Technical-Analysis Telegram Telesign Teletype Telnyx Textmagic The-Odds-API TheGraph
    TheOddsAPI TheTVDB Thinkific ThousandEyes Ticketmaster TicketTailor Tiingo TimeCamp Timezoneapi Tisane TMDB
    TMetric Todoist Toggl Toggltrack Tokeet Tomba Tomorrow-IO TomorrowIO TomTom Tradier Transferwise TravelPayouts
    Travis-CI Trello TrueNAS Trustpilot Tumblr Twelve-Data TwelveData Twilio Twist Twitch Twitter Tyntec Typeform
    Ubidots uClassify Udemy UnifyID Unplugg Unsplash Untappd UPCDatabase UpCloud Uplead UploadCare Upstash
    Uptime-Robot UptimeRobot Upwave URLScan Userflow Userstack VATlayer VBout Vercel Verifier Verimail Veriphone
    VersionEye Viewneo VirusTotal Visual-Crossing Voicegain Vonage Voodoosms VPNAPI Vultr Vyte WakaTime Walkscore
    Weather-API WeatherAPI Weatherbit Weatherstack Web3-Storage Webex Webflow WebScraper WebScraping Weights-Biases
    Wepay Whatconverts Whoxy Wistia WooCommerce Wordnik Workable Workday Worksnaps Workstack World-Weather
    WorldCoinIndex WorldWeather Wrike Xendit XeroAPI Yandex YelpAPI YNAB YouNeedABudget Yousign Youtube YouTube-API
    Zapier ZapierAPI Zendesk Zenkit Zenrows ZenScrape Zenserp Zeplin Zerobounce ZeroTier Zipbooks ZipCodeAPI
    ZipCodeBase ZipRecruiter Zoho ZohoCRM Zonka Zoomeye
"""
_COMMON: Final = """
    Amazon Apple AWS Base Block Blogger Box Buddy Citi Close Coda Column Copper Courier Daily Ditto Envoy Eraser
    Fixer Flat Front GCP Genius Geocode Ghost Google Harvest Hunter IBM IG Kakao Klarna LastFM Line Linear Lob
    Magnetic Marvel Medium Meta Miro Moderation Mono Moov NASA Naver Novu Nuget Okta Oxford Pocket Polygon Privacy
    Prospect Protocols PUBG PubMed Quip Raven Reddit Reed Render Route Segment Sentry Shippo Sirv Square Steam Swell
    Swiftype Tefter TikTok Tly Trakt Tyk Uber Upwork Vimeo VK Wise Xero Yelp Zen Zoom Zube
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
