"""Names that imitations are compared with: well-known MCP packages, and accounts that publish well-known servers.

The list is public so that anybody can dispute it. It names what many users install by hand: the packages of
`bench/packages.json`, reference servers, SDKs and common tools. A scope of npm belongs to one account, so every package
in one of these scopes is the publisher's own.
"""

from __future__ import annotations

from typing import Final

NPM: Final = frozenset(
    {
        "@21st-dev/magic", "@agentdeskai/browser-tools-mcp", "@antv/mcp-server-chart", "@apify/actors-mcp-server",
        "@azure/mcp", "@benborla29/mcp-server-mysql", "@brave/brave-search-mcp-server",
        "@browserbasehq/mcp-server-browserbase", "@browsermcp/mcp", "@circleci/mcp-server-circleci",
        "@cloudflare/mcp-server-cloudflare", "@elastic/mcp-server-elasticsearch", "@eslint/mcp",
        "@executeautomation/playwright-mcp-server", "@gongrzhe/server-gmail-autoauth-mcp", "@heroku/mcp-server",
        "@hubspot/mcp-server", "@mapbox/mcp-server", "@mobilenext/mobile-mcp", "@modelcontextprotocol/inspector",
        "@modelcontextprotocol/sdk", "@modelcontextprotocol/server-aws-kb-retrieval",
        "@modelcontextprotocol/server-brave-search", "@modelcontextprotocol/server-everart",
        "@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-filesystem",
        "@modelcontextprotocol/server-gdrive", "@modelcontextprotocol/server-github",
        "@modelcontextprotocol/server-gitlab", "@modelcontextprotocol/server-google-maps",
        "@modelcontextprotocol/server-memory", "@modelcontextprotocol/server-postgres",
        "@modelcontextprotocol/server-puppeteer", "@modelcontextprotocol/server-redis",
        "@modelcontextprotocol/server-sequential-thinking", "@modelcontextprotocol/server-slack",
        "@notionhq/notion-mcp-server", "@openbnb/mcp-server-airbnb", "@perplexity-ai/mcp-server",
        "@pinecone-database/mcp", "@playwright/mcp", "@sentry/mcp-server", "@shopify/dev-mcp", "@smithery/cli",
        "@stripe/mcp", "@supabase/mcp-server-supabase", "@sveltejs/mcp", "@upstash/context7-mcp",
        "@wonderwhy-er/desktop-commander", "airtable-mcp-server", "chrome-devtools-mcp", "exa-mcp-server", "fastmcp",
        "figma-developer-mcp", "firecrawl-mcp", "mcp-framework", "mcp-proxy", "mcp-remote", "mcp-server-kubernetes",
        "mongodb-mcp-server", "next-devtools-mcp", "supergateway", "tavily-mcp",
    }
)  # fmt: skip

PYPI: Final = frozenset(
    {
        "arxiv-mcp-server", "awslabs-aws-documentation-mcp-server", "awslabs-cdk-mcp-server", "awslabs-core-mcp-server",
        "awslabs-dynamodb-mcp-server", "basic-memory", "blender-mcp", "chroma-mcp", "dbt-mcp", "duckduckgo-mcp-server",
        "elevenlabs-mcp", "excel-mcp-server", "fastmcp", "kagimcp", "keboola-mcp-server", "logfire-mcp",
        "markitdown-mcp", "mcp", "mcp-atlassian", "mcp-clickhouse", "mcp-google-sheets", "mcp-neo4j-cypher",
        "mcp-outline", "mcp-proxy", "mcp-server-bigquery", "mcp-server-calculator", "mcp-server-docker",
        "mcp-server-fetch", "mcp-server-git", "mcp-server-motherduck", "mcp-server-qdrant", "mcp-server-sqlite",
        "mcp-server-time", "mcp-tinybird", "meilisearch-mcp", "minimax-mcp", "mysql-mcp-server",
        "office-powerpoint-mcp-server", "office-word-mcp-server", "oxylabs-mcp", "postgres-mcp", "redis-mcp-server",
        "semgrep-mcp", "serena-agent", "wikipedia-mcp",
    }
)  # fmt: skip
"""Normalised as PEP 503 says."""

ACCOUNTS: Final = frozenset(
    {
        "anthropics", "atlassian", "browserbase", "chroma-core", "circleci", "cloudflare", "elevenlabs", "firecrawl",
        "grafana", "hashicorp", "makenotion", "microsoft", "modelcontextprotocol", "mongodb-js", "openbnb-org",
        "perplexityai", "pinecone-io", "qdrant", "sentry", "shopify", "stripe", "supabase", "supabase-community",
        "tavily-ai", "upstash", "awslabs", "github", "googleapis", "playwright",
    }
)  # fmt: skip
"""Accounts of GitHub, and words of domains, under which registries list well-known servers."""

HONEST_ACCOUNTS: Final = frozenset({"eleven-labs", "tavilyai"})
"""Accounts that resemble a well-known one and are honest: another company, or the same publisher elsewhere."""
