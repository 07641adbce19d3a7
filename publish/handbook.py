"""The handbook: pages about rules, rubrics and evidence, and the published schemas, written from their declarations.

python -m publish.handbook --write docs    writes docs/rules, rubrics, evidence, schemas and guide/api.md
python -m publish.handbook --check docs    exit status 1 when they are not what would be written
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Final

from publish.api.guide import document, guide
from publish.check_pages import check_page
from publish.columns import column_reference
from publish.datasets.tables import reference
from publish.declared_text import about_family
from publish.evidence_pages import evidence_pages
from publish.rubric_pages import parameters, rubric_page, value_text
from publish.scan_schema import SCHEMA
from scoring import catalogue
from scoring.explain import citations
from scoring.rubric import Criterion
from scoring.rule import Rule

FOLDERS: Final = ("rules", "rubrics", "evidence", "schemas")

_GENERATED: Final = "<!-- Written by `make docs` from the declarations in %s. Do not edit. -->"


def pages() -> dict[str, str]:
    """Every page by its path below docs/."""
    rules = sorted(catalogue.rules(), key=lambda rule: (rule.family, rule.id))
    families = {family: list(members) for family, members in groupby(rules, key=lambda rule: rule.family)}
    rubrics = {name: list(members) for name, members in groupby(catalogue.rubrics(), key=lambda rubric: rubric.id)}
    return {
        "rules/README.md": _page(_rules_index(families)),
        "rules/checks.md": _page(check_page()),
        **{f"rules/{family}.md": _page(_family(family, members)) for family, members in families.items()},
        "rubrics/README.md": _page(_rubrics_index()),
        **{f"rubrics/{name}.md": _page(rubric_page(members)) for name, members in rubrics.items()},
        **{f"evidence/{name}": _page(lines, "evidence/ and scoring/") for name, lines in evidence_pages()},
        "guide/api.md": _page(guide(), "publish/api/"),
        "schemas/dataset.md": _page(_dataset_columns(), "publish/"),
        "schemas/scan.json": json.dumps(SCHEMA, indent=2) + "\n",
        "schemas/openapi.json": json.dumps(document(), indent=2) + "\n",
    }


def write(folder: Path) -> None:
    """Write every page below a folder and remove generated pages that no longer exist."""
    for path in _stale(folder):
        path.unlink()
    for name, text in pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def differences(folder: Path) -> list[str]:
    """Paths below a folder that are missing, stale or not what would be written; [] when all is well."""
    wrong = [name for name, text in pages().items() if not _holds(folder / name, text)]
    return sorted([*wrong, *(path.relative_to(folder).as_posix() for path in _stale(folder))])


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m publish.handbook", description=__doc__)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", type=Path, metavar="DOCS")
    action.add_argument("--check", type=Path, metavar="DOCS")
    options = parser.parse_args()
    if options.write:
        write(options.write)
        return 0
    wrong = differences(options.check)
    for name in wrong:
        sys.stderr.write(f"{options.check / name} is not what the declarations say; run `make docs`\n")
    return 1 if wrong else 0


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def _stale(folder: Path) -> list[Path]:
    known = {folder / name for name in pages()}
    return [path for name in FOLDERS for path in sorted((folder / name).glob("*.*")) if path not in known]


def _page(lines: Iterator[str], source: str = "scoring/") -> str:
    return "\n".join([_GENERATED % source, "", *lines]).rstrip() + "\n"


def _dataset_columns() -> Iterator[str]:
    yield from ("# Columns of the dataset", "")
    yield from ("How a dataset is made and verified is described in `docs/guide/dataset.md`.", "")
    yield from ("## Tables of a snapshot", "", reference())
    yield from ("## Short form as CSV", "", column_reference())


def _rules_index(families: Mapping[str, list[Rule]]) -> Iterator[str]:
    yield from ("# Rules", "")
    yield f"{sum(map(len, families.values()))} rules in {len(families)} families. A rule asks one question;"
    yield "[rubrics](../rubrics/README.md) decide what the answer costs. Those about the protocol answer the"
    yield "[checks](checks.md) of its table."
    for family, members in families.items():
        yield from ("", f"## [{family}]({family}.md)", "", about_family(family), "")
        yield from ("| rule | asks about | what is wrong |", "|---|---|---|")
        yield from (
            f"| [`{rule.id}`]({family}.md#{rule.id}) | {rule.scope.__name__} | {rule.title} |" for rule in members
        )


def _family(family: str, members: list[Rule]) -> Iterator[str]:
    yield from (f"# Rules: {family}", "", about_family(family))
    for rule in members:
        yield from ("", f"## {rule.id}", "", f"**{rule.title}.** {rule.rationale}", "")
        yield from _facts(rule)


def _facts(rule: Rule) -> Iterator[str]:
    yield f"- Asks about each {rule.scope.__name__}, reads the `{rule.reads}` evidence."
    yield f"- Severity {rule.severity.value}, version {rule.version}, since {rule.since}."
    if rule.params:
        yield (
            "- Parameters: " + ", ".join(f"`{name}` = {value_text(value)}" for name, value in rule.params.items()) + "."
        )
    for check in rule.checks:
        page = f" ([specification]({check.link}))" if check.link else ""
        yield f"- Check {check.id}: {check.level.value} in revisions {check.revisions}{page}."
    if rule.level and not rule.checks:
        yield f"- Requirement: {rule.level.value} ([specification]({rule.spec}))."
    elif rule.spec:
        yield f"- Background: [specification]({rule.spec})."
    for rubric, criterion in citations(rule):
        yield f"- Cited by [{rubric.name}](../rubrics/{rubric.id}.md){_price(criterion)}."
    yield f"- Dispute or detail: the examples that must pass and fail are in `{rule.module.replace('.', '/')}.py`."


def _rubrics_index() -> Iterator[str]:
    yield from ("# Methodologies", "")
    yield from ("| methodology | published as | in short |", "|---|---|---|")
    for rubric in catalogue.rubrics():
        default = " (default)" if rubric.default else ""
        source = f"[{rubric.title}]({rubric.source}) {rubric.source_version}"
        yield f"| [`{rubric.name}`]({rubric.id}.md){default} | {source} | {rubric.summary} |"


def _price(criterion: Criterion) -> str:
    alias = f" as `{criterion.cites}`" if criterion.cites != criterion.rule else ""
    params = parameters(criterion)
    points = f", {criterion.points} points a finding" if criterion.points else ""
    return f"{alias}{points}{' with ' + params if params else ''}"


if __name__ == "__main__":
    raise SystemExit(main())
