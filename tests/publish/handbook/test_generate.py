"""The committed pages about rules and rubrics are what the declarations say."""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path

from msgspec.structs import replace

from evidence.kinds import alerts, behaviour
from evidence.kinds.traits import schemas
from publish.handbook import generate
from publish.scan_reports.schema import SCAN_SCHEMA
from publish.text.snippets import render_snippet
from publish.views.rubrics import describe_changes
from scoring.engine import catalogue
from scoring.rule_snippets import make_snippet

DOCS = Path(__file__).parents[3] / "docs"


def test_the_committed_handbook_is_the_generated_one() -> None:
    assert generate.find_stale_pages(DOCS) == [], "run `make docs`"


def test_every_rule_and_rubric_has_a_place() -> None:
    pages = generate.render_pages()
    text = "\n".join(pages.values())
    for rule in catalogue.list_rules():
        assert f"\n## {rule.id}\n" in text
        snippet = make_snippet(rule)
        assert snippet is None or render_snippet(snippet) in text
    for rubric in catalogue.list_rubrics():
        assert f"\n## {rubric.name}\n" in text
        for criterion in rubric.criteria:
            assert criterion.cites in pages[f"rubrics/{rubric.id}.md"]


def test_every_link_between_pages_leads_somewhere() -> None:
    pages = generate.render_pages()
    for name, text in pages.items():
        for target in re.findall(r"\]\(((?!https?:)[^)]+)\)", text):
            path, _, anchor = target.partition("#")
            page = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            assert page in pages, f"{name} links to {target}"
            assert not anchor or f"\n## {anchor}\n" in pages[page].replace("@", "")


def test_every_kind_of_evidence_has_a_page() -> None:
    pages = generate.render_pages()
    for kind, schema in schemas().items():
        assert f"\nSchema {schema}, " in pages[f"evidence/{kind}.md"]
        # What only owners can read must not make a score depend on who asks; and no methodology knows what was tried.
        unjudged = kind in {alerts.KIND, behaviour.KIND}
        assert ("](../rules/" in pages[f"evidence/{kind}.md"]) != unjudged


def test_a_rubric_page_tells_formula_weights_bands_and_history() -> None:
    lint = generate.render_pages()["rubrics/lint.md"]
    assert "### Formula" in lint
    assert "| A | 90 |" in lint
    assert "first version" in lint
    adaptive = generate.render_pages()["rubrics/adaptive.md"]
    assert "score = 10 x (25 x reliability + 25 x security + 15 x setup" in adaptive


def test_the_history_names_what_two_versions_charge_differently() -> None:
    lint = catalogue.get_rubric("lint@1")
    first, second, *rest = lint.criteria
    stricter = replace(second, points=second.points + 1)
    later = replace(lint, version=2, criteria=(stricter, *rest, replace(first, cites="brand-new")), bands=())
    changes = "; ".join(describe_changes(lint, later))
    assert changes.startswith(f"added: brand-new; removed: {first.cites}; changed: {second.cites}; other grades")
    assert "added" not in "; ".join(describe_changes(lint, lint))


def test_the_published_schema_is_the_one_that_tests_check() -> None:
    assert json.loads((DOCS / "schemas" / "scan.json").read_text()) == json.loads(json.dumps(SCAN_SCHEMA))


def test_changed_missing_and_stale_pages_are_noticed(tmp_path: Path) -> None:
    generate.write_pages(tmp_path)
    assert generate.find_stale_pages(tmp_path) == []
    (tmp_path / "rubrics" / "lint.md").write_text("edited")
    (tmp_path / "rules" / "naming.md").unlink()
    (tmp_path / "rules" / "gone.md").write_text("stale")
    assert generate.find_stale_pages(tmp_path) == ["rubrics/lint.md", "rules/gone.md", "rules/naming.md"]
    generate.write_pages(tmp_path)
    assert generate.find_stale_pages(tmp_path) == []
