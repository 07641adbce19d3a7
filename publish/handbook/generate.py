"""The handbook: pages about rules, rubrics and evidence, and the published schemas, written from their declarations.

python -m publish.handbook.generate --write docs    writes docs/rules, rubrics, evidence, schemas and guide/api.md
python -m publish.handbook.generate --check docs    exit status 1 when they are not what would be written
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Final

from publish.api.guide import make_openapi_document, render_guide
from publish.datasets.format.tables import NOT_COMPARABLE, render_reference
from publish.formats.csv_columns import render_column_reference
from publish.handbook.check_pages import render_check_page
from publish.handbook.evidence_pages import render_evidence_pages
from publish.scan_reports.schema import SCAN_SCHEMA
from publish.text.markup import describe_family
from publish.text.snippets import render_snippet
from publish.views.rubrics import describe_parameters, format_value, render_rubric_page
from scoring.engine import catalogue
from scoring.engine.rubric import Criterion
from scoring.engine.rule import Rule
from scoring.explain import list_citations
from scoring.rule_snippets import make_snippet

FOLDERS: Final = ("rules", "rubrics", "evidence", "schemas")

_GENERATED: Final = "<!-- Written by `make docs` from the declarations in %s. Do not edit. -->"


def render_pages() -> dict[str, str]:
    rules = sorted(catalogue.list_rules(), key=lambda rule: (rule.family, rule.id))
    families = {family: list(members) for family, members in groupby(rules, key=lambda rule: rule.family)}
    rubrics = {name: list(members) for name, members in groupby(catalogue.list_rubrics(), key=lambda rubric: rubric.id)}
    return {
        "rules/README.md": _page(_rules_index(families)),
        "rules/checks.md": _page(render_check_page()),
        **{f"rules/{family}.md": _page(_family(family, members)) for family, members in families.items()},
        "rubrics/README.md": _page(_rubrics_index()),
        **{f"rubrics/{name}.md": _page(render_rubric_page(members)) for name, members in rubrics.items()},
        **{f"evidence/{name}": _page(lines, "evidence/ and scoring/") for name, lines in render_evidence_pages()},
        "guide/api.md": _page(render_guide(), "publish/api/"),
        "schemas/dataset.md": _page(_dataset_columns(), "publish/"),
        "schemas/scan.json": json.dumps(SCAN_SCHEMA, indent=2) + "\n",
        "schemas/openapi.json": json.dumps(make_openapi_document(), indent=2) + "\n",
    }


def write_pages(folder: Path) -> None:
    """Write every page below a folder and remove generated pages that no longer exist."""
    for path in _stale(folder):
        path.unlink()
    for name, text in render_pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def find_stale_pages(folder: Path) -> list[str]:
    """Paths below a folder that are missing, stale or not what would be written; [] when all is well."""
    wrong = [name for name, text in render_pages().items() if not _holds(folder / name, text)]
    return sorted([*wrong, *(path.relative_to(folder).as_posix() for path in _stale(folder))])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m publish.handbook.generate", description=__doc__)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", type=Path, metavar="DOCS")
    action.add_argument("--check", type=Path, metavar="DOCS")
    options = parser.parse_args()
    if options.write:
        write_pages(options.write)
        return 0
    wrong = find_stale_pages(options.check)
    for name in wrong:
        sys.stderr.write(f"{options.check / name} is not what the declarations say; run `make docs`\n")
    return 1 if wrong else 0


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def _stale(folder: Path) -> list[Path]:
    known = {folder / name for name in render_pages()}
    return [path for name in FOLDERS for path in sorted((folder / name).glob("*.*")) if path not in known]


def _page(lines: Iterator[str], source: str = "scoring/") -> str:
    return "\n".join([_GENERATED % source, "", *lines]).rstrip() + "\n"


def _dataset_columns() -> Iterator[str]:
    yield from ("# Columns of the dataset", "")
    yield from ("How a dataset is made and verified is described in `docs/guide/dataset.md`.", "")
    yield from ("## Tables of a snapshot", "", f"{NOT_COMPARABLE} Not in the comparable form.", "", render_reference())
    yield from ("## Short form as CSV", "", render_column_reference())


def _rules_index(families: Mapping[str, list[Rule]]) -> Iterator[str]:
    yield from ("# Rules", "")
    yield f"{sum(map(len, families.values()))} rules in {len(families)} families. A rule checks for one fault;"
    yield "[rubrics](../rubrics/README.md) decide how many points it costs. Those about the protocol make the"
    yield "[checks](checks.md) of its table."
    for family, members in families.items():
        yield from ("", f"## [{family}]({family}.md)", "", describe_family(family), "")
        yield from ("| rule | judges | what is wrong |", "|---|---|---|")
        yield from (
            f"| [`{rule.id}`]({family}.md#{rule.id}) | {rule.scope.__name__} | {rule.title} |" for rule in members
        )


def _family(family: str, members: list[Rule]) -> Iterator[str]:
    yield from (f"# Rules: {family}", "", describe_family(family))
    for rule in members:
        yield from (
            "",
            f"## {rule.id}",
            "",
            f"**{rule.title}.** {rule.rationale}",
            "",
            f"**How to fix it.** {rule.remedy}",
            "",
        )
        if snippet := make_snippet(rule):
            yield from (render_snippet(snippet), "")
        yield from _facts(rule)


def _facts(rule: Rule) -> Iterator[str]:
    yield f"- Judges each {rule.scope.__name__}, reads the `{rule.reads}` evidence."
    yield f"- Severity {rule.severity.value}, version {rule.version}, since {rule.since}."
    if rule.params:
        yield (
            "- Parameters: "
            + ", ".join(f"`{name}` = {format_value(value)}" for name, value in rule.params.items())
            + "."
        )
    for check in rule.checks:
        page = f" ([specification]({check.link}))" if check.link else ""
        yield f"- Check {check.id}: {check.level.value} in revisions {check.revisions}{page}."
    if rule.level and not rule.checks:
        yield f"- Requirement: {rule.level.value} ([specification]({rule.spec}))."
    elif rule.spec:
        yield f"- Background: [specification]({rule.spec})."
    for rubric, criterion in list_citations(rule):
        yield f"- Cited by [{rubric.name}](../rubrics/{rubric.id}.md){_price(criterion)}."
    yield f"- Dispute or detail: the examples that must pass and fail are in `{rule.module.replace('.', '/')}.py`."


def _rubrics_index() -> Iterator[str]:
    yield from ("# Methodologies", "")
    yield from ("| methodology | published as | in short |", "|---|---|---|")
    for rubric in catalogue.list_rubrics():
        default = " (default)" if rubric.default else ""
        source = f"[{rubric.title}]({rubric.source}) {rubric.source_version}"
        yield f"| [`{rubric.name}`]({rubric.id}.md){default} | {source} | {rubric.summary} |"


def _price(criterion: Criterion) -> str:
    alias = f" as `{criterion.cites}`" if criterion.cites != criterion.rule else ""
    params = describe_parameters(criterion)
    points = f", {criterion.points} points a finding" if criterion.points else ""
    return f"{alias}{points}{' with ' + params if params else ''}"


if __name__ == "__main__":
    raise SystemExit(main())
