"""Ten questions to a dataset with their SQL for DuckDB: shown on the site and in the README of each snapshot."""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Question(Struct, frozen=True):
    """A question, its SQL over the Parquet files of the current folder, and what to know about the answer."""

    name: str
    title: str
    sql: str
    note: str = ""


QUESTIONS: Final = (
    Question(
        "best",
        "Which are the best servers of each ecosystem?",
        """
SELECT ecosystem, ref, score, grade, floor, ceiling
FROM 'scorecards.parquet' JOIN 'servers.parquet' USING (run, server, ecosystem)
WHERE rubric = 'adaptive' AND version = 2 AND score IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY ecosystem ORDER BY score DESC, coverage DESC, server) <= 5
ORDER BY ecosystem, score DESC, coverage DESC, server;
""",
    ),
    Question(
        "grades",
        "How are the grades distributed?",
        """
SELECT coalesce(grade, 'none') AS grade, count(*) AS servers,
       round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS percent
FROM 'scorecards.parquet'
WHERE rubric = 'adaptive' AND version = 2
GROUP BY ALL ORDER BY min(score) DESC NULLS LAST;
""",
        "`none` are servers with too little evidence for a score.",
    ),
    Question(
        "costs",
        "Which rules cost most points?",
        """
WITH part AS (
  SELECT *, base_weight / sum(base_weight) FILTER (not_measured IS DISTINCT FROM 'not_applicable')
            OVER (PARTITION BY run, server, rubric, version, dimension) AS share
  FROM 'dimension_scores.parquet' WHERE component IS NOT NULL
)
SELECT rule, count(DISTINCT server) AS servers,
       round(sum(-line.points * share * whole.effective_weight * 10), 2) AS points
FROM 'lines.parquet' AS line
JOIN part USING (run, server, rubric, version, dimension, component)
JOIN 'dimension_scores.parquet' AS whole USING (run, server, rubric, version, dimension)
WHERE rubric = 'adaptive' AND version = 2 AND whole.component IS NULL AND line.points < 0 AND rule IS NOT NULL
GROUP BY rule ORDER BY points DESC, rule LIMIT 20;
""",
        "A line costs points of 10 in its component. They count by the weight of the component in its dimension, "
        "without those that do not apply, and by the weight of the dimension. Caps are left out.",
    ),
    Question(
        "moved",
        "Which scores moved between two runs?",
        """
SELECT new.server, old.run AS before, new.run AS after, old.score AS old_score, new.score AS new_score,
       new.score - old.score AS points
FROM '../*/scorecards.parquet' AS old
JOIN '../*/scorecards.parquet' AS new USING (server, rubric, version)
WHERE rubric = 'adaptive' AND version = 2 AND old.as_of < new.as_of AND old.score <> new.score
ORDER BY abs(new.score - old.score) DESC, new.server, old.as_of, new.as_of;
""",
        "Unpack both archives side by side. `hallmark diff` also names the causes.",
    ),
    Question(
        "unmeasured",
        "How much of each dimension could not be measured, and why?",
        """
SELECT dimension, round(sum(base_weight) FILTER (result IS NULL) / sum(base_weight), 3) AS not_measured,
       mode(not_measured ORDER BY not_measured) AS most_frequent_reason
FROM 'dimension_scores.parquet'
WHERE rubric = 'adaptive' AND version = 2 AND component IS NOT NULL
GROUP BY dimension ORDER BY not_measured DESC NULLS LAST, dimension;
""",
        "The share is of the weight of the components.",
    ),
    Question(
        "advisories",
        "Which servers are built from packages with published advisories?",
        """
SELECT ref, package_version, advisories, advisories_worst
FROM 'servers.parquet'
WHERE advisories > 0
ORDER BY list_position(['critical', 'high', 'medium', 'low'], advisories_worst), advisories DESC, ref;
""",
        "No row is no proof: `advisories` has no value where nothing was compared.",
    ),
    Question(
        "tokens",
        "How many tools do servers list, and how many tokens do they cost?",
        """
SELECT ecosystem, count(*) AS servers, median(tools) AS tools, max(tools) AS most_tools,
       median(tool_tokens) AS tokens, max(tool_tokens) AS most_tokens
FROM 'servers.parquet'
WHERE tools IS NOT NULL
GROUP BY ecosystem ORDER BY ecosystem;
""",
    ),
    Question(
        "locked",
        "How many servers list their tools without credentials?",
        """
SELECT ecosystem,
       count(*) FILTER (state <> 'not_testable') AS open,
       count(*) FILTER (reason IN ('oauth_required', 'credentials_required', 'payment_required')) AS locked,
       count(*) - open - locked AS unknown
FROM 'servers.parquet'
GROUP BY ecosystem ORDER BY ecosystem;
""",
    ),
    Question(
        "methodologies",
        "On which servers do the five methodologies differ most?",
        """
SELECT ref,
       max(score) FILTER (rubric = 'adaptive') AS adaptive,
       max(score) FILTER (rubric = 'enterprise') AS enterprise,
       max(score) FILTER (rubric = 'lint') AS lint,
       max(score) FILTER (rubric = 'sdk_tier') AS sdk_tier,
       max(score) FILTER (rubric = 'tool_design') AS tool_design,
       max(score) - min(score) AS spread
FROM (
  FROM 'scorecards.parquet'
  QUALIFY version = max(version) OVER (PARTITION BY rubric)
) JOIN 'servers.parquet' USING (run, server, ecosystem)
GROUP BY server, ref HAVING count(score) > 1
ORDER BY spread DESC, server LIMIT 20;
""",
    ),
    Question(
        "stale",
        "Which servers with a grade had no commit for a year?",
        """
SELECT ref, grade, score, repository_last_commit::DATE AS last_commit
FROM 'servers.parquet' JOIN 'scorecards.parquet' USING (run, server, ecosystem)
WHERE rubric = 'adaptive' AND version = 2 AND grade IS NOT NULL
  AND repository_last_commit < as_of - INTERVAL 1 YEAR
ORDER BY score DESC, ref;
""",
    ),
)


def render_questions() -> str:
    """The Markdown of all questions."""
    return "\n".join(_section(question) for question in QUESTIONS)


def _section(question: Question) -> str:
    note = f"\n{question.note}\n" if question.note else ""
    return f"### {question.title}\n{note}\n```sql\n{question.sql.strip()}\n```\n"
