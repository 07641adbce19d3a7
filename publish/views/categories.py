"""Categories of servers by purpose, from the words of their names, their line of purpose, and their tools.

Each category has a published list of words, which match with or without a plural `s`. A word counts once, in the field
that weighs most. Words that only tools have count for at most `MAX_TOOL_POINTS` in a category, so that a long list of
tools does not outweigh what the server says of itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from evidence.store.listing.search_words import list_distinct_words

NAME_POINTS: Final = 3
PURPOSE_POINTS: Final = 2
TOOL_POINTS: Final = 1
"""Points of a word of a category by the field that has it."""

MAX_TOOL_POINTS: Final = 4
"""Points of one category from words that only tools have."""

MIN_POINTS: Final = 2
MIN_SHARE: Final = 0.6
"""A category needs these points, and this share of the points of the best category."""

MAX_CATEGORIES: Final = 2

MAX_WORDS: Final = 200
"""Distinct words of each field that are read."""


class Category(Struct, frozen=True):
    """A category: its id for addresses, its title, and its words, which match with or without a plural `s`."""

    id: str
    title: str
    words: tuple[str, ...]


def _category(name: str, title: str, words: str) -> Category:
    return Category(name, title, tuple(words.split()))


CATEGORIES: Final = (
    _category(
        "databases",
        "Databases",
        "database sql nosql postgres postgresql mysql mariadb sqlite mongodb redis valkey dynamodb opensearch"
        " elasticsearch clickhouse snowflake bigquery duckdb neo4j cypher neptune supabase neon singlestore oracle"
        " timeseries influxdb cassandra couchbase airtable documentdb rds aurora elasticache memcached milvus qdrant"
        " pinecone chroma weaviate prisma tidb cockroachdb table",
    ),
    _category(
        "browsers",
        "Browsers and web pages",
        "browser scrape scraper scraping crawl crawler crawling puppeteer playwright selenium chrome chromium webpage"
        " screenshot html firecrawl apify browserbase fetch fetching markdown website",
    ),
    _category(
        "search",
        "Search and news",
        "search searching brave tavily exa kagi duckduckgo perplexity serp serpapi bing news headline rss feed"
        " wikipedia searxng internet",
    ),
    _category(
        "code",
        "Source code",
        "git github gitlab bitbucket gitea repository repositories commit branch branches pull merge codebase code"
        " coding refactor refactoring semgrep sonarqube ast programming snippet",
    ),
    _category(
        "development",
        "Software development",
        "developer development openapi swagger postman debug debugger debugging profiling test testing ide jetbrains"
        " xcode vscode documentation docs library libraries framework compiler ci build buildkite circleci"
        " jenkins npm pypi maven nuget dependency dependencies storybook devtools figma",
    ),
    _category(
        "cloud",
        "Cloud and infrastructure",
        "cloud aws amazon azure gcp kubernetes kubectl helm docker container terraform pulumi ansible serverless lambda"
        " cloudflare vercel netlify heroku deploy deployment infrastructure eks ecs aks devops iam s3 vm vps hosting"
        " dns domain ssh proxmox",
    ),
    _category(
        "monitoring",
        "Monitoring and incidents",
        "monitoring observability metric alert alerting incident grafana prometheus datadog sentry pagerduty newrelic"
        " dynatrace victoriametrics cloudwatch opentelemetry trace tracing log logging uptime logfire",
    ),
    _category(
        "security",
        "Security",
        "security vulnerability vulnerabilities cve threat malware pentest siem exploit osint phishing vault compliance"
        " shodan virustotal snyk nmap firewall okta authentication encryption forensics",
    ),
    _category(
        "messages",
        "Mail and messages",
        "email mail gmail outlook imap smtp slack discord telegram whatsapp sms message messaging chat channel twilio"
        " notification ntfy teams matrix mattermost sendgrid resend voice call phone telephony",
    ),
    _category(
        "productivity",
        "Tasks, notes and calendars",
        "task todo calendar note notion obsidian jira confluence trello asana linear monday clickup todoist project"
        " meeting reminder schedule scheduling productivity workspace evernote workflow zapier n8n automation",
    ),
    _category(
        "documents",
        "Files and documents",
        "file filesystem directory directories folder document pdf excel spreadsheet workbook worksheet csv docx word"
        " powerpoint slides ocr drive dropbox box sharepoint onedrive json xml latex pandoc",
    ),
    _category(
        "knowledge",
        "Memory and reasoning",
        "memory memories remember knowledge ontology graph rag embedding vector retrieval reasoning thinking thought"
        " recall semantic sequential",
    ),
    _category(
        "models",
        "Language models",
        "openai chatgpt gemini deepseek ollama huggingface replicate inference prompt bedrock mistral langchain"
        " finetuning",
    ),
    _category(
        "media",
        "Images, sound and design",
        "image photo picture video audio music podcast speech tts transcription transcribe youtube spotify diagram"
        " mermaid design drawing sketch sketches canvas blender 3d render animation ableton midi flux comfyui icon"
        " chart visualization",
    ),
    _category(
        "finance",
        "Finance and payments",
        "finance financial stock trading trade crypto cryptocurrency cryptocurrencies bitcoin ethereum solana"
        " blockchain wallet token defi nft payment stripe paypal invoice invoicing accounting bank banking market"
        " portfolio tax taxes billing coin xero quickbooks usdc",
    ),
    _category(
        "business",
        "Sales, marketing and shops",
        "crm hubspot salesforce sales marketing lead customer contact shop shopify ecommerce commerce order advertising"
        " ads campaign seo cms wordpress webflow woocommerce intercom zendesk helpdesk recruiting hr job linkedin"
        " business",
    ),
    _category(
        "data",
        "Data and analytics",
        "data dataset analytics analysis statistics statistical dashboard metabase tableau powerbi pandas jupyter"
        " notebook etl dbt databricks spark kafka airflow warehouse lakehouse opendata census",
    ),
    _category(
        "science",
        "Science, health and education",
        "paper arxiv pubmed scholar scholarly academic research science scientific biology chemistry physics genomics"
        " protein medical health healthcare clinical patient fhir drug math mathematics wolfram education course"
        " student citation",
    ),
    _category(
        "places",
        "Maps, travel and weather",
        "map geocode geocoding geospatial gis location route directions travel flight hotel booking trip itinerary"
        " weather forecast climate restaurant airbnb transit train navigation elevation tourism",
    ),
    _category(
        "devices",
        "Devices, desktops and games",
        "iot device sensor homeassistant hass arduino esp32 robot ros mqtt android ios iphone emulator desktop windows"
        " macos terminal shell command unity unreal game gaming minecraft godot roblox chess steam printer mobile",
    ),
    _category(
        "time",
        "Time and calculation",
        "time timezone clock date calculator calculate arithmetic convert conversion unit currency currencies random"
        " uuid hash",
    ),
)

OTHER: Final = Category("other", "Other", ())
"""The category of servers whose words fit none."""

ALL_CATEGORIES: Final = (*CATEGORIES, OTHER)


def find_categories(names: Iterable[str], purpose: str, tools: Iterable[str]) -> tuple[str, ...]:
    """The ids of one or two categories by the texts of a server, the best first; `other` if none fits."""
    points: Counter[str] = Counter()
    counted: set[tuple[str, str]] = set()
    for weight, texts in ((NAME_POINTS, names), (PURPOSE_POINTS, [purpose])):
        new = set(_list_matches(texts)) - counted
        counted |= new
        points.update({category: weight * many for category, many in Counter(one for one, _ in new).items()})
    only_tools = Counter(category for category, _ in set(_list_matches(tools)) - counted)
    points.update({category: min(TOOL_POINTS * many, MAX_TOOL_POINTS) for category, many in only_tools.items()})
    return _choose(points)


def find_category(name: str) -> Category | None:
    """The category with an id; None for an unknown one."""
    return next((one for one in ALL_CATEGORIES if one.id == name), None)


def _list_matches(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each category that has one of the words, with the word as it stands in the category."""
    known = _categories_by_form()
    for word in list_distinct_words(texts, MAX_WORDS):
        yield from known.get(word, ())


def _choose(points: Mapping[str, int]) -> tuple[str, ...]:
    most = max(points.values(), default=0)
    if most < MIN_POINTS:
        return (OTHER.id,)
    order = {one.id: place for place, one in enumerate(CATEGORIES)}
    enough = [one for one, found in points.items() if found >= max(MIN_POINTS, MIN_SHARE * most)]
    return tuple(sorted(enough, key=lambda one: (-points[one], order[one]))[:MAX_CATEGORIES])


@cache
def _categories_by_form() -> Mapping[str, Sequence[tuple[str, str]]]:
    """For each word and its plural, the categories that have it."""
    found: dict[str, list[tuple[str, str]]] = {}
    for category in CATEGORIES:
        for word in category.words:
            for form in (word, f"{word}s"):
                found.setdefault(form, []).append((category.id, word))
    return found
