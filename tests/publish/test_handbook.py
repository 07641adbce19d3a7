"""The committed pages about rules and rubrics are what the declarations say."""

from __future__ import annotations

import re
from pathlib import Path

from publish import handbook
from scoring import catalogue

DOCS = Path(__file__).parents[2] / "docs"


def test_the_committed_handbook_is_the_generated_one() -> None:
    assert handbook.differences(DOCS) == [], "run `make docs`"


def test_every_rule_and_rubric_has_a_place() -> None:
    text = "\n".join(handbook.pages().values())
    for rule in catalogue.rules():
        assert f"\n## {rule.id}\n" in text
    for rubric in catalogue.rubrics():
        assert f"\n## {rubric.name}\n" in text
        for criterion in rubric.criteria:
            assert criterion.cites in handbook.pages()[f"rubrics/{rubric.id}.md"]


def test_every_link_between_pages_leads_somewhere() -> None:
    pages = handbook.pages()
    for name, text in pages.items():
        for target in re.findall(r"\]\(((?!https?:)[^)]+)\)", text):
            path, _, anchor = target.partition("#")
            page = (Path(name).parent / path).as_posix().replace("rules/../", "").replace("rubrics/../", "")
            assert page in pages, f"{name} links to {target}"
            assert not anchor or f"\n## {anchor}\n" in pages[page]


def test_changed_missing_and_stale_pages_are_noticed(tmp_path: Path) -> None:
    handbook.write(tmp_path)
    assert handbook.differences(tmp_path) == []
    (tmp_path / "rubrics" / "lint.md").write_text("edited")
    (tmp_path / "rules" / "naming.md").unlink()
    (tmp_path / "rules" / "gone.md").write_text("stale")
    assert handbook.differences(tmp_path) == ["rubrics/lint.md", "rules/gone.md", "rules/naming.md"]
    handbook.write(tmp_path)
    assert handbook.differences(tmp_path) == []
