"""Rules of the documents: decisions are short, listed and exist where they are cited; documents stay within bounds."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
DECISIONS = DOCS / "decisions"
SECTIONS = ["Status", "Context", "Decision", "Consequences"]
WORDS_OF_A_DECISION = 450
WORDS_OF_ALL_DECISIONS = 20_000
WORDS_OF_ALL_DOCUMENTS = 60_000
CITATION = re.compile(r"decisions?[/ ](\d{4})", re.IGNORECASE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
TEXT = {".py", ".md", ".toml", ".yaml", ".yml", ".j2", ".css", ".sh", ".service", ".target", ".sql", ""}


@cache
def _tracked() -> tuple[Path, ...]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if listed:
        found = [ROOT / name for name in listed.split("\0") if name]
    else:
        folders = ("crawler", "evidence", "scoring", "publish", "workers", "tests", "bench", "infra", "docs")
        found = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    return tuple(path for path in found if path.suffix in TEXT and path.is_file())


def _decisions() -> list[Path]:
    return sorted(DECISIONS.glob("[0-9]*.md"))


def _words(path: Path) -> int:
    return len(path.read_text("utf-8").split())


def missing_citations(text: str, known: set[str]) -> list[str]:
    """The numbers of decisions that a text cites and that do not exist."""
    return [number for number in CITATION.findall(text) if number not in known]


def broken_links(page: Path, text: str) -> list[str]:
    """The relative links of a page that lead to no file."""
    targets = [unquote(link.split("#")[0]) for link in LINK.findall(text) if not re.match(r"[a-z]+:|#", link)]
    return [target for target in targets if not (page.parent / target).exists()]


def test_every_cited_decision_exists() -> None:
    known = {path.name[:4] for path in _decisions()}
    wrong = {
        path.relative_to(ROOT).as_posix(): missing
        for path in _tracked()
        if path != Path(__file__).resolve() and (missing := missing_citations(path.read_text(errors="replace"), known))
    }
    assert wrong == {}


def test_a_missing_decision_is_noticed() -> None:
    assert missing_citations("see docs/decisions/9999 and Decision 0001", {"0001"}) == ["9999"]


def test_a_decision_has_its_sections_and_at_most_450_words() -> None:
    for path in _decisions():
        text = path.read_text("utf-8")
        assert text.startswith(f"# {path.name[:4]} "), f"{path.name}: the title begins with the number"
        assert re.findall(r"(?m)^## (.+)$", text) == SECTIONS, path.name
        assert _words(path) <= WORDS_OF_A_DECISION, f"{path.name}: {_words(path)} words"


def test_the_index_lists_every_decision_with_its_title() -> None:
    titles = [path.read_text("utf-8").partition("\n")[0].removeprefix("# ") for path in _decisions()]
    expected = [
        f"| {title[:4]} | [{title[5:]}]({path.name}) |" for path, title in zip(_decisions(), titles, strict=True)
    ]
    index = (DECISIONS / "README.md").read_text("utf-8").splitlines()
    assert [line for line in index if re.match(r"\| \d", line)] == expected


def test_numbers_of_decisions_are_unique() -> None:
    numbers = [path.name[:4] for path in _decisions()]
    assert len(set(numbers)) == len(numbers)


def test_documents_stay_short_enough_to_be_read() -> None:
    pages = [path for path in DOCS.rglob("*.md") if DOCS / "rules" not in path.parents]
    assert sum(_words(path) for path in pages) <= WORDS_OF_ALL_DOCUMENTS
    assert sum(_words(path) for path in DECISIONS.glob("*.md")) <= WORDS_OF_ALL_DECISIONS


def test_links_between_documents_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    wrong = {
        page.relative_to(ROOT).as_posix(): broken for page in pages if (broken := broken_links(page, page.read_text()))
    }
    assert wrong == {}


def test_a_broken_link_is_noticed() -> None:
    assert broken_links(DOCS / "x.md", "[a](missing.md#b) [c](https://example.com) [d](#e)") == ["missing.md"]
